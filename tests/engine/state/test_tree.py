"""The log-structured merge tree against a dict (specification of incremental checkpointing, A4).

What this catches: an older version that comes back, because a tombstone went too early; a version lost in a flush or a merge; a write that
does not stall, or forever; what stays in memory after a crash; amplification that does not follow from bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.state.store_keys import StoreKeys
from engine.state.tree import Entries, Tree, TreeSettings

SECOND = 1_000_000_000
SMALL: dict[str, Any] = {
    "buffer_bytes": 150,
    "level_bytes": 60,
    "file_bytes": 30,
    "level_factor": 2,
    "flush_bytes": 10,
    "disk_bytes_per_s": 1e6,
}
SETTINGS = st.builds(
    lambda compaction, buffers, runs_max: TreeSettings(compaction=compaction, buffers=buffers, runs_max=runs_max, **SMALL),
    st.sampled_from(["universal", "leveled"]),
    st.integers(2, 4),
    st.integers(2, 4),
)


def twelve_keys() -> StoreKeys:
    """In an order that is not that of their numbers."""
    keys = StoreKeys()
    numbers = np.arange(12)
    keys.add(numbers * 5 % 3, numbers * 7 % 12, numbers)
    return keys


def entries(rows: list[tuple[int, int, int, int, bool]]) -> Entries:
    """Rows of key, value, bytes, time, and whether it is a tombstone."""
    columns = [*zip(*rows, strict=True)]
    return Entries(*(np.array(column, np.int64) for column in columns[:4]), np.array(columns[4], bool))


def as_dict(found: Entries) -> dict[int, int]:
    return dict(zip(found.keys.tolist(), found.values.tolist(), strict=True))


@given(SETTINGS, st.integers(0, 2**32))
def test_a_tree_contains_what_a_dict_does(settings: TreeSettings, seed: int) -> None:
    keys = twelve_keys()
    tree = Tree(keys, settings)
    chance = np.random.default_rng(seed)
    now = count = 0
    history: list[tuple[int, int, bool]] = []  # key, value, whether it is a tombstone
    for kind in chance.choice(["put", "flush", "wait", "crash"], 80, p=[0.5, 0.2, 0.25, 0.05]):
        if kind == "put":
            rows = []
            for key, size in zip(chance.integers(0, 12, chance.integers(1, 9)), chance.integers(1, 40, 9), strict=False):
                count += 1
                rows.append((int(key), count, int(size), now, bool(chance.random() < 0.4)))
                history.append((int(key), count, rows[-1][4]))
            now += tree.put(entries(rows))
        elif kind == "flush":
            now = tree.flush(now)
        elif kind == "wait":
            now += int(chance.choice([1, 1000, SECOND]))
            tree.advance(now)
        else:
            tree.advance(now)
            in_memory = sum(len(part) for buffer in (*tree.full, tree.active) for part in buffer.parts)
            tree.crash(now)
            del history[len(history) - in_memory :]
        expected: dict[int, int] = {}
        for key, value, is_tombstone in history:
            expected.pop(key, None)
            if not is_tombstone:
                expected[key] = value
        assert as_dict(tree.contents()) == expected
        _look(tree, keys)


def _look(tree: Tree, keys: StoreKeys) -> None:
    for n, level in enumerate(tree.levels):
        for run in level:
            ranks = keys.ranks(run.entries.keys)
            assert (np.diff(ranks) > 0).all(), "each key once, in order"
        if n > 0:
            together = np.concatenate([np.zeros(0, np.int64), *(run.entries.keys for run in level)])
            assert (np.diff(keys.ranks(together)) > 0).all(), "files of a level do not overlap"
    if not any(tree.levels[1:]) and len(tree.levels[0]) == 1 and tree.written[-1].kind == "merge":
        assert not tree.levels[0][0].entries.is_tombstone.any(), "of a merge of all"
    assert len(tree.full) < tree.settings.buffers


def test_writes_stall_while_all_buffers_are_full() -> None:
    keys = twelve_keys()
    settings = TreeSettings(buffer_bytes=100, buffers=2, flush_bytes=500, disk_bytes_per_s=1000)
    tree = Tree(keys, settings)
    rows = [(n % 12, n, 72, n, False) for n in range(3)]  # each fills a buffer
    assert tree.put(entries(rows[:1])) == 0
    assert tree.put(entries(rows[1:2])) == 0, "the first is being flushed, the second is in the other"
    flush_s = (500 + round(0.35 * 80)) / 1000
    assert tree.put(entries(rows[2:])) == pytest.approx(flush_s * 1e9, abs=2)
    assert tree.stalled_ns == pytest.approx(flush_s * 1e9, abs=2)


def test_a_flush_keeps_the_newest_version_and_the_tombstone() -> None:
    tree = Tree(twelve_keys(), TreeSettings())
    tree.put(entries([(1, 1, 30, 0, False), (1, 2, 30, 1, False), (2, 3, 30, 2, False), (2, 4, 26, 3, True)]))
    tree.advance(tree.flush(4))
    (run,) = tree.levels[0]
    assert sorted(zip(run.entries.keys.tolist(), run.entries.values.tolist(), run.entries.is_tombstone.tolist(), strict=True)) == [
        (1, 2, False),
        (2, 4, True),
    ]
    assert run.bytes == round(0.35 * 38 + 7.5)
    assert [(write.kind, write.bytes) for write in tree.written] == [("flush", run.bytes + 100_000)]
    assert tree.write_amplification == pytest.approx((run.bytes + 100_000) / 116)
    assert tree.read_amplification == 2


def test_entries_expire_when_their_run_is_written_and_no_older_version_comes_back() -> None:
    tree = Tree(twelve_keys(), TreeSettings(ttl_ns=10 * SECOND, runs_max=3))
    for n in range(2):
        tree.put(entries([(5, n + 1, 30, n * SECOND, False)]))
        tree.advance(tree.flush(n * SECOND))
    assert as_dict(tree.contents()) == {5: 2}
    tree.put(entries([(6, 3, 30, 60 * SECOND, False)]))
    tree.advance(tree.flush(60 * SECOND))
    assert as_dict(tree.contents()) == {5: 2, 6: 3}, "until a merge, reads still see it"
    tree.advance(61 * SECOND)
    assert as_dict(tree.contents()) == {6: 3}
    tree.put(entries([(6, 4, 30, 62 * SECOND, False)]))
    tree.advance(tree.flush(100 * SECOND))
    assert as_dict(tree.contents()) == {}, "expired at the flush, with an older version below"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"buffers": 1}, "buffers is 1"),
        ({"buffer_bytes": 0}, "buffer_bytes is 0"),
        ({"ttl_ns": 0}, "ttl_ns is 0"),
        ({"runs_max": 1}, "runs_max is 1"),
    ],
)
def test_settings_that_cannot_be(given: dict[str, int], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        TreeSettings(**given)
