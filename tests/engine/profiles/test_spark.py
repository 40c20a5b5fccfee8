"""Spark's profile (specification of the benchmark, B2 and section 9, 7).

What this catches: results between the ends of jobs; a stage that begins before the one before it has ended; jobs side by side; a batch
that does not wait for its slowest task; records that are repartitioned one by one; sources that nothing limits; windows of event time.
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

from ...support.agreement import DATASETS, assert_agreement, cut_saved_and_forked, fingerprint, frames_of, traced
from ...support.engine_examples import windowed_sum
from ...support.job_twins import StreamingTwin
from ...support.strategies import documents
from ...support.tiers import tier

MS = 1_000_000


def agreed(document: dict[str, Any]) -> tuple[StreamingTwin, engine.Simulation]:
    twin, simulation = StreamingTwin(document), traced(document)
    expected = simulate(Experiment.model_validate(document), DATASETS, orders=twin.orders, chooser=twin.choose)
    assert_agreement(document, simulation, expected)
    end_ns = simulation.now_ns
    told = [(job.batch_ns, job.records, job.start_ns, job.ends_ns) for job in master(simulation).jobs]
    known = [(due, [*records.values()], -1 if start is None else start, ends) for due, records, start, ends in twin.jobs if due <= end_ns]
    if len(known) and len(known[0][1]) == 1:  # else their order is that of names there
        assert told == known
    return twin, simulation


def master(simulation: engine.Simulation) -> Any:
    return simulation._engine[0]


def of_batches(document: dict[str, Any], batch_ms: int, **fields: Any) -> dict[str, Any]:
    """A random document under Spark, with windows of whole batches."""
    document = copy.deepcopy(document)
    document.pop("prices", None)
    for operator in document["query"]["operators"]:
        window = operator.get("params", {}).get("window")
        for name in ("size_s", "slide_s", "origin_s") if isinstance(window, dict) else ():
            if name in window:
                window[name] = round(window[name] * 1000 / batch_ms) * batch_ms / 1000 if name != "size_s" else 2 * batch_ms / 1000
        if isinstance(window, dict) and "slide_s" in window:
            window["slide_s"] = min(max(window["slide_s"], batch_ms / 1000), window["size_s"])
    for edge in document["query"]["edges"]:
        edge.pop("capacity", None)
    timed = {"stage_ms": 0.3, "task_ms": 0.1, "driver": {"egress_latency_ms": 0.5}}
    document["policies"] = {"engine": {"kind": "spark", "batch_s": batch_ms / 1000} | timed | fields}
    return document


@pytest.mark.slow
@settings(max_examples=tier(ci=25, all=200), suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(document=documents(), batch_ms=st.sampled_from((2, 5, 20)), status_ms=st.sampled_from((0.5, 1)))
def test_random_experiments_under_spark_agree_with_the_oracle(document: dict[str, Any], batch_ms: int, status_ms: float) -> None:
    document = of_batches(document, batch_ms, status_ms=status_ms)
    assume(not validate(document))
    agreed(document)


@pytest.mark.slow
@settings(max_examples=5, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(document=documents(), batch_ms=st.sampled_from((2, 20)), blocks=st.sampled_from((1, 2)))
def test_random_experiments_with_blocks_agree_with_the_oracle(document: dict[str, Any], batch_ms: int, blocks: int) -> None:
    document = of_batches(document, batch_ms, status_ms=1, block_ms=batch_ms / blocks)
    assume(not validate(document))
    agreed(document)


def summing(per_s: float = 3_000, **fields: Any) -> dict[str, Any]:
    """Sums of windows of 2 s every second, by jobs of batches of a second: four tasks in each of two stages."""
    document = windowed_sum(per_s, sources=4, slots=4, horizon_s=8.5, size_s=2.0, slide_s=1.0, engine="spark", scale=1)
    document["cluster"]["hosts"][0]["cores"] = 6
    document["workload"] |= {"drain": True}
    document["policies"]["engine"] |= {"batch_s": 1, "task_ms": 2} | fields
    return document


@functools.cache
def summed() -> engine.Simulation:
    return traced(summing())


def operators(simulation: engine.Simulation) -> list[str]:
    return [spec.id for spec in under_engine(simulation.experiment).query.operators]


def services(simulation: engine.Simulation, *ids: str) -> list[list[int]]:
    """Start, end and kind of all services of these operators."""
    of = [(spec.id, k) for spec in under_engine(simulation.experiment).query.operators for k in range(spec.parallelism)]
    return [row[1:] for row in simulation.service_trace().tolist() if of[row[0]][0] in ids]


def test_a_query_becomes_stages_of_tasks() -> None:
    made = under_engine(Experiment.model_validate(summing())).query
    kinds = [(spec.id, spec.kind, spec.parallelism) for spec in made.operators]
    assert kinds == [
        ("purchases", "source", 2),
        ("purchases-receiver", "block_receiver", 2),
        ("purchases-read", "union", 4),
        ("sum-combine", "aggregate", 4),
        ("sum", "aggregate", 4),
        ("sink", "sink", 1),
    ]
    ways = {(edge.source, edge.target): edge.partitioning.kind for edge in made.edges}
    assert ways["purchases-receiver", "purchases-read"] == "rescale"
    assert ways["purchases-read", "sum-combine"] == "forward"
    assert ways["sum-combine", "sum"] == "hash"


def test_each_block_is_read_by_a_task_of_its_own() -> None:
    """On any host, with the operators that its tasks execute, too. The stages behind keep theirs."""
    document = summing(300, block_ms=250)
    plain = {"id": "priced", "kind": "map", "parallelism": 4, "params": {"fields": [{"name": name} for name in ("gem_pack", "price")]}}
    for field in plain["params"]["fields"]:
        field["expression"] = field["name"]
    document["query"]["operators"].insert(1, plain)
    document["query"]["edges"][0]["source"] = "priced"
    document["query"]["edges"].append({"source": "purchases", "target": "priced"})
    made = under_engine(Experiment.model_validate(document))
    tasks = {spec.id: spec.parallelism for spec in made.query.operators}
    assert tasks == {"purchases": 2, "purchases-receiver": 2, "purchases-read": 8, "priced": 8, "sum-combine": 8, "sum": 4, "sink": 1}
    assert {id: made.placement.hosts[id] for id in ("purchases-read", "priced", "sum-combine")} == dict.fromkeys(
        ("purchases-read", "priced", "sum-combine"), ("w1", "w2")
    )
    twin, simulation = agreed(document)
    assert len(twin.stages[0]) == 3 * 8
    rows = {tuple(record["values"]) for record in simulation.sink_records("sink")}
    assert rows == {tuple(record["values"]) for record in traced(summing(300)).sink_records("sink")}
    assert all(ends_ns[0] - start_ns > (50 + 8 * 2) * MS for _, _, start_ns, ends_ns in twin.jobs), "tasks start one after the other"


def test_jobs_agree_with_the_oracle() -> None:
    twin, simulation = agreed(summing(300))
    assert len(twin.jobs) > 8
    assert simulation.drained


def test_a_stage_begins_when_all_tasks_of_the_one_before_it_have_ended() -> None:
    """And a job when the one before it has ended. No result leaves at another time than in the last stage of a job."""
    jobs, trace = master(summed()).jobs, services(summed(), "sum")
    first = services(summed(), "purchases-read", "sum-combine")
    assert len(jobs) > 8
    for before, job in itertools.pairwise(jobs):
        assert job.start_ns >= max(before.ends_ns[1], job.batch_ns)
    for job in jobs:
        begun_ns, mapped_ns, ended_ns = job.start_ns + 50 * MS, *job.ends_ns
        assert all(end < mapped_ns for start, end, _ in first if begun_ns <= start < ended_ns)
        inside = [start for start, end, _ in trace if job.start_ns <= start < ended_ns]
        assert inside, "each job has both stages"
        assert min(inside) >= mapped_ns + 50 * MS
    told = [record["end_ns"] for record in summed().sink_records("sink")]
    lasts = [(job.ends_ns[0], job.ends_ns[1]) for job in jobs]
    assert told
    assert all(any(mapped <= at <= ended + MS for mapped, ended in lasts) for at in told)


def test_windows_hold_what_was_received_in_their_batches() -> None:
    """Each price is in two windows, and all windows end with the input."""
    rows = [record["values"] for record in summed().sink_records("sink")]
    plain = engine.Simulation(summing() | {"policies": {}, "prices": "spark_2020"}, keep_outputs=True)
    plain.run_until(plain.end_ns)
    assert sum(row[3] for row in rows) == sum(record["values"][3] for record in plain.sink_records("sink"))
    assert {row[2] - row[1] for row in rows} == {2_000 * MS}
    assert {row[2] % (1_000 * MS) for row in rows} == {0}
    assert len({row[:3] for row in rows}) == len(rows), "one result for each key and window"


def test_records_are_combined_before_they_are_repartitioned() -> None:
    counts = summed().summary()["operators"]
    jobs = len(master(summed()).jobs)
    assert counts["sum"]["in"] <= 64 * 4 * 2 * jobs, "a row of each key, task and window"
    assert counts["sum"]["in"] < counts["sum-combine"]["in"] / 4
    averages = summing()
    averages["query"]["operators"][1]["params"]["aggregates"] = [{"name": "mean", "function": "avg", "field": "price"}]
    assert "sum-combine" not in operators(engine.Simulation(averages))


def test_the_slowest_task_delays_the_whole_batch() -> None:
    slow = summing() | {"faults": [{"kind": "slow_host", "host": "w2", "when": {"kind": "at", "at_s": 3}, "for_ms": 2000, "factor": 0.25}]}
    simulation = traced(slow)
    usual, late = master(summed()).jobs[3], master(simulation).jobs[3]
    assert late.ends_ns[0] - late.start_ns > 1.5 * (usual.ends_ns[0] - usual.start_ns)
    here = [start for start, _, _ in services(simulation, "sum") if start > late.start_ns]
    assert min(here) > late.ends_ns[0], "reduce tasks of the fast host wait, too"


def test_sources_are_limited_to_what_the_last_job_managed() -> None:
    """Beyond its capacity it takes in all that is offered at first. Then batches are no larger than jobs can serve."""
    document = summing(60_000, batch_s=1)
    document["workload"] |= {"drain": False, "horizon_s": 14}
    simulation = engine.Simulation(document)
    simulation.run_until(simulation.end_ns)
    jobs = [job for job in master(simulation).jobs if len(job.ends_ns) == 2]
    assert sum(jobs[0].records) == pytest.approx(60_000, rel=0.02)
    assert sum(jobs[-1].records) < 0.9 * 60_000
    took_ns, late_ns = jobs[-1].ends_ns[-1] - jobs[-1].start_ns, jobs[-1].start_ns - jobs[-1].batch_ns
    per_s = sum(jobs[-1].records) * 10**9 / took_ns
    assert master(simulation).limits == [pytest.approx(per_s - per_s * late_ns / 5e9, rel=0.001)]
    free = engine.Simulation(document | {"policies": {"engine": document["policies"]["engine"] | {"limited": False}}})
    free.run_until(free.end_ns)
    assert sum(master(free).jobs[-1].records) > 0.98 * 60_000
    assert summary_of(free)["scheduling_delay_s"] > 2 * summary_of(simulation)["scheduling_delay_s"]


def summary_of(simulation: engine.Simulation) -> dict[str, Any]:
    found: dict[str, Any] = simulation.summary()["engine"]
    return found


def test_frames_tell_jobs_and_summaries_their_means() -> None:
    simulation = engine.Simulation(summing())
    told = {job["due_s"]: job for frame in frames_of(simulation) for job in frame["engine"]["jobs"]}
    jobs = master(simulation).jobs
    assert [told[due]["ends_s"] for due in sorted(told)] == [[end / 1e9 for end in job.ends_ns] for job in jobs]
    assert [told[due]["records"] for due in sorted(told)] == [sum(job.records) for job in jobs]
    took_s = sum(job.ends_ns[-1] - job.start_ns for job in jobs) / len(jobs) / 1e9
    assert summary_of(simulation)["job_s"] == pytest.approx(took_s, rel=1e-5)
    assert summary_of(simulation)["waiting"] == 0


def test_runs_are_the_same_however_they_are_cut() -> None:
    assert fingerprint(cut_saved_and_forked(summing(), 770 * MS)) == fingerprint(traced(summing()))


def test_a_receiver_in_batches_works_without_an_engine() -> None:
    """It marks the time until its source has ended, also after its host was lost, and has a thread beside the only core of a pool."""
    document = summing()
    document["policies"] = {}
    document["cluster"]["hosts"][0] |= {"cores": 1}
    document["workload"]["sources"]["purchases"]["rate"] = {"kind": "constant", "per_s": 500}
    first, *rest = document["query"]["operators"]
    taken = {"id": "taken", "kind": "block_receiver", "parallelism": 4, "params": {"batch_s": 0.4}}
    document["query"]["operators"] = [first, taken, *rest]
    document["query"]["edges"][0]["source"] = "taken"
    document["query"]["edges"].append({"source": "purchases", "target": "taken"})
    found = assert_agreement(document)
    assert found.drained
    taken["cost"] = {"record_us": 9000}  # so records wait when a batch ends, and belong to it all the same
    assert_agreement(document)
    del taken["cost"]
    lost = {"kind": "host_loss", "host": "w2", "when": {"kind": "at", "at_s": 3.1}, "restart_after_s": 0.55}
    assert_agreement(document | {"faults": [lost]})
