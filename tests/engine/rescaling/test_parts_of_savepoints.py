"""Who takes what of a savepoint: arithmetic against counting one by one, and parts of captured state against what is captured in parts.

What this catches: a key group that two instances take, or none; bytes that are asked for twice, or of a piece that has fewer; entries that
come with the rows or values of others.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.checkpointing.worker import PIECE_BYTES
from engine.core import layout as L
from engine.core.control import keyed_state
from engine.rescaling.messages import Mark, Restart
from engine.rescaling.savepoint_assignment import OperatorSlots, Savepoint, Stored, fetches, groups_of, marks, requests

from ...support.agreement import simulated
from ...support.keyed_state_examples import KINDS, document, keeping_of


@given(groups=st.integers(1, 300), data=st.data())
def test_each_key_group_has_the_owner_that_the_route_says(groups: int, data: st.DataObject) -> None:
    parallelism = data.draw(st.integers(1, groups))
    owner = {group: index for index in range(parallelism) for group in groups_of(index, parallelism, groups)}
    assert owner == {group: group * parallelism // groups for group in range(groups)}


@st.composite
def savepoints(draw: st.DrawFn) -> tuple[Savepoint, list[OperatorSlots]]:
    """An operator that changes and one that does not, with random state."""
    groups, before, after = draw(st.integers(12, 40)), draw(st.integers(1, 12)), draw(st.integers(1, 12))
    operators = [OperatorSlots("keeps", 0, 12, False, groups, ("keeps",)), OperatorSlots("stays", 12, 5, False, 1, ("stays",))]
    held = [{g: draw(st.integers(1, 10**9)) for g in groups_of(k, before, groups) if draw(st.booleans())} for k in range(before)]
    held_there = [{0: draw(st.integers(1, 100))} for _ in range(3)]
    stored = {
        first + k: Stored(500 + sum(own.values()), -(-(500 + sum(own.values())) // PIECE_BYTES), own)
        for first, owns in ((0, held), (12, held_there))
        for k, own in enumerate(owns)
    }
    seen = {i: Mark(i, draw(st.integers(0, 9)) if i >= 12 else 7, draw(st.integers(0, 99)), 0) for i in stored}
    return Savepoint(4, {"keeps": before, "stays": 3}, {"keeps": after, "stays": 3}, seen, stored, {}, {}), operators


@given(found=savepoints())
def test_all_that_is_stored_is_fetched_once(found: tuple[Savepoint, list[OperatorSlots]]) -> None:
    saved, operators = found
    taken = list(fetches(saved, operators))
    for old, stored in saved.stored.items():
        own = [fetch for fetch in taken if fetch.old == old]
        if old >= 12:
            assert [(fetch.instance, fetch.end) for fetch in own] == [(old, -1)]
        owners = {group: fetch.instance for fetch in own for group in stored.groups if fetch.end < 0 or fetch.first <= group < fetch.end}
        if old < 12:
            assert owners == {group: group * saved.after["keeps"] // operators[0].groups for group in stored.groups}
        assert sum(fetch.bytes for fetch in own) == sum(stored.groups.values())
    for fetch in taken:
        asked = list(requests(fetch, PIECE_BYTES))
        assert sum(size for _, size in asked) == fetch.bytes
        assert len({piece for piece, _ in asked}) == len(asked)
        assert asked[0][0] == fetch.pieces - 1, "the content goes with the last piece"
        for piece, size in asked:
            assert 0 < size <= min(PIECE_BYTES, fetch.size_bytes - piece * PIECE_BYTES)
    assert Savepoint.from_state(saved.state()) == saved
    going_on = {mark.instance: mark for mark in marks(saved, operators)}
    assert sorted(going_on) == [*range(saved.after["keeps"]), 12, 13, 14]
    assert all(going_on[i] == saved.marks[i] for i in (12, 13, 14))
    order = Restart([1, 2], taken, list(going_on.values()), [[3, 4]], [[0, 1, 5, 6, -3]], [7])
    assert Restart.from_bytes(order.to_bytes()) == order


def test_new_instances_restart_from_the_lowest_watermark_so_that_nothing_becomes_late() -> None:
    """Instances without keyed state need not have the same watermark: each reads its own partitions."""
    operators = [OperatorSlots("filters", 0, 4, False, 1, ("filters",)), OperatorSlots("stays", 4, 2, False, 1, ("stays",))]
    seen = {0: Mark(0, 70, 90, 3), 1: Mark(1, 50, 99, 4), 4: Mark(4, 60, 95, 0), 5: Mark(5, 40, 80, 0)}
    saved = Savepoint(1, {"filters": 2, "stays": 2}, {"filters": 3, "stays": 2}, seen, {i: Stored(0, 1, {}) for i in seen}, {}, {})
    assert list(marks(saved, operators)) == [Mark(0, 50, 90, 0), Mark(1, 50, 90, 0), Mark(2, 50, 90, 0), seen[4], seen[5]]


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_part_of_what_is_captured_is_what_is_captured_of_a_part(name: str) -> None:
    made: dict[str, Any] = document(name)
    simulation = simulated(made, trace=False)
    simulation.run_until(31_000_000)
    world, chance = simulation._world, random.Random(name)
    o = simulation._plan.operators.index("kept")
    keeping = keeping_of(world, o)
    entries = 0
    for i in range(int(world.arrays.op[o, L.O_FIRST]), int(world.arrays.op[o, L.O_FIRST]) + 3):
        whole = keyed_state.capture(world, keeping, i, 0, 16)
        entries += len(whole.entries)
        sizes = keyed_state.bytes_by_group(whole, world.arrays, o)
        assert sizes.sum() == whole.state_bytes
        for _ in range(6):
            first = chance.randrange(16)
            end = chance.randint(first, 16)
            part = keyed_state.part(whole, world.arrays, o, first, end)
            assert part.to_bytes() == keyed_state.capture(world, keeping, i, first, end).to_bytes()
            assert part.state_bytes == sizes[first:end].sum()
    assert entries > 5
