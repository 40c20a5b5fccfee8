"""What frames and summary say of a protocol (docs/engine-api.md).

What this catches: something that is in no frame or in two of them, wherever frames and saved runs are cut; frames that say other than the
coordinator knows; a mean over the wrong rounds; frames of runs without a protocol that are not what they were.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.checkpointing import messages as M
from engine.core import layout as L
from engine.lessons import NotKnown, explained_recovery
from engine.spec.experiment import metrics
from engine.spec.rules.validation import load
from tests.support import corner_cases

from ...support.agreement import DATASETS, finished, frames_of, simulated
from ...support.recovery_examples import (
    circling,
    communication_induced,
    coordinated,
    counting,
    joining,
    loss,
    uncoordinated,
    with_losses,
    with_protocol,
)

Document = dict[str, Any]
FRAME_S = 0.007


def with_short_frames(document: Document, frame_s: float = FRAME_S, warmup_s: float = 0.0) -> Document:
    workload = document["workload"] | {"warmup_s": warmup_s}
    return document | {"workload": workload, "measurement": {**document.get("measurement", {}), "frame_ms": frame_s * 1000}}


def busy_example() -> Document:
    """A slow store, so that uploads last for many frames; losses that abort rounds, on one host and on two; ticks that are left out."""
    protocol = coordinated(store={"request_ms": 15.0}, interval_s=0.02, detect_ms=2)
    return with_short_frames(with_losses(counting(protocol=protocol), [loss("w1", 0.1305), loss("w2", 0.2), loss("w3", 0.215)]))


def test_everything_is_in_just_one_frame() -> None:
    simulation = simulated(busy_example(), trace=False)
    frames = frames_of(simulation)
    about = simulation.checkpointing
    assert about is not None
    told = [frame["checkpoints"] for frame in frames]

    rounds = {one["number"]: one for part in told for one in part["rounds"]}
    assert [
        (one["number"], one["epoch"], one["triggered_s"], one["ended"], one["ended_s"], one["hosts_done"], one["checkpoints"])
        for one in rounds.values()
    ] == [
        (
            opened["number"], opened["epoch"], opened["triggered_ns"] / 1e9, opened["ended"] or None,
            opened["ended_ns"] / 1e9 if opened["ended"] else None, len(opened["done"]), len(opened["taken"]),
        )
        for opened in about["rounds"]
    ]  # fmt: skip
    assert {one["ended"] for one in rounds.values()} >= {"confirmed", "aborted"}

    skipped_s = [at_s for part in told for at_s in part["skipped_s"]]
    assert skipped_s == [at_ns / 1e9 for at_ns in about["skipped_ns"]] != []

    durable = [one for part in told for one in part["durable"]]
    assert sorted((one["number"], one["captured_s"], one["durable_s"], one["bytes"]) for one in durable) == sorted(
        (row[M.NUMBER], row[M.CAPTURED_NS] / 1e9, row[M.DURABLE_NS] / 1e9, row[M.BYTES])
        for opened in about["rounds"]
        for row in opened["taken"]
    )
    assert len({(one["operator"], one["index"], one["number"]) for one in durable}) == len(durable)

    captured = [(one["operator"], one["index"], one["number"]) for part in told for one in part["captured"]]
    assert len(set(captured)) == len(captured) > 0
    for frame, part in zip(frames, told, strict=True):
        assert all(frame["t_s"] - FRAME_S < one["captured_s"] <= frame["t_s"] for one in part["captured"])

    recoveries = {one["epoch"]: one for part in told for one in part["recoveries"]}
    assert [(one["detected_s"], one["go_s"]) for one in recoveries.values()] == [
        (one["detected_ns"] / 1e9, one["go_ns"] / 1e9 if one["go_ns"] >= 0 else None) for one in about["recoveries"]
    ]
    assert recoveries[1]["hosts"] == ["w1"]
    assert set(recoveries[1]["ordered_s"]) == set(recoveries[1]["restored_s"]) == {"w1", "w2", "w3", "w4"}
    assert [number for numbers in recoveries[1]["line"].values() for number in numbers] == about["recoveries"][0]["line"]
    stages = [sum(any(one["epoch"] == 1 for one in part["recoveries"]) for part in told)]
    assert stages[0] > 1, "a recovery that lasts is told as it goes on"


@pytest.mark.parametrize("protocol", [uncoordinated, communication_induced])
def test_checkpoints_without_rounds_are_told_one_by_one(protocol: Callable[..., Document]) -> None:
    document = with_short_frames(with_losses(counting(protocol=protocol(detect_ms=2)), [loss("w1", 0.1305), loss("w2", 0.2)]))
    simulation = simulated(document, trace=False)
    told = [frame["checkpoints"] for frame in frames_of(simulation)]
    about = simulation.checkpointing
    assert about is not None
    durable = [one for part in told for one in part["durable"]]
    assert len(durable) == len(about["stored"]) > 50
    assert len({(one["operator"], one["index"], one["number"]) for one in durable}) == len(durable)
    assert {one["kind"] for one in durable} == ({"basic"} if protocol is uncoordinated else {"basic", "forced"})
    assert not any(part["rounds"] or part["skipped_s"] for part in told)
    kept = sum(len(own) for own in about["taken"])
    assert kept < len(durable), "those that a recovery left behind are told as well"
    assert simulation.summary()["checkpointing"]["checkpoints"] == len(durable)


@pytest.mark.parametrize("protocol", [None, uncoordinated])
def test_frames_are_the_same_however_a_run_is_cut(tmp_path: Path, protocol: Callable[..., Document] | None) -> None:
    document = busy_example()
    if protocol is not None:
        document = with_protocol(document, protocol(detect_ms=2))
    whole = frames_of(simulated(document, trace=False))
    chance = random.Random("frames")
    run = engine.Simulation(document, datasets=DATASETS)
    frames = []
    while not run.finished:
        for time_ns in sorted(chance.randrange(run.now_ns + 1, run.frame_end_ns + 1) for _ in range(2)):
            run.run_until(time_ns)
        if chance.random() < 0.3:
            run.save(tmp_path / "run")
            run = engine.Simulation.resume(document, tmp_path / "run", datasets=DATASETS)
        frame = run.advance()
        if frame is not None:
            frames.append(frame)
    assert frames == whole


@pytest.mark.parametrize("warmup_s", [0.0, 0.1])
def test_the_summary_is_about_what_began_after_warm_up(warmup_s: float) -> None:
    document = busy_example()
    document["workload"] = document["workload"] | {"warmup_s": warmup_s}
    simulation = finished(document)
    about, found = simulation.checkpointing, simulation.summary()["checkpointing"]
    assert about is not None
    from_ns = round(warmup_s * 1e9)
    rounds = [opened for opened in about["rounds"] if opened["triggered_ns"] >= from_ns]
    confirmed = [opened for opened in rounds if opened["ended"] == "confirmed"]
    assert 0 < len(confirmed) == found["rounds_confirmed"]
    assert found["rounds_aborted"] == sum(opened["ended"] == "aborted" for opened in rounds) > 0
    assert found["rounds_failed"] == 0
    assert found["ticks_skipped"] == sum(at_ns >= from_ns for at_ns in about["skipped_ns"])
    last_done_ms = [(max(at_ns for _, at_ns in opened["done"]) - opened["triggered_ns"]) / 1e6 for opened in confirmed]
    assert found["checkpointing_time_ms"] == pytest.approx(np.mean(last_done_ms), abs=1e-6)
    rows = [row for opened in about["rounds"] for row in opened["taken"] if row[M.CAPTURED_NS] >= from_ns]
    assert (found["checkpoints"], found["stored_bytes"]) == (len(rows), sum(row[M.BYTES] for row in rows))
    assert found["durable_time_ms"] == pytest.approx(np.mean([(row[M.DURABLE_NS] - row[M.CAPTURED_NS]) / 1e6 for row in rows]), abs=1e-6)
    assert found["recoveries"] == len(about["recoveries"]) > 1
    over = [recovery for recovery in about["recoveries"] if recovery["go_ns"] >= 0]
    assert found["restart_time_ms"] == pytest.approx(np.mean([(one["go_ns"] - one["detected_ns"]) / 1e6 for one in over]), abs=1e-6)
    assert [f"checkpointing.{name}" for name in found] == [
        name for name in metrics.metric_names(load(document)) if name.startswith("checkpointing.")
    ]


def test_frames_count_what_waits_for_barriers() -> None:
    """What one host sends is long under way: its barriers are late, and what others send meanwhile is passed over."""
    document = with_short_frames(joining(per_s=6000.0, protocol=coordinated(interval_s=0.03)), 0.001)
    document["cluster"]["hosts"] = [corner_cases.host("w1", egress_latency_ms=6.0), corner_cases.host("w2"), corner_cases.host("w3")]
    simulation = simulated(document, trace=False)
    barred = aside = 0
    while (frame := simulation.advance()) is not None:
        told = frame["checkpoints"]["aligning"]
        w = simulation._world.arrays
        for o, operator in enumerate(simulation._plan.operators):
            here = np.flatnonzero(w.inst[:, L.I_OP] == o).tolist()
            assert told["operators"][operator] == {
                "instances": int((w.align[here, L.ALIGN_BARRED] > 0).sum()),
                "passed_over": sum(len(simulation._world.aside(i)) for i in here),
            }
            aside += told["operators"][operator]["passed_over"]
        assert sum(told["barred_channels"].values()) == int(w.align[:, L.ALIGN_BARRED].sum())
        barred += sum(told["barred_channels"].values())
    assert barred > 50
    assert aside > 50


def test_without_a_protocol_nothing_is_said_of_checkpoints() -> None:
    simulation = simulated(with_short_frames(counting()) | {"policies": {}}, trace=False)
    assert all("checkpoints" not in frame for frame in frames_of(simulation))
    assert "checkpointing" not in simulation.summary()


def test_messages_grow_by_what_the_protocol_adds() -> None:
    """Counted anew: what each channel has carried, with its vectors; barriers; what coordinator and machines say to one another."""

    def of(protocol: Document) -> tuple[engine.Simulation, float | None]:
        document = counting(per_s=2000.0, protocol=protocol)
        simulation = finished(document)
        found = simulation.summary().get("checkpointing")
        return simulation, found and found["message_overhead"]

    plain, _ = of({"kind": "none"})
    payload = int(plain._world.arrays.host[:, L.H_OUT_BYTES].sum())
    ratios = {}
    for protocol in (coordinated(), uncoordinated(), communication_induced(), communication_induced(entry_bytes=4)):
        simulation, ratio = of(protocol)
        w = simulation._world.arrays
        assert ratio is not None
        barriers = simulation.summary()["checkpointing"]["rounds_confirmed"] * len(w.chan) * L.CONTROL_BYTES
        assert w.host[:, L.H_OUT_BYTES].sum() - w.host[:, L.H_PIGGYBACK_BYTES].sum() - barriers == payload
        ratios[protocol["kind"], protocol.get("entry_bytes", 2)] = ratio
        records = w.carried[:, L.SEQ_SENT].sum()
        assert w.host[:, L.H_PIGGYBACK_BYTES].sum() == records * w.g[L.G_VECTOR_BYTES]
    assert 1 < ratios["uncoordinated", 2] < 1.2
    assert 1 < ratios["coordinated", 2] < 1.2
    assert ratios["communication_induced", 4] > ratios["communication_induced", 2] > 1.5


def test_forced_checkpoints_say_why() -> None:
    document = with_short_frames(counting(protocol=communication_induced()))
    simulation = simulated(document, trace=False)
    told = [one for frame in frames_of(simulation) for one in frame["checkpoints"]["durable"]]
    forced = [one for one in told if one["kind"] == "forced"]
    assert 0 < len(forced) == simulation.summary()["checkpointing"]["forced"] < len(told)
    assert {one["reason"] for one in forced} <= {"clock", "cycle", "clock and cycle"}
    assert not [one for one in told if one["kind"] != "forced" and "reason" in one]


def test_what_a_first_recovery_gave_up() -> None:
    document = with_losses(counting(protocol=uncoordinated()), [loss("w1", 0.23)])
    simulation = finished(document)
    about, found = simulation.checkpointing, simulation.summary()["checkpointing"]
    assert about is not None
    given_up = [had - index for had, index in about["lines"][0]]
    assert found["checkpoints_at_loss"] == sum(had for had, _ in about["lines"][0]) > 0
    assert (found["discarded"], found["discarded_most"]) == (sum(given_up), max(given_up))
    assert found["discarded_share"] == pytest.approx(sum(given_up) / found["checkpoints_at_loss"], abs=1e-6)
    assert found["discarded_cross_worker_share"] <= found["discarded_share"]
    assert found["log_bytes"] > 0


@pytest.mark.parametrize(
    ("document", "protocol"),
    [(counting, uncoordinated), (joining, uncoordinated), (circling, uncoordinated), (circling, communication_induced)],
)
def test_how_each_line_was_found_is_told_once_and_leads_to_it(document: Callable[..., Document], protocol: Callable[..., Document]) -> None:
    """In the frame in which it was found. What is told like a lesson ends at the line that all went back to, with as many
    checkpoints given up as the coordinator counted."""
    losses = [loss("w1", 0.1305), loss("w2", 0.2), loss("w3", 0.201)]
    simulation = simulated(with_short_frames(with_losses(document(protocol=protocol(detect_ms=2)), losses)), trace=False)
    frames = frames_of(simulation)
    about = simulation.checkpointing
    assert about is not None
    told = [(frame["t_s"], one) for frame in frames for one in frame["checkpoints"]["searches"]]
    assert [one["epoch"] for _, one in told] == [recovery["epoch"] for recovery in about["recoveries"]]
    assert len(told) > 1
    assert sum(len(one["steps"]) for _, one in told) > 0
    for (t_s, one), recovery, ends in zip(told, about["recoveries"], about["lines"], strict=True):
        assert t_s - FRAME_S < (recovery["detected_ns"] + recovery["search_ns"]) / 1e9 <= t_s
        seen = [frame for frame in frames if frame["t_s"] <= t_s]  # no later one is needed
        explained = explained_recovery(seen, one["epoch"])
        ids = {mark.id: mark for mark in explained.diagram.checkpoints}
        assert [ids[id].index for id in explained.steps[-1].line] == recovery["line"]
        assert len(explained.steps[-1].discarded) == sum(had - index for had, index in ends)
        assert {id for step in explained.steps for id in (*step.line, *step.discarded, *step.focus)} <= set(ids)
        for arrow in explained.diagram.messages:  # of an orphan the send is behind one checkpoint, and the processing before another
            assert arrow.arrives_at is not None
            assert arrow.sent_at < arrow.arrives_at
    with pytest.raises(NotKnown, match="there is no recovery 9; known: 1"):
        explained_recovery(frames, 9)


def test_while_the_line_is_searched_nothing_is_said_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that lasts for several frames. Others are ordered back when it is over, and the summary has how long that took."""
    monkeypatch.setattr("engine.checkpointing.uncoordinated.SEARCH_STEP_NS", 80_000)
    simulation = simulated(with_short_frames(with_losses(counting(protocol=uncoordinated()), [loss("w1", 0.1305)])), trace=False)
    frames = frames_of(simulation)
    recovery = simulation.checkpointing["recoveries"][0]  # type: ignore[index]
    found_s = (recovery["detected_ns"] + recovery["search_ns"]) / 1e9
    assert recovery["search_ns"] > 2 * FRAME_S * 1e9
    told = [(frame["t_s"], one) for frame in frames for one in frame["checkpoints"]["recoveries"]]
    before = [one for t_s, one in told if t_s < found_s]
    assert before
    assert all((one["found_s"], one["line"], one["ordered_s"]) == (None, {}, {}) for one in before)
    assert all(one["found_s"] == found_s and one["line"] for t_s, one in told if t_s >= found_s)
    assert {host: at_s for host, at_s in told[-1][1]["ordered_s"].items() if host != "w1"} == dict.fromkeys(("w2", "w3", "w4"), found_s)
    with pytest.raises(NotKnown, match="recovery 1 is still in progress"):
        explained_recovery([frame for frame in frames if frame["t_s"] < found_s], 1)
    assert simulation.summary()["checkpointing"]["search_time_ms"] == recovery["search_ns"] / 1e6


def test_rounds_need_no_search() -> None:
    simulation = simulated(with_short_frames(with_losses(counting(protocol=coordinated()), [loss("w1", 0.13)])), trace=False)
    frames = frames_of(simulation)
    assert simulation.summary()["checkpointing"]["search_time_ms"] == 0
    with pytest.raises(NotKnown, match="recovery 1 needed no search: the checkpoints of a confirmed round are consistent"):
        explained_recovery(frames, 1)


def test_of_many_instances_those_that_went_back_are_drawn() -> None:
    protocol = uncoordinated(detect_ms=2)
    document = with_short_frames(with_losses(counting(protocol=protocol, hosts=12), [loss("w1", 0.2)]))
    frames = frames_of(simulated(document, trace=False))
    explained = explained_recovery(frames, 1)
    instances = sum(operator.get("parallelism", 1) for operator in document["query"]["operators"])
    assert instances > 30
    assert len(explained.diagram.instances) + explained.left_out == instances
    assert explained.left_out > 0
    assert len(explained.steps[-1].line) == len(explained.diagram.instances)
