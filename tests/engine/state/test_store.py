"""A store with its changelog against a dict, under puts, deletes, commits, compaction and crashes (specification of incremental
checkpointing, 9.1, 9.4 and 9.8).

What this catches: a restore that does not replay the log; a change that is in the tree only, or in the log only; a commit that notes
records that are not on disk; a local store that is used although tombstones it has not seen are gone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.services.topics import LogSettings, Partition
from engine.state.cache import CacheSettings
from engine.state.kernels import DELETE, PUT, READ, SCAN
from engine.state.store import Store, StoreSettings
from engine.state.tree import TreeSettings
from tests.support.store_twins import CacheTwin

SECOND = 1_000_000_000
SMALL = TreeSettings(buffer_bytes=200, buffers=2, runs_max=2, flush_bytes=10, disk_bytes_per_s=1e6)
KINDS = [PUT, PUT, PUT, DELETE, READ, SCAN]
ROOMY = replace(SMALL, buffer_bytes=10_000)


def new_store(cache: CacheSettings, log: LogSettings | None = None, tree: TreeSettings = ROOMY, stale_ns: int | None = None) -> Store:
    settings = StoreSettings(cache=cache, tree=tree, stale_ns=stale_ns)
    store = Store(settings, Partition(log or LogSettings(segment_bytes=300, delete_retention_ns=0)))
    store.keys.add(np.arange(8) * 3 % 8, np.zeros(8, np.int64), np.arange(8))
    return store


def work(store: Store, rows: list[tuple[int, int, int, int, int]]) -> None:
    store.carry_out(np.array(rows, np.int64))


def as_dict(store: Store) -> dict[int, int]:
    found = store.tree.contents()
    return dict(zip(found.keys.tolist(), found.values.tolist(), strict=True))


@given(st.integers(1, 4), st.integers(0, 2**32))
def test_a_restored_store_is_what_left_the_cache(batch: int, seed: int) -> None:
    cache = CacheSettings(batch=batch, objects=batch + 2)
    retention_ns = 4000  # of tombstones; a local store that is older may have missed one
    log = LogSettings(segment_bytes=300, delete_retention_ns=retention_ns)
    store, twin = new_store(cache, log, SMALL, stale_ns=retention_ns), CacheTwin(cache)
    chance = np.random.default_rng(seed)
    now = count = 0
    expected: dict[int, int] = {}

    def note() -> None:
        for _, key, value, _, is_tombstone, _ in twin.left:
            expected.pop(key, None)
            if not is_tombstone:
                expected[key] = value
        twin.left.clear()

    for kind in chance.choice(["work", "commit", "clean", "process", "disk"], 60, p=[0.5, 0.2, 0.2, 0.06, 0.04]):
        now += 1000
        if kind == "work":
            for what, key in zip(chance.choice(KINDS, 8).tolist(), chance.integers(0, 8, 8).tolist(), strict=True):
                count += 1
                row = (what, now, key, count, 26 if what == DELETE else 40)
                work(store, [row])
                twin.carry_out(*row)
        elif kind == "commit":
            now = store.commit(now)
            twin.write_out(now, "commit")
        elif kind == "clean":
            if store.log.dirty_bytes:
                store.log.swap(store.log.cleaning(now))
        else:
            store.crash(now, disk_lost=kind == "disk")
            twin = CacheTwin(cache) if not twin.left else _emptied(twin)
            found = store.restore(now)
            assert found.way == "changelog" if kind == "disk" else found.way in ("local", "changelog")
            now += found.took_ns
        note()
        assert as_dict(store) == expected


def _emptied(twin: CacheTwin) -> CacheTwin:
    fresh = CacheTwin(twin.settings)
    fresh.left = twin.left
    return fresh


def test_the_disk_of_a_crashed_process_saves_most_of_the_replay() -> None:
    ways = {}
    for disk_lost in (False, True):
        store = new_store(CacheSettings(batch=1))
        work(store, [(PUT, n, n % 8, n, 40) for n in range(100)])
        store.commit(SECOND)
        work(store, [(PUT, 2 * SECOND + n, n % 8, 1000 + n, 40) for n in range(7)])
        store.crash(3 * SECOND, disk_lost)
        assert as_dict(store) == ({} if disk_lost else {key: max(n for n in range(100) if n % 8 == key) for key in range(8)})
        ways[disk_lost] = store.restore(3 * SECOND)
        assert as_dict(store) == {7: 95, **{key: 1000 + key for key in range(7)}}
    assert (ways[False].way, ways[False].records) == ("local", 7)
    assert (ways[True].way, ways[True].records) == ("changelog", 107)
    assert ways[False].took_ns < 0.1 * ways[True].took_ns


def test_a_disk_that_was_quicker_than_the_sender_is_not_used() -> None:
    """Changes after the last commit are on disk, while the request that brings them to the log is on its way."""
    settings = StoreSettings(cache=CacheSettings(batch=1), tree=SMALL, request_ns=2 * SECOND, may_crash=True)
    store = Store(settings, Partition(LogSettings(segment_bytes=300)))
    store.keys.add(np.arange(8), np.zeros(8, np.int64), np.arange(8))
    work(store, [(PUT, n, n, n, 40) for n in range(8)])
    now_ns = store.commit(SECOND)
    work(store, [(PUT, now_ns + 1 + n, n % 8, 1000 + n, 40) for n in range(24)])
    now_ns += SECOND
    store.advance(now_ns)
    assert as_dict(store) == {key: 1016 + key for key in range(8)}
    store.crash(now_ns, disk_lost=False)
    found = store.restore(now_ns)
    assert (found.way, found.reason) == ("changelog", "its disk has changes that its changelog has not")
    assert as_dict(store) == {0: 1000, **{key: key for key in range(1, 8)}}  # the first change left at once, and the others waited for it


def test_a_record_that_is_taken_out_of_the_log_is_missed() -> None:
    store = new_store(CacheSettings(batch=1))
    work(store, [(PUT, n, n, n, 40) for n in range(4)])
    store.crash(SECOND, disk_lost=True)
    part = store.log._active[0]
    store.log._active[:] = [part.chosen(part.keys != 2)]
    for rest in store.log._active[1:]:
        assert 2 not in rest.keys
    store.restore(SECOND)
    assert as_dict(store) == {0: 0, 1: 1, 3: 3}


def test_a_stale_local_store_would_bring_back_what_was_deleted() -> None:
    """Between its last commit and the crash, the log dropped a key with its tombstone."""
    contents = {}
    for stale_ns in (None, SECOND):
        log = LogSettings(segment_bytes=70, delete_retention_ns=0, tombstone_rule="per_record_horizon")
        store = new_store(CacheSettings(batch=1), log, stale_ns=stale_ns)
        work(store, [(PUT, 0, 1, 1, 40), (PUT, 1, 2, 2, 40)])
        store.commit(2)
        work(store, [(DELETE, 3 * SECOND, 1, 0, 26), (PUT, 3 * SECOND, 3, 3, 40), (PUT, 3 * SECOND, 4, 4, 40)])
        for n in (4, 5):
            store.log.swap(store.log.cleaning(n * SECOND))
            work(store, [(PUT, n * SECOND, 5 + n % 2, n, 40)])
        assert not store.log.read().is_tombstone.any()
        alive = as_dict(store)
        assert 1 not in alive
        store.crash(6 * SECOND, disk_lost=False)
        found = store.restore(6 * SECOND)
        contents[stale_ns] = as_dict(store)
        if stale_ns is None:
            assert (found.way, contents[None]) == ("local", {1: 1, **alive})
        else:
            assert (found.way, contents[SECOND]) == ("changelog", alive)
            assert "retained" in found.reason
