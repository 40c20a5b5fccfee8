"""Search trees of stored rows: counts and bounds over ranges, against looking at every row.

What this catches: rows that are lost or counted twice when a tree is split, bounds of subtrees that are not kept up to date, keys next
to a bound that a search passes by.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.core import layout as L
from engine.core.kernels.range_tree import (
    FOUND_LIST,
    FOUND_NEAR,
    FOUND_NEWER,
    FOUND_WORDS,
    TREE_COUNT,
    TREE_LINK,
    TREE_WORDS,
    add_to_tree,
    clear_found,
    find_range,
)

FIRST = L.R_VALUES
KEYS = st.one_of(st.floats(-1, 1), st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0]))


def added(table: NDArray[np.int64], root: int, r: int, key: float) -> int:
    with np.errstate(over="ignore"):  # hashes wrap
        return int(add_to_tree(table, table.view(np.float64), FIRST, np.int64(root), np.int64(r), key, r))


@given(
    rows=st.lists(st.tuples(KEYS, *[st.integers(0, 9)] * 3), min_size=1, max_size=60),
    ranges=st.lists(st.tuples(KEYS, KEYS), min_size=1, max_size=5),
    margin=st.sampled_from([1e-9, 0.1]),
    time=st.sampled_from([-1, 2, 5, 9]),
    order=st.sampled_from(["as drawn", "rising", "falling"]),
)
def test_ranges_hold_what_lies_in_them(
    rows: list[tuple[float, int, int, int]], ranges: list[tuple[float, float]], margin: float, time: int, order: str
) -> None:
    if order != "as drawn":
        rows = sorted(rows, reverse=order == "falling")
    table = np.zeros((len(rows), FIRST + TREE_WORDS), np.int64)
    floats = table.view(np.float64)
    root = 0
    for r, (key, newest, oldest, event) in enumerate(rows):
        table[r, [L.R_NEWEST, L.R_OLDEST, L.R_EVENT]] = newest, oldest, event
        root = added(table, root, r, key)
        assert table[root - 1, FIRST + TREE_COUNT] == r + 1
    for ends in ranges:
        low, high = sorted(ends)
        found = np.zeros((1, FOUND_WORDS), np.int64)
        clear_found(found, 0, 0)
        find_range(table, floats, FIRST, root, low, high, margin, time, found, 0, 0)
        inside = [r for r, (key, *_) in enumerate(rows) if low <= key <= high]
        older = np.array([rows[r][2:] for r in inside if rows[r][1] <= time], np.int64).reshape(-1, 2)
        newer = [r for r in inside if rows[r][1] > time]
        bounds = [older[:, 0].min(), older[:, 1].max(), older[:, 1].min()] if len(older) else [L.FAR, -L.FAR, L.FAR]
        assert found[0, : FOUND_NEWER + 1].tolist() == [len(older), *bounds, len(newer)]
        listed, r = [], found[0, FOUND_LIST] - 1
        while r >= 0:
            listed.append(int(r))
            r = table[r, FIRST + TREE_LINK] - 1
        assert listed == newer
        assert found[0, FOUND_NEAR] == any(low - margin < key < low or high < key < high + margin for key, *_ in rows)


def test_keys_in_order_make_no_list_of_the_tree() -> None:
    """A search takes some tens of steps, not thousands."""
    count = 4096
    table = np.zeros((count, FIRST + TREE_WORDS), np.int64)
    root = 0
    for r in range(count):
        root = added(table, root, r, r / count)
    depths = {root - 1: 1}
    for node in (waiting := [root - 1]):
        for below in table[node, FIRST : FIRST + 2].tolist():
            if below > 0:
                depths[below - 1] = depths[node] + 1
                waiting.append(below - 1)
    assert len(depths) == count
    assert max(depths.values()) < 60
