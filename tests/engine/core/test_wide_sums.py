"""Sums over records that fit no word: how long they waited, were held, were under way and in service, real ones where one stands for many.

What this catches: sums that begin anew, or turn negative, after 292 years of waits; those of real records in frames, files and summaries,
which are there after minutes of overload; counting on that depends on when it was read.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.autoscaling.telemetry import Samples
from engine.core import layout as L
from engine.telemetry.files import Telemetry
from engine.telemetry.frames import SPENT, widened

from ...support.agreement import frames_of
from ...support.autoscaling_examples import made, simulated

WORD = 2**64
LOAD_PER_S = 4_000_000
"""Real records; twice what five sources read."""


def word_of(value: int) -> int:
    """What is left of it in a word with a sign."""
    return (value + WORD // 2) % WORD - WORD // 2


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3), min_size=1, max_size=30))
def test_a_sum_of_any_size_is_known_by_its_words(growths: list[list[int]]) -> None:
    exact, wide = [0, 0, 0], np.zeros((2, 3), np.int64)
    for grown in growths:
        exact = [a + b for a, b in zip(exact, grown, strict=True)]
        wide = widened(np.array([word_of(value) for value in exact]), wide)
        assert [(high << 32) + low for high, low in wide.T.tolist()] == exact
        assert ((wide[1] >= 0) & (wide[1] < 2**32)).all()


def overloaded(minutes: float, scale: int) -> Any:
    """Frames of a minute."""
    document = made({"kind": "manual"}, minutes=minutes, per_s={"kind": "constant", "per_s": LOAD_PER_S}, scale=scale)
    document["measurement"]["frame_ms"] = 60_000
    return document


def test_sums_of_real_records_in_frames_files_and_summaries() -> None:
    simulation = simulated(overloaded(40, 1_000_000))
    frames = frames_of(simulation)
    w, summary = simulation._world.arrays, simulation.summary()["operators"]["bids"]["attribution"]
    bids = w.inst[:, L.I_OP] == simulation._plan.operators.index("bids")
    busy_ns = sum((w.inst[bids, L.I_BUSY] - w.inst[bids, L.I_CONTROL_NS]).tolist())
    assert summary["service_ns"] == busy_ns * 1_000_000 > 2**63
    assert summary["driver_queue_ns"] == sum(w.inst[bids, L.I_WAIT].tolist()) * 1_000_000 > WORD
    told = [frame["operators"]["bids"]["attribution"] for frame in frames]
    for part, total in summary.items():
        assert sum(of_frame[part] for of_frame in told) == total
    rows = simulation.telemetry._rows
    of_files = [[float(ns) for ns in row["wait_ns"][row["name"] == "bids"]] for row in rows]
    assert max(max(of_frame) for of_frame in of_files) > 2**63
    assert [sum(of_frame) for of_frame in of_files] == pytest.approx([of_frame["driver_queue_ns"] for of_frame in told], rel=1e-14)
    again = Telemetry.from_state(json.loads(json.dumps(simulation.telemetry.state())))
    assert repr(again.state()) == repr(simulation.telemetry.state())
    assert {row[name].dtype for row in again._rows for name in SPENT} == {np.dtype(np.float64)}


def summed(simulation: engine.Simulation) -> list[Any]:
    """The words in which the world counts on."""
    w = simulation._world.arrays
    return [w.inst[:, L.I_WAIT], w.inst[:, L.I_HELD], w.inst[:, L.I_NETWORK], w.align[:, L.ALIGN_WAITED], w.latency_sums[:, 1]]


SHIFTS = (2**63 - 1, 2**62 + 12_345, 2**63 - 10**12)
"""ns; more than a word together."""


def test_sums_are_counted_on_where_words_end() -> None:
    """As if records had waited for 290 years before some of the frames."""
    plain, late = (simulated(overloaded(8, 10_000)) for _ in range(2))
    frames, told = frames_of(plain), [late.advance()]
    for shift_ns in SHIFTS:
        for words in summed(late):
            words += np.int64(shift_ns)
        (samples,) = (control for control in late._controls if isinstance(control, Samples))
        samples._waits = [(ns + shift_ns, count, weight) for ns, count, weight in samples._waits]
        late._before = late._counters(late.now_ns)
        told.append(late.advance())
    assert sum(SHIFTS) > WORD
    assert [*told, *frames_of(late)] == frames
    assert late.summary()["scaling"] == plain.summary()["scaling"]
    more_ns = sum(SHIFTS) * 10_000
    for operator, about in plain.summary()["operators"].items():
        count = int((plain._world.arrays.inst[:, L.I_OP] == plain._plan.operators.index(operator)).sum())
        found = late.summary()["operators"][operator]["attribution"]
        wait = "driver_queue_ns" if operator == "bids" else "alignment_ns"
        for part in (wait, "blocked_ns", "network_ns"):
            assert found[part] == about["attribution"][part] + more_ns * count
    mean_ms, seen_ms = (simulation.summary()["latency_ms"]["mean"] for simulation in (plain, late))
    delivered = plain.summary()["latency_ms"]["count"]
    assert seen_ms == pytest.approx(mean_ms + more_ns / delivered / 1e6, rel=1e-12)
