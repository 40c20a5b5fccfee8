"""What every checkpointing protocol promises, from inside the package or not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import engine
from engine.spec import validate
from engine.spec.base.family import kind_of
from engine.spec.experiment.checkpointing import CHECKPOINTINGS
from engine.spec.experiment.checkpointing.base import Checkpointing, Semantics
from engine.spec.experiment.checkpointing.checkpoints import Checkpoints
from engine.spec.experiment.metrics import OF_CHECKPOINTING

from .agreement import finished
from .family_contracts import assert_is_shown
from .recovery_examples import Document, counted, counting, example_of, loss, values, with_losses, with_protocol

FRAME_FIELDS = {"rounds", "skipped_s", "captured", "durable", "recoveries", "searches", "aligning", "logs", "useless"}
LOSS_S = 0.2
HORIZON_S = 0.3
LONG_S = 30.0
"""An interval longer than the run."""


def assert_protocol_contract(kind: type[Checkpointing], folder: Path) -> None:
    """Raises AssertionError with the first promise that is broken. folder: an empty one, for snapshots."""
    assert_is_shown(CHECKPOINTINGS, kind)
    if not issubclass(kind, Checkpoints):
        assert_records_count_as_promised({"kind": kind_of(kind)})
        return
    example = example_of(kind)
    assert_refused_in_words(example(interval_s=LONG_S))
    for semantics in get_args(Semantics) if "semantics" in kind.model_fields else [None]:
        assert_records_count_as_promised(example(**({} if semantics is None else {"semantics": semantics})))
    assert_frames_tell_of_a_loss(example())
    assert_a_snapshot_goes_on(example(), folder)


def job_of(protocol: Document) -> Document:
    return counting(HORIZON_S, protocol=protocol)


def with_a_loss(protocol: Document) -> Document:
    return with_losses(job_of(protocol), [loss("w2", LOSS_S)])


def assert_refused_in_words(protocol: Document) -> None:
    """An interval longer than the run is refused at its field, with the value, and with what to do."""
    found = {problem.pointer: problem for problem in validate(job_of(protocol))}
    problem = found["/policies/checkpointing/interval_s"]
    assert problem.code == "outside_run"
    for words in (f"{LONG_S:g}", "horizon", "choose"):
        assert words in problem.message


def assert_records_count_as_promised(protocol: Document) -> None:
    promise = CHECKPOINTINGS.adapter.validate_python(protocol).promise
    records = counted(values(finished(with_protocol(job_of(protocol), {"kind": "none"}))))
    simulation = finished(with_a_loss(protocol))
    assert simulation.drained
    found = counted(values(simulation))
    assert records > 1000
    match promise:
        case "exactly_once":
            assert found == records, protocol
        case "at_least_once":
            assert found >= records, protocol
        case "at_most_once":
            assert found <= records, protocol


def assert_frames_tell_of_a_loss(protocol: Document) -> None:
    simulation = engine.Simulation(with_a_loss(protocol))
    told: list[Mapping[str, Any]] = []
    while (frame := simulation.advance()) is not None:
        told.append(frame["checkpoints"])
    assert all(one.keys() >= FRAME_FIELDS for one in told)
    assert sum(len(one["durable"]) for one in told) > 0
    recoveries = [recovery for one in told for recovery in one["recoveries"]]
    assert {recovery["epoch"] for recovery in recoveries} == {1}
    assert recoveries[-1]["hosts"] == ["w2"]
    assert recoveries[-1]["go_s"] > LOSS_S
    summary = simulation.summary()["checkpointing"]
    assert list(summary) == list(OF_CHECKPOINTING)
    assert summary["recoveries"] == 1


def assert_a_snapshot_goes_on(protocol: Document, folder: Path) -> None:
    """Within a recovery, and behind it: what coordinator and workers remember is in the snapshot."""
    document = with_a_loss(protocol)
    whole = finished(document, trace=False)
    for n, at_s in enumerate((LOSS_S + 0.0025, LOSS_S + 0.05)):
        run = engine.Simulation(document)
        run.run_until(round(at_s * 1e9))
        run.save(folder / f"{n}")
        resumed = engine.Simulation.resume(document, folder / f"{n}")
        resumed.run_until(resumed.end_ns)
        assert resumed.digest() == whole.digest()
        assert resumed.checkpointing == whole.checkpointing
