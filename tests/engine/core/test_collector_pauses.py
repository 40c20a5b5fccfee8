"""Collections that stop a host where memory is short: each is a pause of the host, and as long as the memory in use says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import engine
from engine.core import layout as L
from engine.spec.experiment.memory import Budget, CollectorPauses
from engine.spec.rules.validation import Context, validate

from ...support.agreement import DATASETS, MS, finished, frames_of, simulated
from ...support.keyed_state_examples import moving_document

Document = dict[str, Any]
BUDGET_BYTES = 6_000
PAUSES = {"above": 0.5, "every_s": 0.01, "full_ms": 4}


def document(processor: str = "pool", **memory: Any) -> Document:
    """Records wait on one host, since services take long."""
    made = moving_document("aggregate, sliding", processor)
    made["workload"]["horizon_s"] = 0.2
    del made["workload"]["drain"]
    made["measurement"]["frame_ms"] = 10
    host = made["cluster"]["hosts"][0]
    del host["count"]
    host |= {"cores": 32 if processor == "dedicated" else 1}
    host["memory"] = {"kind": "budget", "budget_mb": BUDGET_BYTES / 1e6, "on_full": "nothing", **memory}
    for operator in made["query"]["operators"]:
        if operator["id"] == "kept":
            operator["cost"] = {"record_us": 300}
    return made


def pauses_of(made: Document) -> list[tuple[int, int]]:
    """When each begins, and its length, as looked up in a run that is cut at the ends of periods."""
    simulation = simulated(made, trace=False)
    about, found = CollectorPauses(**PAUSES), []
    for at_ns in range(about.every_ns, simulation.end_ns, about.every_ns):
        simulation.run_until(at_ns)
        used = int(simulation._world.arrays.memory[0, L.Z_USED])
        if span_ns := about.span_ns(used * 1_000_000 // BUDGET_BYTES):
            found.append((at_ns, span_ns))
        if simulation.finished:
            break
    return found


@pytest.mark.slow
@pytest.mark.parametrize("processor", ["pool", "dedicated", "shared_fifo", "processor_sharing"])
def test_a_collection_is_a_pause_of_the_host(processor: str) -> None:
    """The run with collections is the one with faults at the same moments, of the same length."""
    made = document(processor, pauses=PAUSES)
    found = pauses_of(made)
    assert len(found) >= 3
    assert len({span_ns for _, span_ns in found}) >= 2, "the fuller, the longer"
    faults = [
        {"kind": "pause", "host": "w", "when": {"kind": "at", "at_s": at_ns / 1e9}, "for_ms": span_ns / 1e6} for at_ns, span_ns in found
    ]
    assert frames_of(simulated(made)) == frames_of(simulated(document(processor) | {"faults": faults}))


def test_the_length_follows_from_the_share() -> None:
    about = CollectorPauses(above=0.9, full_ms=500)
    assert [about.span_ns(ppm) for ppm in (0, 900_000, 950_000, 1_000_000, 1_700_000)] == [0, 0, 250 * MS, 500 * MS, 500 * MS]


def test_where_memory_is_not_short_nothing_changes() -> None:
    roomy = {"budget_mb": 50.0}
    with_pauses, without = (frames_of(simulated(document(**roomy, **more))) for more in ({"pauses": PAUSES}, {}))
    assert with_pauses == without


def test_pauses_lengthen_latency_and_lose_nothing() -> None:
    made = [document(**more) for more in ({"pauses": PAUSES}, {})]
    for one in made:
        one["workload"] |= {"drain": True, "drain_limit_s": 20}
    paused, plain = map(finished, made)
    assert paused.drained
    assert paused.summary()["records_in"] == plain.summary()["records_in"]
    assert paused.summary()["latency_ms"]["mean"] > plain.summary()["latency_ms"]["mean"]


@pytest.mark.slow
def test_saved_and_forked_between_pauses(tmp_path: Path) -> None:
    made = document(pauses=PAUSES)
    whole = finished(made)
    for at_ms in (13, 40, 61):
        cut = simulated(made, trace=False)
        cut.run_until(at_ms * MS)
        cut.save(tmp_path / "saved")
        resumed = engine.Simulation.resume(made, tmp_path / "saved", datasets=DATASETS, keep_outputs=True)
        for simulation in (cut.fork(), resumed, cut):
            simulation.run_until(simulation.end_ns)
            assert simulation.digest() == whole.digest()


def test_documents_without_pauses_keep_their_hashes() -> None:
    assert "pauses" not in Budget().model_dump(mode="json")


@pytest.mark.parametrize(
    ("pauses", "pointer"),
    [
        ({"above": 1.0}, "above"),
        ({"above": 0.9999999}, "above"),
        ({"every_s": 0}, "every_s"),
        ({"full_ms": 0}, "full_ms"),
        ({"every_s": 0.2}, "full_ms"),  # no shorter than a period
        ({"often": 1}, "often"),
    ],
)
def test_wrong_pauses_are_told_at_their_place(pauses: Document, pointer: str) -> None:
    found = validate(document(pauses=pauses), Context(datasets=DATASETS))
    assert [problem.pointer for problem in found] == [f"/cluster/hosts/0/memory/pauses/{pointer}"]
