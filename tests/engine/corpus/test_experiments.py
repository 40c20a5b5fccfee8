"""Traces become experiments that are valid, can be run, and hold what was drawn."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import engine
from engine.corpus.experiments import experiment
from engine.corpus.traces import Trace, trace
from engine.costmodels.description import Aggregate, Filter, Join, Source, WindowedAggregate
from engine.spec import load
from engine.spec.rules.validation import schemas

from ...support.tiers import tier

TRACES = [trace("tests", 1, index) for index in range(tier(ci=60, all=1000))]


def document(of: Trace) -> dict[str, Any]:
    return experiment(of, seed=3, horizon_s=5)


def test_every_trace_is_a_valid_experiment_with_its_operators_hosts_and_placement() -> None:
    kinds = {Source: ("source",), Filter: ("filter",), Join: ("window_join",), Aggregate: ("aggregate",)}
    for of in TRACES:
        made = load(document(of))
        assert len(made.query.operators) == len(of.query.operators)
        for spec, drawn in zip(made.query.operators, of.query.operators, strict=True):
            expected = (
                ("aggregate", "count_window_aggregate") if isinstance(drawn, WindowedAggregate) else kinds.get(type(drawn), ("sink",))
            )
            assert spec.kind in expected
        hosts = [host.name for host in made.cluster.hosts]
        placed = document(of)["placement"]["hosts"]
        assert [hosts.index(placed[spec.id][0]) for spec in made.query.operators] == list(of.placed)


def test_records_have_the_values_that_were_drawn_and_three_that_every_stream_has() -> None:
    for of in TRACES[:30]:
        made = load(document(of))
        fields = schemas(made)
        for spec, drawn in zip(made.query.operators, of.query.operators, strict=True):
            if isinstance(drawn, Source):
                types = Counter(field.type for field in fields[f"{spec.id}.out"].fields)
                assert types == {"int": drawn.ints + 2, "float": drawn.doubles, "string": drawn.strings, "timestamp": 1}


def test_a_join_sends_all_fields_of_both_inputs_even_to_an_aggregate() -> None:
    joined = [of for of in TRACES if any(isinstance(operator, Join) for operator in of.query.operators)]
    summed = 0
    for of in joined:
        made = load(document(of))
        fields = schemas(made)
        for spec in made.query.operators:
            if spec.kind == "window_join":
                widths = [len(fields[f"{spec.id}.{port}"].fields) for port in ("left", "right")]
                last = "last_of_firing" in fields[f"{spec.id}.out"].names
                summed += last
                assert len(fields[f"{spec.id}.out"].fields) == sum(widths) + last
    assert summed > len(joined) // 4


def test_hosts_have_what_was_drawn() -> None:
    for of in TRACES[:30]:
        for host, drawn in zip(load(document(of)).cluster.hosts, of.hosts, strict=True):
            quota = getattr(host.processor, "quota_cores", None)
            assert (host.cores if quota is None else quota) * 100 == pytest.approx(drawn.cpu_percent)
            assert (host.memory_mb, host.egress_mbit_per_s, host.egress_latency_ms) == (drawn.ram_mb, drawn.mbit_per_s, drawn.latency_ms)


@pytest.mark.slow
def test_traces_run_and_deliver() -> None:
    """The slow ones of them are left out here: half a second of a few records is enough for windows of up to that."""
    served = delivered = 0
    for of in TRACES[:12]:
        result = engine.run(experiment(of, seed=3, horizon_s=0.5))
        served += sum(counts["in"] for counts in result.summary["operators"].values())
        delivered += result.summary["operators"]["sink"]["in"] > 0
    assert served > 1000
    assert delivered > 3
