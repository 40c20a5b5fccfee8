"""Structured Streaming's profile.

What this catches: records of the next micro-batch in this one; watermarks of this micro-batch in place of the one before; results that can
be read before the commit; a micro-batch without anything to do; jobs side by side.
"""

from __future__ import annotations

import copy
import functools
import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import engine
from engine.profiles import under_engine
from engine.spec import Experiment, validate
from tests.oracle import simulate

from ...support.agreement import DATASETS, assert_agreement, traced
from ...support.engine_examples import windowed_sum
from ...support.job_twins import MicroBatchTwin
from ...support.strategies import documents
from ...support.tiers import tier

MS = 1_000_000
PER_S = 300


def agreed(document: dict[str, Any]) -> tuple[MicroBatchTwin, engine.Simulation]:
    twin, simulation = MicroBatchTwin(document), traced(document)
    expected = simulate(Experiment.model_validate(document), DATASETS, orders=twin.orders, chooser=twin.choose)
    assert_agreement(document, simulation, expected)
    end_ns = simulation.now_ns
    told = [(job.batch_ns, sum(job.records), job.start_ns, job.ends_ns) for job in driver(simulation).jobs]
    assert told == [(due, sum(records.values()), start, ends) for due, records, start, ends in twin.jobs if due <= end_ns]
    return twin, simulation


def driver(simulation: engine.Simulation) -> Any:
    return simulation._engine[0]


def structured(document: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A random document under Structured Streaming."""
    document = copy.deepcopy(document)
    document.pop("prices", None)
    for edge in document["query"]["edges"]:
        edge.pop("capacity", None)
    for operator in document["query"]["operators"]:
        if operator["kind"] == "aggregate" and isinstance(operator.get("params", {}).get("window"), dict):
            operator["params"]["emit"] = "on_close"
    for source in document["workload"]["sources"].values():
        if source.get("watermarks", {}).get("kind") == "device":
            source["watermarks"]["kind"] = "bounded"
    timed = {"plan_ms": 0.4, "stage_ms": 0.3, "task_ms": 0.1, "commit_ms": 0.5, "status_ms": 1}
    document["policies"] = {"engine": {"kind": "spark_structured"} | timed | fields}
    return document


@pytest.mark.slow
@settings(max_examples=tier(ci=25, all=200), suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(document=documents(), trigger_ms=st.sampled_from((0, 3)), most=st.sampled_from((None, 7, 300)))
def test_random_experiments_under_structured_streaming_agree_with_the_oracle(
    document: dict[str, Any], trigger_ms: int, most: int | None
) -> None:
    document = structured(document, trigger_s=trigger_ms / 1000, records_max=most)
    assume(not validate(document))
    agreed(document)


def summing(per_s: float = PER_S, **fields: Any) -> dict[str, Any]:
    """Sums of windows of 2 s every second: a reading task and four with state."""
    document = windowed_sum(per_s, hosts=1, sources=1, slots=4, horizon_s=6.5, size_s=2.0, slide_s=1.0, engine="spark_structured", scale=1)
    document["query"]["operators"][1]["cost"] = {"record_us": 1, "output_us": 5, "control_us": 20_000}
    document["cluster"]["hosts"][0]["cores"] = 4
    document["workload"] |= {"drain": True}
    document["workload"]["sources"]["purchases"]["watermarks"] = {"kind": "bounded", "lag_ms": 100}
    document["policies"]["engine"] |= {"plan_ms": 100, "stage_ms": 10, "task_ms": 2, "commit_ms": 50} | fields
    return document


@functools.cache
def summed() -> tuple[MicroBatchTwin, engine.Simulation]:
    return agreed(summing())


def services(simulation: engine.Simulation, *ids: str) -> list[list[int]]:
    """Start, end and kind of all services of these operators."""
    of = [(spec.id, k) for spec in under_engine(simulation.experiment).query.operators for k in range(spec.parallelism)]
    return [row[1:] for row in simulation.service_trace().tolist() if of[row[0]][0] in ids]


def test_a_record_is_put_into_its_group_by_the_task_that_reads_it() -> None:
    """At the price of the aggregate, which then has the groups: their results, and the commit of its state."""
    made = under_engine(Experiment.model_validate(summing())).query
    parts = [(spec.id, spec.kind, spec.parallelism) for spec in made.operators]
    assert parts == [("purchases", "source", 1), ("sum-combine", "union", 1), ("sum", "aggregate", 4), ("sink", "sink", 1)]
    prices = {spec.id: (spec.cost.record_us, spec.cost.output_us, spec.cost.control_us) for spec in made.operators if spec.cost}
    assert prices == {"sum-combine": (1, 0, 0), "sum": (0, 5, 20_000)}
    ways = {(edge.source, edge.target): edge.partitioning.kind for edge in made.edges}
    assert ways == {("purchases", "sum-combine"): "forward", ("sum-combine", "sum"): "hash", ("sum", "sink"): "rebalance"}


def test_a_micro_batch_has_what_came_to_the_log_before_its_trigger() -> None:
    """One is triggered when the one before it is committed, and no record of the next one is read."""
    _, simulation = summed()
    jobs = driver(simulation).jobs
    assert len(jobs) > 20
    assert sum(sum(job.records) for job in jobs) == simulation.summary()["records_in"]
    for before, job in itertools.pairwise(jobs):
        assert job.batch_ns == before.ends_ns[-1] + 1
    per_ns = PER_S / 1e9
    for before, job in itertools.pairwise(jobs[:-2]):
        assert abs(sum(job.records) - per_ns * (job.batch_ns - before.batch_ns)) <= 1
    read = services(simulation, "purchases")
    for job in jobs:
        assert all(job.start_ns + 112 * MS <= start <= job.ends_ns[0] for start, _, _ in read if job.batch_ns < start < job.ends_ns[-1])


def test_its_job_is_planned_its_stages_follow_one_another_and_results_come_with_the_commit() -> None:
    _, simulation = summed()
    for job in driver(simulation).jobs:
        read_ns, grouped_ns, committed_ns = job.ends_ns
        assert read_ns >= job.start_ns + (100 + 10 + 2) * MS
        assert grouped_ns >= read_ns + (10 + 4 * 2) * MS, "four tasks with state"
        assert committed_ns >= grouped_ns + 50 * MS
    committed = [(job.ends_ns[1] + 50 * MS, job.ends_ns[2]) for job in driver(simulation).jobs]
    told = [record["end_ns"] for record in simulation.sink_records("sink")]
    assert told
    assert all(any(first <= at <= last for first, last in committed) for at in told)


def test_a_window_ends_in_the_micro_batch_after_the_one_that_brought_its_watermark() -> None:
    """Spark computes watermarks between micro-batches: of what those before have read."""
    _, simulation = summed()
    jobs = driver(simulation).jobs
    ends_ns = {}
    for record in simulation.sink_records("sink"):
        ends_ns.setdefault(record["values"][2], record["end_ns"])
    per_ns = 1e9 / PER_S
    for window_ns in (2_000 * MS, 3_000 * MS, 4_000 * MS):
        passed = next(n for n, job in enumerate(jobs) if job.batch_ns - per_ns > window_ns + 100 * MS)
        assert jobs[passed].ends_ns[-1] < ends_ns[window_ns] <= jobs[passed + 1].ends_ns[-1]


def test_results_are_those_without_an_engine() -> None:
    _, simulation = summed()
    plain = engine.Simulation(summing() | {"policies": {}, "prices": "spark_structured"}, keep_outputs=True)
    plain.run_until(plain.end_ns)
    rows = [sorted(record["values"] for record in one.sink_records("sink")) for one in (simulation, plain)]
    assert rows[0] == rows[1]
    assert simulation.drained


def test_a_trigger_interval_makes_larger_micro_batches() -> None:
    """Each is triggered at a multiple of the interval, the next one at once if the one before it took longer."""
    _, simulation = agreed(summing(trigger_s=0.5))
    jobs = driver(simulation).jobs
    assert [job.batch_ns for job in jobs] == [10 * MS, *(500 * MS * n for n in range(1, len(jobs)))]
    _, late = agreed(summing(trigger_s=0.15))
    assert all(job.batch_ns == before.ends_ns[-1] + 1 for before, job in itertools.pairwise(driver(late).jobs))


def test_a_watermark_that_has_risen_is_a_reason_for_a_micro_batch_without_records() -> None:
    """So that a window ends although nothing comes any more. A query without state has none."""
    document = summing(per_s=20)
    document["workload"]["sources"]["purchases"]["rate"] = {"kind": "steps", "steps": [{"at_s": 0, "per_s": 20}, {"at_s": 3, "per_s": 0}]}
    document["workload"]["drain"] = False
    _, simulation = agreed(document)
    empty = [job for job in driver(simulation).jobs if not sum(job.records)]
    assert empty
    stateless = copy.deepcopy(document)
    stateless["query"]["operators"] = [operator for operator in document["query"]["operators"] if operator["id"] != "sum"]
    stateless["query"]["edges"] = [{"source": "purchases", "target": "sink", "partitioning": {"kind": "rebalance"}}]
    _, without = agreed(stateless)
    assert driver(without).jobs
    assert all(sum(job.records) for job in driver(without).jobs)


def test_a_limit_leaves_the_rest_in_the_log() -> None:
    """For the next micro-batches, which are triggered at once."""
    _, simulation = agreed(summing(records_max=30))
    counts = [sum(job.records) for job in driver(simulation).jobs]
    assert max(counts) == 30
    assert sum(counts) == simulation.summary()["records_in"]
    assert len(counts) >= 6.5 * PER_S // 30


def test_a_query_that_starts_late_finds_a_backlog() -> None:
    _, simulation = agreed(summing(start_s=4, records_max=400))
    jobs = driver(simulation).jobs
    assert [(job.batch_ns, sum(job.records)) for job in jobs[:2]] == [(4_000 * MS, 1 + 400), (jobs[0].ends_ns[-1] + 1, 400)]
    assert sum(sum(job.records) for job in jobs) == simulation.summary()["records_in"]


def test_the_slowest_source_decides_about_the_watermark() -> None:
    document = summing()
    sources = document["workload"]["sources"]
    sources["others"] = sources["purchases"] | {"watermarks": {"kind": "bounded", "lag_ms": 1_500}}
    document["query"]["operators"].insert(1, {"id": "others", "kind": "source"})
    document["query"]["edges"].append({"source": "others", "target": "sum", "partitioning": {"kind": "hash", "key": "gem_pack"}})
    _, simulation = agreed(document)
    ends_ns = [record["end_ns"] for record in simulation.sink_records("sink") if record["values"][2] == 2_000 * MS]
    assert min(ends_ns) > 3_500 * MS
