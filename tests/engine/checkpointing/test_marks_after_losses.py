"""Watermarks of sources that are behind after a loss (docs/event-core.md, sections 5, 10 and 16).

What this catches: a source that says nothing of its watermark before it has read all that was appended while it stood still, so that
windows end late; one that says more than it may; rows of windows that differ from those of a run without losses.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from typing import Any

import pytest

import engine
from engine.core import layout as L
from tests.support.corner_cases import watermarks
from tests.support.tiers import tier

from ...support.agreement import MS, finished, simulated
from ...support.recovery_examples import PROTOCOLS, counting, loss, random_losses, values, with_losses, without_losses

Document = dict[str, Any]
SIZE_MS, LAG_MS = 5, 2.0


def windowed(protocol: Document | None, period_ms: float = 2.0) -> Document:
    """Counts by key and window of event time, in which records come late, but for none too late; sources could read a third more."""
    made = counting() | {"policies": {"checkpointing": protocol} if protocol else {}}
    for operator in made["query"]["operators"]:
        if operator["id"] == "bids":
            operator["cost"] = {"record_us": 375}
        if operator["id"] == "counts":
            operator["params"] |= {"window": {"kind": "tumbling", "size_s": SIZE_MS / 1000}, "emit": "on_close"}
    disorder = {"kind": "uniform", "max_ms": LAG_MS}
    made["workload"]["sources"]["bids"] |= {"watermarks": watermarks(period_ms, LAG_MS), "disorder": disorder}
    return made


def behind(simulation: engine.Simulation, time_ns: int) -> int:
    """How many sources have still something to read that was appended up to then."""
    w = simulation._world.arrays
    sources = w.inst[w.inst[:, L.I_SOURCE] == 1]
    places = [(int(inst[L.I_LOG]), int(inst[L.I_LOG_END])) for inst in sources]
    return sum(row < end and w.log[row, L.D_APPEND] <= time_ns for row, end in places)


def ended_meanwhile(simulation: engine.Simulation, time_ns: int, before: Collection[Any]) -> int:
    """How many windows end, with rows that were not there before, while a source has something to read that was appended up to then."""
    assert behind(simulation, time_ns) == 4
    while behind(simulation, time_ns):
        simulation.run_until(simulation.now_ns + MS // 2)
    return len({row[1:3] for row in values(simulation).keys() - before})


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.__name__)
@pytest.mark.parametrize("at_s", [0.0053, 0.1503], ids=["to_the_start", "to_checkpoints"])
def test_windows_end_while_sources_catch_up(protocol: Callable[..., Document], at_s: float) -> None:
    """Of the windows in which all stood still, all but the last ones have ended before what came in them has been read everywhere."""
    made = with_losses(windowed(protocol()), [loss("w2", at_s, 0.05)])
    simulation = simulated(made, trace=False, keep_outputs=True)
    simulation.run_until(round(at_s * 1e9))
    before = values(simulation).keys()
    while not (recoveries := simulation.checkpointing["recoveries"]) or recoveries[0]["go_ns"] < 0:
        simulation.run_until(simulation.now_ns + MS)
    assert (max(recoveries[0]["line"]) > 0) == (at_s > 0.1)
    went_on_ns = recoveries[0]["go_ns"]
    simulation.run_until(went_on_ns + 3 * MS)
    assert ended_meanwhile(simulation, went_on_ns, before) >= 50 // SIZE_MS - 2
    simulation.run_until(simulation.end_ns)
    assert values(simulation).keys() == values(finished(without_losses(made))).keys()


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.__name__)
def test_each_window_counts_what_it_does_without_losses(protocol: Callable[..., Document]) -> None:
    """A watermark that came too early would make records late."""
    chance = random.Random(f"marks {protocol.__name__}")
    expected = values(finished(windowed(None)))
    assert len(expected) > 200
    recoveries, tries = 0, tier(10, 20)
    for _ in range(tries):
        chosen = protocol(interval_s=chance.choice((0.005, 0.02, 0.04, 0.1)), detect_ms=chance.choice((0, 1.5, 20)))
        made = with_losses(windowed(chosen, chance.choice((0.3, 2.0, 7.0))), random_losses(chance, ["w1", "w2", "w3", "w4"], 0.3))
        simulation = finished(made)
        assert values(simulation).keys() == expected.keys(), made["faults"]
        assert simulation.summary()["late"] == 0
        assert simulation.drained
        recoveries += len(simulation.checkpointing["recoveries"])
    assert recoveries > 1.25 * tries


@pytest.mark.parametrize("at_s", [0.0003, 0.0211], ids=["in_the_first_period", "later"])
def test_a_source_that_is_back_without_a_protocol_says_how_far_it_is(at_s: float) -> None:
    """All hosts are lost: once they are back, windows end while the sources catch up."""
    made = with_losses(windowed(None), [loss(f"w{n + 1}", at_s, 0.05) for n in range(4)])
    simulation = simulated(made, trace=False, keep_outputs=True)
    back_ns = round((at_s + 0.05) * 1e9)
    simulation.run_until(back_ns)
    assert ended_meanwhile(simulation, back_ns, values(simulation).keys()) >= 50 // SIZE_MS - 2
