"""Hosts that are lost, and come back empty (docs/event-core.md, section 10).

What this catches: something of a lost host that survives, or is served, sent or counted after all; a message that is lost without being
counted, or twice; a sender that waits for ever for a credit that is gone; space that is not free again; a loss that tears an instant.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.core import layout as L
from engine.core.control.host_failure import kill
from engine.core.world import World
from tests.support.corner_cases import CORNER_CASES, a_cycle_that_stands_still, watermarks
from tests.support.loss_cases import LOSS_CASES, MS, loss, pipeline
from tests.support.network_cases import NETWORK_CASES, credits_wait_at_a_cut
from tests.support.strategies import documents, host_names
from tests.support.tiers import spread

from ...support.actor_examples import cast
from ...support.agreement import DATASETS, TEMPLATES, TINY, assert_agreement, fingerprint, simulated, template, traced
from ...support.judging import judge
from ...support.recovery_examples import with_random_losses

Document = dict[str, Any]


# -- the twin -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(made=documents(), seed=st.integers(0, 10**6), tiny=st.booleans())
def test_random_experiments_agree(made: Document, seed: int, tiny: bool) -> None:
    lossy = with_random_losses(made, random.Random(seed))
    assert_agreement(lossy, traced(lossy, capacity=TINY) if tiny else None)


@pytest.mark.slow
@given(made=documents(), seed=st.integers(0, 10**6), period_ns=st.sampled_from((1000, 70_000, 700_000)))
def test_random_experiments_with_actors_agree(made: Document, seed: int, period_ns: int) -> None:
    lossy = with_random_losses(made, random.Random(seed))
    lossy["workload"] = lossy["workload"] | {"drain": False}
    simulation, twins = traced(lossy, capacity=TINY, **cast(period_ns)), cast(period_ns)
    assert_agreement(lossy, simulation, **twins)
    for actor, twin in zip((*simulation._actors.actors, simulation._actors.agent), (*twins["actors"], twins["agent"]), strict=True):
        assert actor.state() == twin.state()


@pytest.mark.slow
@pytest.mark.parametrize("case", LOSS_CASES, ids=lambda case: case.__name__)
def test_corner_cases_agree(case: Callable[[], Document]) -> None:
    for capacity in (None, TINY):
        expected = assert_agreement(case(), traced(case(), capacity=capacity))
        assert len(expected.services) > 50


@pytest.mark.slow
@pytest.mark.parametrize("case", spread(CORNER_CASES + NETWORK_CASES, ci=17, first=1), ids=lambda case: case.__name__)
def test_corner_cases_with_losses_agree(case: Callable[[], Document]) -> None:
    chance = random.Random(case.__name__)
    for capacity in (None, TINY):
        lossy = with_random_losses(case(), chance)
        assert_agreement(lossy, traced(lossy, capacity=capacity))


@pytest.mark.slow
@pytest.mark.parametrize("flow_control", [{"kind": "unbounded"}, {"kind": "credits", "per_channel": 3}], ids=["unbounded", "credits"])
@pytest.mark.parametrize("name", TEMPLATES)
def test_overloaded_templates_with_losses_agree_and_lose_nothing_silently(name: str, flow_control: Document) -> None:
    made = template(name, horizon_s=1.5 if name == "flights" else 0.05, drain=True)
    for machine in made["cluster"]["hosts"]:
        machine |= {"speed": 0.02, "egress_mbit_per_s": 20}
    made["policies"]["flow_control"] = flow_control
    names, horizon_ns = host_names(made["cluster"]), round(made["workload"]["horizon_s"] * 1e9)
    at_ns = [horizon_ns * share // 10 for share in (3, 5, 6)]
    made["faults"] = [loss(names[n % len(names)], t, t + horizon_ns // 5) for n, t in enumerate(at_ns)]
    expected = assert_agreement(made, judge(made))
    assert sum(expected.lost.values()) > 5


# -- worked examples --------------------------------------------------------------------------------------------------------------


def starts(simulation: engine.Simulation, instance: int) -> list[int]:
    return [start for i, start, _, _ in simulation.service_trace().tolist() if i == instance]


def lost(simulation: engine.Simulation) -> list[tuple[int, int]]:
    """Lost and unsent records of source, map and sink."""
    return [(o["lost"] - o["unsent"], o["unsent"]) for o in simulation.summary()["operators"].values()]


ARRIVES = 581_000  # at the map, after its append: 1 us service, 80 us transmission, 0.5 ms


def test_what_a_receiver_loses() -> None:
    """Lost at 20.6 ms: record 20, which is in service since 20.581 (unsent). Back at 23.5 ms: records 21, 22 came meanwhile, and 23 is
    under way since 23.001 (three lost). Record 24 comes at 24.581 and is the first served."""
    made = pipeline([loss("b", 20_600_000, 23_500_000)])
    simulation = traced(made)
    assert_agreement(made, simulation)
    assert lost(simulation) == [(0, 0), (3, 1), (0, 0)]
    assert [start // MS for start in starts(simulation, 1)] == [n for n in range(100) if n not in (21, 22, 23)]
    cut_off = next(row for row in simulation.service_trace().tolist() if row[:2] == [1, 20 * MS + ARRIVES])
    assert cut_off[2] == 20_600_000
    assert simulation.summary()["records_out"] == 96


def test_what_a_sender_loses() -> None:
    """Record 20 leaves a's link at 20.081 ms. Lost a nanosecond before, it has not left; lost then, it has, and arrives."""
    for at_ns, got in ((20_081_000 - 1, 19), (20_081_000, 20)):
        made = pipeline([loss("a", at_ns, 22_500_000)])
        simulation = traced(made)
        assert_agreement(made, simulation)
        assert lost(simulation) == [(0, 0), (20 - got, 0), (0, 0)]
        # the records of 21 and 22 ms wait in the log, and are read one after the other from the nanosecond after the restart on
        assert starts(simulation, 0)[21:24] == [22_500_001, 22_501_001, 23 * MS]


def test_a_source_does_not_read_again_what_it_was_serving() -> None:
    made = pipeline([loss("a", 20_000_500, 20_700_000)])
    simulation = traced(made)
    assert_agreement(made, simulation)
    assert lost(simulation) == [(0, 1), (0, 0), (0, 0)]
    assert starts(simulation, 0)[20:22] == [20 * MS, 21 * MS]


def test_credits_come_back_with_the_host() -> None:
    """One credit, a record every 2 ms. That of 20 ms is under way when b is lost; its credit would never come, so the source, with the next
    one in hand, would wait for ever. b is back at 30 ms, the credits half a millisecond later."""
    credit = {"flow_control": {"kind": "credits", "per_channel": 1}}
    made = pipeline([loss("b", 20_300_000, 30 * MS)], per_s=500.0, policies=credit)
    simulation = traced(made)
    assert_agreement(made, simulation)
    assert lost(simulation) == [(0, 0), (1, 0), (0, 0)]
    assert starts(simulation, 0)[11] == 22 * MS
    assert starts(simulation, 1)[10] == 30_500_000 + 80_000 + 500_000
    assert simulation.drained
    assert simulation.summary()["records_out"] == 49


def test_a_receiver_gives_no_credit_to_a_sender_that_is_gone() -> None:
    """Three credits. The map is slow: records of the lost source wait there when the new one begins, which has three credits of its own,
    at once; so up to six records wait, and credits of the old ones do not count."""
    made = pipeline(
        [loss("a", 20_300_000, 21_300_000)], policies={"flow_control": {"kind": "credits", "per_channel": 3}}, cost={"record_us": 5000}
    )
    simulation = simulated(made)
    most = 0
    for t_ns in range(20 * MS, 40 * MS, 100_000):
        simulation.run_until(t_ns)
        w = simulation._world.arrays
        most = max(most, int(w.inst[1, L.I_QUEUE_COUNT]))
        assert w.carried[0, L.SEQ_SENT] - w.chan[0, L.C_CONSUMED] <= 3
    simulation.run_until(simulation.end_ns)
    assert_agreement(made, simulation)
    assert most in (5, 6)
    assert simulation.drained


def test_a_host_that_never_returns_is_no_work_left() -> None:
    made = pipeline([loss("b", 20_600_000)])
    simulation = traced(made)
    assert_agreement(made, simulation)
    assert simulation.drained
    assert lost(simulation)[1] == (79, 1)
    assert simulation.now_ns == 100 * MS


def test_a_run_waits_for_a_host_that_will_be_back() -> None:
    """The log of a stays unread until 150 ms, long after the horizon."""
    made = pipeline([loss("a", 50 * MS, 150 * MS)])
    simulation = traced(made)
    assert_agreement(made, simulation)
    assert simulation.drained
    assert len(starts(simulation, 0)) == 100
    assert starts(simulation, 0)[51] == 150 * MS + 1


def test_warm_up_begins_anew() -> None:
    made = pipeline([loss("b", 50 * MS, 60 * MS)], cost={"warmup": {"factor": 2.0, "records": 2}})
    simulation = traced(made)
    assert_agreement(made, simulation)
    took_us = [(end - start) // 1000 for i, start, end, _ in simulation.service_trace().tolist() if i == 1]
    served = next(n for n, start in enumerate(starts(simulation, 1)) if start > 60 * MS)
    assert took_us[:3] == took_us[served : served + 3] == [600, 450, 300]


def test_a_warm_up_by_time_begins_anew_at_the_restart() -> None:
    """Twice the cost at first, the usual one after 4 ms. The map's first record comes 0.581 ms after the start; after the restart at 60 ms
    that of 60 ms comes at the same time."""
    made = pipeline([loss("b", 50 * MS, 60 * MS)], cost={"warmup": {"kind": "time", "factor": 2.0, "over_s": 0.004}})
    simulation = traced(made)
    assert_agreement(made, simulation)
    took = [end - start for i, start, end, _ in simulation.service_trace().tolist() if i == 1]
    served = next(n for n, start in enumerate(starts(simulation, 1)) if start > 60 * MS)
    assert took[:6] == took[served : served + 6]
    assert took[0] == pytest.approx(300_000 * (2 - 0.581 / 4), rel=1e-4)
    assert took[4:6] == [300_000, 300_000]


def test_watermarks_of_a_new_instance_begin_at_the_start() -> None:
    """The sink on c is lost after a watermark and knows of none then, until the next one comes."""
    made = pipeline([loss("c", 20_300_000, 20_400_000)], source={"watermarks": watermarks(10.0)})
    simulation = simulated(made)
    marks = {}
    for t_ns in (20 * MS, 21_500_000, 25_000_000, 35 * MS):
        simulation.run_until(t_ns)
        marks[t_ns] = int(simulation._world.arrays.inst[2, L.I_WATERMARK])
    assert marks == {20 * MS: 9 * MS, 21_500_000: 19 * MS, 25_000_000: 19 * MS, 35 * MS: 29 * MS}
    simulation.run_until(simulation.end_ns)
    assert_agreement(made, simulation)
    later = simulated(pipeline([loss("c", 23 * MS, 24 * MS)], source={"watermarks": watermarks(10.0)}))
    later.run_until(25 * MS)
    assert later._world.arrays.inst[2, L.I_WATERMARK] == -L.FAR


def test_losses_that_overlap_last_until_the_latest_restart() -> None:
    faults = [loss("b", 20 * MS, 30 * MS), loss("b", 25 * MS, 27 * MS), loss("b", 29 * MS, 40 * MS), loss("b", 40 * MS, 41 * MS)]
    made = pipeline(faults)
    simulation = traced(made)
    assert_agreement(made, simulation)
    served = [start for start in starts(simulation, 1) if 20 * MS < start < 50 * MS]
    assert served[0] == 41 * MS + ARRIVES
    assert lost(simulation) == [(0, 0), (21, 0), (0, 0)]


# -- space, cutting, judging ----------------------------------------------------------------------------------------------------------


class LosesAll:
    """A control that loses all hosts at one time."""

    features = ("losses",)

    def __init__(self, at_ns: int):
        self.next_ns = at_ns

    def act(self, world: World, now_ns: int) -> None:
        self.next_ns = L.FAR
        for h in range(int(world.arrays.g[L.G_MACHINES])):
            kill(world, h, now_ns)

    def state(self) -> Any:
        return self.next_ns

    def restore(self, state: Any) -> None:
        self.next_ns = state


def length(table: Any, first: int, column: int) -> int:
    found = 0
    while first >= 0:
        found, first = found + 1, int(table[first, column])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("case", [c for c in CORNER_CASES if c is not a_cycle_that_stands_still], ids=lambda case: case.__name__)
def test_nothing_of_lost_hosts_takes_space(case: Callable[[], Document]) -> None:
    made = case()
    simulation = simulated(made, controls=[LosesAll(round(made["workload"]["horizon_s"] * 0.6e9))])
    simulation.run_until(simulation.end_ns)
    w = simulation._world.arrays
    g = w.g
    assert simulation.drained
    assert g[L.G_ENTRIES_USED] == 0
    assert g[L.G_ENTRIES_FREE] == g[L.G_ENTRIES_SIZE]
    assert length(w.entry, int(g[L.G_ENTRY]), L.S_NEXT) == g[L.G_ENTRY_FRESH]
    assert (w.table == -1).all()
    assert g[L.G_ROWS_FREE] == g[L.G_ROWS_SIZE]
    assert length(w.row, int(g[L.G_ROW]), L.R_NEXT) == g[L.G_ROW_FRESH]
    assert g[L.G_PANES_FREE] == len(w.pane) == length(w.pane, int(g[L.G_PANE]), L.W_NEXT)
    assert (w.panes_of == -1).all()
    assert sorted(w.free[: g[L.G_FREE]].tolist()) == list(range(len(w.free)))
    assert (w.inst[:, [L.I_STATE_BYTES, L.I_ENTRIES, L.I_QUEUE_COUNT, L.I_QUEUE_BYTES]] == 0).all()


@pytest.mark.slow
@given(made=documents(), seed=st.integers(0, 10**6), shares=st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_what_was_sent_is_served_lost_or_still_there(made: Document, seed: int, shares: list[float]) -> None:
    simulation = simulated(with_random_losses(made, random.Random(seed)))
    for share in sorted(shares):
        simulation.run_until(int(share * simulation.horizon_ns))
        world, w = simulation._world, simulation._world.arrays
        slots = [slot for i in range(len(w.inst)) for slot in world.queue(i)]
        slots += [slot for r in range(2 * len(w.host)) for slot in world.ring(r).tolist()]
        slots += [slot for held in world.held() for slot in held]
        receivers = w.msg[slots, L.M_RECEIVER][w.msg[slots, L.M_KIND] == L.RECORD]
        there = np.bincount(receivers, minlength=len(w.inst))
        reads = w.inst[:, L.I_SOURCE] == 1
        taken = np.where(reads, 0, w.inst[:, L.I_IN]) + w.inst[:, L.I_LOST]
        assert (w.inst[:, L.I_FIFO] - w.inst[:, L.I_CONTROLS]).sum() == (taken + there).sum()
        counted = w.edge[w.chan[:, L.C_EDGE], L.E_COUNTED] == 1
        if counted.all() and len(w.chan):
            sent = np.bincount(w.chan[:, L.C_RECEIVER], weights=w.carried[:, L.SEQ_SENT], minlength=len(w.inst))
            assert (sent == taken + there).all()


@pytest.mark.slow
def test_any_cutting_saving_and_forking_gives_the_same(tmp_path: Path) -> None:
    """Actors and agents take part; messages with parcels are lost."""
    made = credits_wait_at_a_cut()
    made["workload"] |= {"drain": False}
    names = host_names(made["cluster"])
    made["faults"] += [loss(names[n], t * MS, (t + 2) * MS) for n, t in ((0, 1), (2, 3), (1, 4), (2, 6))]
    whole = traced(made, **cast())
    chance = random.Random("losses")
    for n in range(6):
        run = simulated(made, **cast())
        for time_ns in sorted(chance.choice((chance.randrange(run.end_ns), chance.randrange(1, 8) * MS)) for _ in range(8)):
            run.run_until(time_ns)
        run.save(tmp_path / f"{n}")
        resumed = engine.Simulation.resume(made, tmp_path / f"{n}", datasets=DATASETS, trace=True, keep_outputs=True, **cast())
        fork = run.fork()
        assert run.digest() == resumed.digest() == fork.digest()
        for copy in (run, resumed, fork):
            copy.run_until(copy.end_ns)
            assert fingerprint(copy) == fingerprint(whole)
            assert len(copy._actors._parcels) <= 4  # of what is under way


@pytest.mark.slow
def test_losses_at_random_are_the_same_each_time() -> None:
    made = template("nexmark_q12", horizon_s=1.0)
    made["faults"] = [
        {"kind": "host_loss", "host": name, "when": {"kind": "random", "mean_s": 0.1}, "restart_after_s": 0.02} for name in ("w1", "w2")
    ]
    first, second = traced(made), traced(made, capacity=TINY)
    assert fingerprint(first) == fingerprint(second)
    lives = first._world.arrays.inst[:, L.I_INCARNATION]
    assert 3 < lives.max() < 20
    frames = engine.run(made).frames
    assert sum(frame["lost"] for frame in frames) == first.summary()["lost"] > 100


def test_a_control_must_say_that_it_loses_hosts() -> None:
    control = LosesAll(1000)
    control.features = ()
    with pytest.raises(ValueError, match="features"):
        traced(template("nexmark_q1", horizon_s=0.001), controls=[control])


def test_generators_that_end_while_a_host_is_down_let_nothing_pass_it() -> None:
    """Records are on their way to the lost host when the generators end, and are lost and counted all the same."""
    document = template("nexmark_q12", horizon_s=0.03, drain=True)
    document["workload"]["sources"]["bids"]["generation"] = {"kind": "coordinated"}
    document["faults"] = [{"kind": "host_loss", "host": "w1", "when": {"kind": "at", "at_s": 0.02}}]
    simulation = traced(document)
    assert_agreement(document, simulation)
    assert simulation.summary()["operators"]["count"]["lost"] > 20
