"""Differences of keyed state: a chain of them restores what was there, for every kind of operator that keeps some.

What this catches: entries, rows or distinct values that a delta forgets, keeps or repeats; changes that count no bytes; bytes that follow
the size of the state and not what has changed; a delta that depends on where state lies in memory.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core import layout as L
from engine.core.control import keyed_state
from engine.core.control.keyed_state import KeyedState
from engine.core.control.state_delta import StateDelta, applied, difference, size_of
from tests.support.similarity_examples import self_join, worksets

from ...support.agreement import TINY, simulated
from ...support.keyed_state_examples import KINDS, document, keeping_of


def captures(made: dict[str, Any], operator: str, every_ns: int = 5_000_000, **about: Any) -> list[list[KeyedState]]:
    """By instance of an operator, its state at some moments; and a world to account bytes in."""
    run = simulated(made, **about)
    o = run._plan.operators.index(operator)
    found: dict[int, list[KeyedState]] = {}
    for moment in range(1, 13):
        run.run_until(moment * every_ns)
        w = run._world.arrays
        for i in np.flatnonzero(w.inst[:, L.I_OP] == o).tolist():
            state = keyed_state.capture(run._world, keeping_of(run._world, o), i, 0, keyed_state.key_groups(w, o)[1])
            found.setdefault(i, []).append(state)
    return [*found.values()]


@pytest.mark.parametrize("name", KINDS)
def test_a_chain_of_deltas_restores_what_was_there(name: str) -> None:
    some = 0
    for states in captures(document(name), "kept"):
        state = states[0]
        for before, after in pairwise(states):
            delta = difference(before, after)
            state = applied(state, StateDelta(*delta.tables))
            assert state.to_bytes() == after.to_bytes()
            some += len(delta.entries) + len(delta.rows)
    assert some > 30


@pytest.mark.parametrize("operator", ["worksets", "join"])
@pytest.mark.parametrize("make", [worksets, self_join])
def test_rows_that_change_in_place_are_in_a_delta(make: Any, operator: str) -> None:
    """Formulations note in the row of a centroid when it was used last."""
    made = make(per_s=3000.0)
    for spec in made["query"]["operators"]:
        if spec["id"] == "worksets":
            spec["params"]["centroid_ttl_windows"] = 1
    for states in captures(made, operator, 4_000_000):
        for before, after in pairwise(states):
            assert applied(before, difference(before, after)).to_bytes() == after.to_bytes()


@pytest.mark.parametrize("name", [name for name in KINDS if name != "aggregate"])
def test_a_delta_does_not_depend_on_where_state_lies(name: str) -> None:
    """In small tables, what is freed is used again, and entries and rows stand elsewhere."""
    for states, others in zip(captures(document(name), "kept"), captures(document(name), "kept", capacity=TINY), strict=True):
        for two, same_two in zip(pairwise(states), pairwise(others), strict=True):
            tables = [difference(*each).tables for each in (two, same_two)]
            assert all(np.array_equal(one, other) for one, other in zip(*tables, strict=True))


def test_nothing_changed_stores_nothing() -> None:
    for states in captures(document("join"), "kept"):
        delta = difference(states[-1], states[-1])
        assert not len(delta.entries)
        assert not len(delta.rows)


@pytest.mark.parametrize("name", KINDS)
def test_bytes_are_those_of_what_has_changed(name: str) -> None:
    """Of a state that only grows, the deltas add up to it. What is gone counts by number. A delta from nothing is the whole state."""
    run = simulated(document(name))
    world, o = run._world, run._plan.operators.index("kept")
    keeping, groups = keeping_of(world, o), keyed_state.key_groups(world.arrays, o)[1]
    i = int(np.flatnonzero(world.arrays.inst[:, L.I_OP] == o)[0])
    empty = keyed_state.capture(world, keeping, i, 0, groups)
    before, added, gone_in_all = empty, 0, 0
    for moment in range(1, 13):
        run.run_until(moment * 5_000_000)
        after = keyed_state.capture(world, keeping, i, 0, groups)
        assert size_of(world.arrays, keeping, i, empty, difference(empty, after)) == (after.state_bytes, 0)
        written_bytes, gone = size_of(world.arrays, keeping, i, before, difference(before, after))
        assert 0 <= written_bytes <= after.state_bytes
        added, gone_in_all, before = added + written_bytes, gone_in_all + gone, after
    if name.startswith("join") and "full" in str(KINDS[name]):  # rows are added, none goes
        assert gone_in_all == 0
        assert before.state_bytes <= added < 1.5 * before.state_bytes  # an entry that gets a row counts its key again
    elif "window" in name or "session" in name or "ttl_s" in KINDS[name]:
        assert gone_in_all > 0


def state_of(contents: dict[int, list[int]]) -> KeyedState:
    """An entry with one word for each key, with the rows given: in the layout of an operator with one side."""
    words = np.zeros((len(contents), L.S_VALUES + 1), np.int64)
    rows = np.zeros((sum(map(len, contents.values())), L.R_VALUES + 1), np.int64)
    words[:, L.S_KEY] = sorted(contents)
    words[:, L.S_COUNT] = [len(contents[key]) for key in sorted(contents)]
    rows[:, L.R_VALUES] = [value for key in sorted(contents) for value in contents[key]]
    none = np.zeros((len(contents), 0), np.int64)
    return KeyedState(words, rows, words[:, [L.S_COUNT]], np.zeros((0, 2), np.int64), none, words[:, L.S_COUNT] + 1, np.zeros(4, np.int64))


CONTENTS = st.dictionaries(st.integers(0, 5), st.lists(st.integers(0, 2), max_size=5))


@given(CONTENTS, CONTENTS)
def test_any_state_follows_from_any_other(before: dict[int, list[int]], after: dict[int, list[int]]) -> None:
    one, other = state_of(before), state_of(after)
    delta = difference(one, other)
    assert applied(one, delta).to_bytes() == other.to_bytes()
    kept = {key: [*rows] for key, rows in before.items() if key in after}
    fresh: dict[int, int] = {}
    for key, rows in after.items():
        for value in rows:
            if value in kept.get(key, []):
                kept[key].remove(value)
            else:
                fresh[key] = fresh.get(key, 0) + 1
    assert len(delta.rows) == sum(fresh.values()), "rows of a key are stored again only as often as it has more of them than before"
    assert len(delta.entries) == sum(key not in before or key in fresh or len(rows) != len(before[key]) for key, rows in after.items())


def test_an_entry_of_another_pane_is_another_entry() -> None:
    """Each key has one window at a time, and the next one follows it."""
    one, other = state_of({1: [5, 6], 2: [7]}), state_of({1: [5, 6], 2: [7]})
    other.entries[0, L.S_PANE] = 20
    assert difference(one, other).entry_origin.tolist() == [-1, 1]
