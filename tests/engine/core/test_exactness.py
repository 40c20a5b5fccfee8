"""The fast engine and the oracle find the same run, to the nanosecond (docs/event-core.md).

Each random document is run by both; every service start and end, every delivered record with its values, event time, trigger and
latency, the late counts and the queues at the end have to be equal. What this catches: a wrong order of ties, a lost or early credit,
a service that starts before its record could be there, a pane that closes too soon, state that leaks from one window into the next.
What it cannot catch: a page that both read wrongly; `tests/oracle/test_oracle.py` works examples of the page by hand.
"""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.spec import Experiment
from tests.oracle import OracleResult, simulate
from tests.support.corner_cases import CORNER_CASES
from tests.support.network_cases import NETWORK_CASES
from tests.support.strategies import documents
from tests.support.tiers import spread

from ...support.agreement import DATASETS, TEMPLATES, TINY, assert_agreement, template, traced, with_params


@functools.lru_cache(maxsize=16)
def oracle_of(document: str) -> OracleResult:
    """What the oracle finds. Hypothesis draws a document again when it varies something else."""
    return simulate(Experiment.model_validate_json(document), DATASETS)


@given(document=documents(), tiny=st.booleans())
def test_random_experiments_agree(document: dict[str, Any], tiny: bool) -> None:
    assert_agreement(document, traced(document, capacity=TINY) if tiny else None, oracle_of(json.dumps(document)))


@pytest.mark.slow
@pytest.mark.parametrize("case", CORNER_CASES + NETWORK_CASES, ids=lambda case: case.__name__)
def test_corner_cases_agree(case: Callable[[], dict[str, Any]]) -> None:
    document = case()
    expected = assert_agreement(document)
    assert len(expected.services) > 100
    assert_agreement(document, traced(document, capacity=TINY), expected)


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_agree_over_a_short_horizon(name: str) -> None:
    expected = assert_agreement(template(name, horizon_s=3.0 if name == "flights" else 0.1))
    assert len(expected.services) > 3000


@pytest.mark.slow
def test_windows_of_templates_agree_in_short() -> None:
    """NexMark Q5 and Q11 with windows of hundredths of a second, over channels that fill, drained."""
    window = {"kind": "tumbling", "size_s": 0.01, "clock": "event"}
    counts = {"kind": "sliding", "size_s": 0.05, "slide_s": 0.01, "clock": "event"}
    q5 = with_params(template("nexmark_q5", horizon_s=0.15, drain=True), "counts", window=counts)
    for operator in ("most", "meet"):
        q5 = with_params(q5, operator, window=window)
    q11 = with_params(template("nexmark_q11", horizon_s=0.15, drain=True), "sessions", gap_s=0.01, every=3)
    for document in (q5, q11):
        for source in document["workload"]["sources"].values():
            source |= {"watermarks": {"kind": "bounded", "lag_ms": 0, "period_ms": 3}}
        document["policies"]["flow_control"] = {"kind": "credits", "per_channel": 4}
        expected = assert_agreement(document)
        assert expected.drained
        assert len(expected.outputs["sink"]) > 10


FLOW_CONTROLS = ({"kind": "unbounded"}, {"kind": "credits", "per_channel": 1}, {"kind": "credits", "per_channel": 32})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "flow_control"),
    spread([(name, control) for name in TEMPLATES for control in FLOW_CONTROLS], ci=10),
    ids=lambda part: part if isinstance(part, str) else str(part.get("per_channel", "unbounded")),
)
def test_templates_agree_under_overload(name: str, flow_control: dict[str, Any]) -> None:
    """Hosts a fiftieth as fast as the price list's, channels that fill, many windows, and a drain that empties everything."""
    document = template(name, horizon_s=1.5 if name == "flights" else 0.05, drain=True)
    for host in document["cluster"]["hosts"]:
        host |= {"speed": 0.02, "egress_mbit_per_s": 20}
    document["policies"]["flow_control"] = flow_control
    if name in ("nexmark_q8", "nexmark_q12"):
        window = {"kind": "tumbling", "size_s": 0.02, "origin_s": 0.005, "clock": "processing"}
        document = with_params(document, "join" if name == "nexmark_q8" else "count", window=window)
    expected = assert_agreement(document)
    assert expected.drained
    assert flow_control["kind"] == "unbounded" or expected.blocked_count > 0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parallelism"), spread([(name, wide) for wide in (33, 8) for name in TEMPLATES], ci=5, first=1))
def test_templates_agree_on_wide_and_uneven_clusters(name: str, parallelism: int) -> None:
    """More instances than hosts; hosts of unequal speed, cores, links and latencies; skewed keys, disorder; half of the runs drain."""
    chance = random.Random(f"{name} {parallelism}")
    document = template(name, horizon_s=2.0 if name == "flights" else 0.05, drain=parallelism == 8)
    for operator in document["query"]["operators"]:
        operator["parallelism"] = parallelism
    document["cluster"]["hosts"] = [
        {
            "name": f"h{number}",
            "processor": {"kind": "shared_fifo"},
            "cores": chance.choice((1, 2, 4)),
            "speed": chance.choice((0.05, 0.3, 1.0, 2.5)),
            "egress_mbit_per_s": chance.choice((50, 1000)),
            "egress_latency_ms": chance.choice((0.02, 0.5, 1.7)),
        }
        for number in range(chance.choice((3, 7, 17)))
    ]
    document["policies"]["flow_control"] = chance.choice(FLOW_CONTROLS)
    for source in document["workload"]["sources"].values():
        if source["stream"]["kind"] != "file":
            source["stream"]["hot_ratio"] = 0.3
            source |= {"disorder": {"kind": "uniform", "max_ms": 5}, "watermarks": {"kind": "bounded", "lag_ms": 1, "period_ms": 2.5}}
    assert len(assert_agreement(document).services) > 1000


BENCHMARKS = ("yahoo", "linear_road", "taxi_rides", "smart_grid_global", "smart_grid_local", "advertisement", "spike_detection")


@pytest.mark.slow
@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmarks_agree_over_a_short_horizon(name: str) -> None:
    assert len(assert_agreement(template(name, horizon_s=0.08, drain=True)).services) > 800


@pytest.mark.parametrize("kind", ["aggregate", "session_aggregate", "count_window_aggregate"])
def test_averages_of_great_ints_do_not_wrap(kind: str) -> None:
    document = template("nexmark_q12", horizon_s=0.05, drain=True)
    counts = next(operator for operator in document["query"]["operators"] if operator["id"] == "count")
    own = {
        "aggregate": {"window": {"kind": "none"}},
        "session_aggregate": {"gap_s": 0.001, "every": 1},
        "count_window_aggregate": {"size": 9},
    }
    fields = [{"name": "bidder", "expression": "bidder % 7"}, {"name": "great", "expression": "9000000000000000000 + price"}]
    great = {"id": "great", "kind": "map", "parallelism": 4, "params": {"fields": fields}}
    counts |= {"kind": kind, "params": {"key": "bidder", "aggregates": [{"name": "mean", "function": "avg", "field": "great"}]} | own[kind]}
    document["query"]["operators"].insert(1, great)
    document["query"]["edges"][0]["target"] = "great"
    document["query"]["edges"].append({"source": "great", "target": "count", "partitioning": {"kind": "hash", "key": "bidder"}})
    document["query"]["edges"][0]["partitioning"] = {"kind": "forward"}
    simulation = traced(document)
    assert_agreement(document, simulation)
    means = simulation.outputs("sink")["mean"].to_pylist()
    assert len(means) > 20
    assert min(means) >= 9e18
