"""Keyed state by key group: what is taken out of an instance and put into another, for every kind that keeps some.

What this catches: entries, rows, distinct values, heaps, panes and lists that get lost, double or out of order on the way, bytes that do
not add up, a kind of operator that keeps state and does not say how, ticks and window ends that are forgotten with what moved.
"""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import engine
from engine.core import layout as L
from engine.core.control import keyed_state
from engine.core.weave import has_state
from engine.core.world import World
from engine.operators import OPERATORS
from tests.support import corner_cases
from tests.support.strategies import documents

from ...support.agreement import TINY, finished, rows_of, simulated
from ...support.keyed_state_examples import KINDS, document, in_and_out, keeping_of


class Mover:
    """Moves random key groups of operator `kept` between its instances, at each of some times once nothing is under way to it."""

    def __init__(self, times_ns: list[int], seed: int, moves: int = 6):
        self.waiting, self.random, self.moves = sorted(times_ns), random.Random(seed), moves
        self.moved = self.moved_bytes = 0

    @property
    def next_ns(self) -> int:
        return self.waiting[0] if self.waiting else L.FAR

    def act(self, world: World, now_ns: int) -> None:
        self.waiting.pop(0)
        w = world.arrays
        o = next(n for n in range(len(w.op)) if w.op[n, L.O_PARALLEL] == 3)
        mine = np.flatnonzero(w.inst[:, L.I_OP] == o)
        if not at_rest(world, mine):
            self.waiting.insert(0, now_ns + 977)
            return
        keeping = keeping_of(world, o)
        _, groups = keyed_state.key_groups(w, o)
        before = int(w.inst[mine, L.I_STATE_BYTES].sum()), int(w.inst[mine, L.I_ENTRIES].sum())
        for _ in range(self.moves):
            first = self.random.randrange(groups)
            end = self.random.randint(first + 1, min(groups, first + 5))
            to = self.random.randrange(3)
            for i in mine[mine != mine[to]].tolist():
                held = int(world.arrays.inst[i, L.I_STATE_BYTES])
                copied = keyed_state.capture(world, keeping, i, first, end)
                state = keyed_state.take(world, keeping, i, first, end)
                assert state.to_bytes() == copied.to_bytes()
                assert held - state.state_bytes == world.arrays.inst[i, L.I_STATE_BYTES]
                assert not len(keyed_state.capture(world, keeping, i, first, end).entries)
                keyed_state.put(world, keeping, int(mine[to]), keyed_state.KeyedState.from_bytes(state.to_bytes()))
                self.moved += len(state.entries)
                self.moved_bytes += state.state_bytes
            keyed_state.route(world, o, first, end, to)
        w = world.arrays
        assert before == (int(w.inst[mine, L.I_STATE_BYTES].sum()), int(w.inst[mine, L.I_ENTRIES].sum()))

    def state(self) -> Any:
        return [self.waiting, self.moved, self.moved_bytes]

    def restore(self, state: Any) -> None:
        self.waiting, self.moved, self.moved_bytes = state


@pytest.mark.parametrize("name", KINDS)
def test_what_is_captured_does_not_say_where_it_stood(name: str) -> None:
    """Taken out and put back, it stands in other places. (Savepoints and digests would else depend on how a run was cut.)"""
    run = simulated(document(name))
    world, o, held = run._world, run._plan.operators.index("kept"), 0
    keeping, (_, groups) = keeping_of(world, o), keyed_state.key_groups(world.arrays, o)
    for moment in range(1, 12):
        run.run_until(moment * 5_123_457)
        while not at_rest(world, np.flatnonzero(world.arrays.inst[:, L.I_OP] == o)):
            run.run_until(run.now_ns + 977)
        for i in np.flatnonzero((world.arrays.inst[:, L.I_OP] == o) & (world.arrays.inst[:, L.I_ENTRIES] > 0)).tolist():
            before = keyed_state.capture(world, keeping, i, 0, groups)
            half = keyed_state.take(world, keeping, i, 0, groups // 2)
            keyed_state.put(world, keeping, i, keyed_state.take(world, keeping, i, groups // 2, groups))
            keyed_state.put(world, keeping, i, half)
            assert keyed_state.capture(world, keeping, i, 0, groups).to_bytes() == before.to_bytes()
            held += len(before.entries)
    assert held > 10


def at_rest(world: World, instances: np.ndarray) -> bool:
    """Nothing waits for these instances, is served by them or on its way to them."""
    w = world.arrays
    under_way = np.concatenate([world.ring(r) for r in range(2 * len(w.host))])
    waiting = [slot for i in range(len(w.inst)) for slot in world.outbox(i)]
    idle = (w.inst[:, L.I_STATUS] == L.IDLE).all() and (w.inst[instances, L.I_QUEUE] < 0).all()
    return bool(idle and not waiting and not np.isin(w.msg[under_way, L.M_RECEIVER], instances).any())


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_results_do_not_depend_on_where_key_groups_are(name: str) -> None:
    whole = finished(document(name))
    expected = rows_of(whole)
    assert expected.total() > 30
    for seed in range(2):
        chance = random.Random(f"{name} {seed}")
        mover = Mover([chance.randrange(5_000_000, 55_000_000) for _ in range(4)], seed)
        simulation = finished(document(name), controls=[mover], **({"capacity": TINY} if seed else {}))
        assert not mover.waiting
        assert mover.moved > 10
        assert mover.moved_bytes > 300
        assert rows_of(simulation) == expected
        if "expiring" not in name:  # there an instance frees what has expired when it serves its next record
            assert simulation._world.arrays.inst[:, L.I_STATE_BYTES].sum() == whole._world.arrays.inst[:, L.I_STATE_BYTES].sum()


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_run_with_moves_is_as_good_as_any_other(name: str) -> None:
    """It is saved, resumed and cut to the same bytes, and digests tell where state and routes are."""
    times_ns = [11_000_000, 23_000_000, 37_000_000]

    def run(*cuts_ns: int) -> engine.Simulation:
        simulation = simulated(document(name), trace=False, controls=[Mover(list(times_ns), 5)])
        for cut_ns in cuts_ns:
            simulation.run_until(cut_ns)
            simulation = simulation.fork()
        simulation.run_until(simulation.end_ns)
        return simulation

    whole = run()
    again = run(5_000_000, 10_999_999)
    assert again.digest() == whole.digest()
    assert rows_of(again) == rows_of(whole)


@pytest.mark.parametrize("name", [name for name in KINDS if "processing" in name])
def test_a_window_ends_on_time_where_nothing_else_would_end_it(name: str) -> None:
    """One key, whose records stop coming before the window's end; the instance to which its group goes holds nothing of its own."""
    made = document(name)
    for operator in made["query"]["operators"]:
        if operator["kind"] == "map":
            operator["params"]["fields"][0]["expression"] = "5"
    for source in made["workload"]["sources"].values():
        source["rate"] = {"kind": "steps", "steps": [{"at_s": 0, "per_s": 3000}, {"at_s": 0.003, "per_s": 0}]}
    whole = finished(made)
    moved = simulated(made, trace=False)
    moved.run_until(4_000_000)
    world, keeping = moved._world, OPERATORS[name.split(",")[0]].keeping
    assert keeping is not None
    states = world.arrays.inst[:, L.I_STATE_BYTES]
    (holder,) = np.flatnonzero(states)
    instances = np.flatnonzero(world.arrays.inst[:, L.I_OP] == world.arrays.inst[holder, L.I_OP])
    other = int(instances[instances != holder][0])
    keyed_state.put(world, keeping, other, keyed_state.take(world, keeping, int(holder), 0, 16))
    moved.run_until(moved.end_ns)
    assert len(whole.deliveries()) > 0
    assert [(record.end_ns, record.latency_ns) for record in moved.deliveries()] == [
        (record.end_ns, record.latency_ns) for record in whole.deliveries()
    ]
    assert rows_of(moved) == rows_of(whole)
    assert not moved._world.arrays.inst[:, L.I_STATE_BYTES].any()


@pytest.mark.slow
@given(made=documents())
def test_what_goes_out_and_in_again_changes_nothing(made: dict[str, Any]) -> None:
    in_and_out(made)


@pytest.mark.slow
@pytest.mark.parametrize("case", corner_cases.CORNER_CASES, ids=lambda case: case.__name__)
def test_what_goes_out_and_in_again_changes_nothing_in_corner_cases(case: Any) -> None:
    in_and_out(case())


@pytest.mark.parametrize("name", KINDS)
def test_what_goes_out_and_in_again_changes_nothing_of_any_kind(name: str) -> None:
    assert in_and_out(document(name)) > 20


@pytest.mark.parametrize("kind", OPERATORS)
def test_every_kind_with_keyed_state_says_how_it_keeps_it(kind: str) -> None:
    operator = OPERATORS[kind]
    assert (operator.keeping is not None) == has_state(operator)
    assert operator.group != "Stateful" or operator.keeping is not None
    if operator.keeping is not None and operator.group == "Stateful":  # those of similarity joins have tests of their own
        assert kind in {name.split(",")[0] for name in KINDS}


def test_what_must_not_be_moved_is_refused() -> None:
    simulation = simulated(document("aggregate, sliding"), trace=False)
    simulation.run_until(30_000_000)
    world, keeping = simulation._world, OPERATORS["aggregate"].keeping
    w = world.arrays
    assert keeping is not None
    first, second, _ = np.flatnonzero(w.op[w.inst[:, L.I_OP], L.O_PARALLEL] == 3).tolist()
    with pytest.raises(keyed_state.CannotMove, match=r"\[3, 17\) are not within \[0, 16\)"):
        keyed_state.take(world, keeping, first, 3, 17)
    state = keyed_state.take(world, keeping, first, 0, 16)
    ahead = copy.deepcopy(w.inst[second, L.I_WATERMARK])
    w.inst[second, L.I_WATERMARK] += 1
    with pytest.raises(keyed_state.CannotMove, match="the state is at watermark"):
        keyed_state.put(world, keeping, second, state)
    w.inst[second, L.I_WATERMARK] = ahead
    sink = next(i for i in range(len(w.inst)) if w.op[w.inst[i, L.I_OP], L.O_SINK] >= 0)
    with pytest.raises(keyed_state.CannotMove, match="belongs to another operator"):
        keyed_state.put(world, keeping, sink, state)
    keyed_state.put(world, keeping, second, state)
    held = int(world.arrays.inst[second, L.I_STATE_BYTES])
    with pytest.raises(keyed_state.CannotMove, match="already"):
        keyed_state.put(world, keeping, second, state)
    assert world.arrays.inst[second, L.I_STATE_BYTES] == held
