"""Stores behind operators: what operators keep is what their stores hold, whatever a run is cut into, and their work is charged.

What this catches: a change that a kernel does not note, or notes twice; results that depend on the store; a store that depends on how often
the loop handed back, or on frames; a saved run whose store goes on differently; costs that are not part of the service.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core import layout as L
from engine.core.control.background import background_ns
from engine.core.control.keyed_state import KeyedState, capture, key_groups
from engine.core.tables import Capacity
from engine.simulation.simulation import Simulation
from engine.state.stores import Stores, Task
from tests.support.agreement import TINY, frames_of
from tests.support.stored import SECOND, Layout, in_memory, stored


def stores(simulation: Simulation) -> Stores:
    found = simulation._stores
    assert found is not None
    found.settle(simulation._world, simulation.now_ns)
    return found


def contents(task: Task) -> dict[tuple[int, ...], int]:
    """Values by key in words: of the tree, below what is dirty in the cache."""
    found = task.store.tree.contents()
    held = dict(zip(found.keys.tolist(), found.values.tolist(), strict=True))
    for key, value, is_tombstone, is_dirty in task.store.cache.entries():
        if is_dirty and is_tombstone:
            held.pop(key, None)
        elif is_dirty:
            held[key] = value
    words = task.store.keys.of(np.array(list(held), np.int64))
    return dict(zip(map(tuple, words.tolist()), held.values(), strict=True))


def captured(simulation: Simulation, i: int) -> KeyedState:
    world = simulation._world
    o = int(world.arrays.inst[i, L.I_OP])
    keeping = world.keepings[o]
    assert keeping is not None
    return capture(world, keeping, i, 0, key_groups(world.arrays, o)[1])


def ran(document: dict, until_s: float, **options: object) -> Simulation:  # type: ignore[type-arg]
    simulation = Simulation(document, **options)  # type: ignore[arg-type]
    simulation.run_until(round(until_s * SECOND))
    return simulation


@pytest.mark.parametrize("layout", ["fold", "retain"])
@pytest.mark.parametrize("until_s", [2.0, 2.6, 3.999])
def test_a_store_holds_what_its_operator_keeps(layout: Layout, until_s: float) -> None:
    simulation = ran(stored(layout), until_s)
    total = 0
    for task in stores(simulation).tasks:
        state = captured(simulation, task.instance)
        groups = state.entries[:, [L.S_KEY, L.S_PANE]].tolist()
        counts = state.entries[:, L.S_COUNT] if layout == "retain" else np.ones(len(groups), np.int64)
        held = [words[:2] for words in contents(task)]
        assert sorted(held) == sorted(tuple(group) for group, count in zip(groups, counts.tolist(), strict=True) for _ in range(count))
        total += len(held)
    assert total > 0 or until_s == 2.0


@pytest.mark.parametrize(("layout", "records"), [("fold", "one"), ("retain", "two"), ("join", "batches")])
def test_how_many_records_go_to_the_changelog(layout: Layout, records: str) -> None:
    """A2 and A8 of the specification: each update and each closed window; each record twice; of a key, what a commit finds."""
    simulation = ran(stored(layout, horizon_s=4), 4)
    summary = simulation.summary()
    tasks = stores(simulation).tasks
    appended, dirty = (sum(of) for of in zip(*((task.store.log.end, task.store.cache.dirty) for task in tasks), strict=True))
    mine = simulation._world.arrays.inst[[task.instance for task in tasks]]
    taken, closed = int(mine[:, L.I_IN].sum()), int(mine[:, L.I_EMITTED].sum())
    if records == "one":
        assert appended + dirty == taken + closed
    elif records == "two":
        open_ = sum(len(contents(task)) for task in tasks)
        assert appended + dirty == 2 * taken - open_
    else:
        assert summary["state"]["commits"] == 4
        assert 0 < appended <= 10 * 2 * 2  # keys, sides, commits
        assert sum(task.store.log.read().is_tombstone.sum() for task in stores(simulation).tasks) == 0


def test_a_batch_of_one_sends_each_change_of_retained_records_by_itself() -> None:
    """A-6: it changes nothing where each update reads before it writes."""
    for layout in ("fold", "retain"):
        calls = []
        for batch in (500, 1):
            simulation = ran(stored(layout, horizon_s=2.2, per_s=6250, cache={"batch": batch, "objects": 1000}), 2.2)  # type: ignore[arg-type]
            outs = [task.store.cache.write_outs for task in stores(simulation).tasks]
            calls.append(sum(sum(of.values()) for of in outs))
        if layout == "fold":
            assert calls[0] == pytest.approx(calls[1], abs=2)  # what is dirty at the end
        else:
            assert calls[1] >= 100 * calls[0]


@pytest.mark.parametrize("layout", ["fold", "retain", "join"])
def test_results_are_those_without_a_store(layout: Layout) -> None:
    """At costs of nothing, all that a store may change is nothing."""
    free = {"costs": {"scan_us": 0, "get_us": 0, "write_us": 0}, "sender": {"cpu_us": 0}}
    document = stored(layout, **free)
    one = ran(document, 4, keep_outputs=True)
    other = ran(in_memory(document), 4, keep_outputs=True)
    assert len(one.output_rows()) > 20
    assert one.output_rows().tolist() == other.output_rows().tolist()


@pytest.mark.parametrize("layout", ["fold", "retain", "join"])
@pytest.mark.parametrize("kind", ["changelog", "changelog_memory"])
def test_the_same_however_the_run_is_cut(layout: Layout, kind: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    document = stored(layout, kind=kind, horizon_s=3)
    whole = ran(document, 3)
    tiny = Simulation(document, capacity=Capacity(**{**vars(TINY), "changes": 1}))
    for at_s in (0.3, 0.31, 1.5, 1.77, 2.25):
        tiny.run_until(round(at_s * SECOND))
        tiny.digest()
    tiny.save(tmp_path / "run")
    resumed, fork = Simulation.resume(document, tmp_path / "run"), tiny.fork()
    for one in (tiny, resumed, fork):
        while one.advance():
            pass
        one.run_until(3 * SECOND)
        assert one.digest() == whole.digest()
        assert one.summary()["state"] == whole.summary()["state"]


@settings(max_examples=10)
@given(
    layout=st.sampled_from(["fold", "retain"]),
    seed=st.integers(0, 1000),
    segment_ms=st.sampled_from([20, 300, 10_000]),
    batch=st.integers(1, 40),
    buffer_mb=st.sampled_from([0.002, 32]),
)
def test_the_changelog_gives_the_store_back(layout: Layout, seed: int, segment_ms: int, batch: int, buffer_mb: float) -> None:
    """After a commit, with and without the disk; what the broker has compacted meanwhile changes nothing."""
    document = stored(
        layout,
        per_s=300,
        commit_s=1,
        cache={"batch": batch, "objects": max(batch, 20)},
        tree={"buffer_mb": buffer_mb},
        changelog={"compacted": True, "segment_ms": segment_ms, "dirty_ratio": 0.1},
        cleaner={"backoff_s": 0.2, "setup_ms": 5},
    )
    document["workload"]["seed"] = seed
    simulation = ran(document, 3.7)
    for task in stores(simulation).tasks:
        now_ns = task.store.commit(simulation.now_ns)
        before = contents(task)
        for disk_lost in (False, True):
            task.store.crash(now_ns, disk_lost)
            assert task.store.restore(now_ns).way == ("changelog" if disk_lost else "local")
            assert contents(task) == before


def test_a_commit_counts_when_all_of_it_is_on_disk() -> None:
    """A crash amid its flush goes back to the one before."""
    simulation = ran(stored("fold", tree={"disk_mb_per_s": 0.1}), 3.7)
    task = stores(simulation).tasks[0]
    first = task.store.offset
    ends_ns = task.store.commit(simulation.now_ns)
    assert ends_ns - simulation.now_ns > 10**9
    before = contents(task)
    task.store.crash(ends_ns - 1, disk_lost=False)
    assert task.store.offset == first >= 0
    assert task.store.restore(ends_ns).records > 100
    assert contents(task) == before


def test_one_live_record_that_is_missing_from_the_log_is_missing_from_the_store() -> None:
    simulation = ran(stored("retain"), 3.5)
    task = stores(simulation).tasks[0]
    task.store.commit(simulation.now_ns)
    before = contents(task)
    live = max(before.values())
    for n, part in enumerate(task.store.log._active):
        task.store.log._active[n] = part.chosen(part.values != live)
    task.store.crash(simulation.now_ns, disk_lost=True)
    task.store.restore(simulation.now_ns)
    assert contents(task) == {words: value for words, value in before.items() if value != live}


def test_the_costs_of_a_store_are_part_of_services() -> None:
    """An update reads and writes; a window that ends reads and deletes, of retained records each."""
    for layout in ("fold", "retain"):
        document = stored(layout, horizon_s=2, costs={"scan_us": 10, "get_us": 0, "write_us": 3})  # type: ignore[arg-type]
        document["query"]["operators"][1]["cost"] = {"record_us": 0, "output_us": 0, "control_us": 0}
        simulation = ran(document, 1.9)
        w = simulation._world.arrays
        mine = [task.instance for task in stores(simulation).tasks]
        taken, closed = int(w.inst[mine, L.I_IN].sum()), int(w.inst[mine, L.I_EMITTED].sum())
        open_ = sum(len(contents(task)) for task in stores(simulation).tasks)
        gone = closed if layout == "fold" else taken - open_
        reads = closed if layout == "retain" else taken + closed
        busy_us = w.inst[mine, L.I_BUSY].sum() / 1000
        assert busy_us == pytest.approx(10 * reads + 3 * (taken + gone), abs=2 * (taken + closed) / 1000)


def test_senders_take_the_cores_of_their_host() -> None:
    simulation = ran(stored("fold", horizon_s=3, sender={"request_us": 1000, "cpu_us": 300}), 2.2)
    found = stores(simulation)
    requests = sum(task.charged for task in found.tasks)
    spent_ns = background_ns(simulation._world.arrays, simulation.now_ns)[0]
    assert requests > 500
    assert spent_ns == pytest.approx(requests * 300_000, rel=0.1)


SLOW_DISK = {"buffer_mb": 0.01, "buffers": 2, "disk_mb_per_s": 0.01, "flush_kb": 0, "runs_max": 1000}


def test_full_buffers_hold_the_operator_back() -> None:
    """A write stall: an operator serves what its disk takes, and stands still for the rest of the time."""
    served, stalled_ms = [], []
    for tree in ({}, SLOW_DISK, {**SLOW_DISK, "disk_mb_per_s": 0.005}):
        simulation = ran(stored("retain", horizon_s=8, per_s=1000, commit_s=7, tree=tree), 7.9)
        inst = simulation._world.arrays.inst
        served.append(int(inst[inst[:, L.I_OP] == 1, L.I_IN].sum()))
        stalled_ms.append(simulation.summary()["state"]["stalled_ms"])
    assert served[0] == 7900
    assert stalled_ms[0] == 0
    assert 0.45 * served[1] < served[2] < 0.75 * served[1] < 0.6 * served[0]
    assert all(0.8 * 2 * 7900 < ms < 2 * 7900 for ms in stalled_ms[1:])  # of two instances


def test_a_stall_does_not_depend_on_how_the_run_is_cut(tmp_path) -> None:  # type: ignore[no-untyped-def]
    document = stored("retain", per_s=1000, commit_s=1.5, tree=SLOW_DISK)
    whole = ran(document, 4)
    tiny = ran(document, 0.9, capacity=Capacity(**{**vars(TINY), "changes": 1}))
    tiny.save(tmp_path / "run")
    for one in (tiny, Simulation.resume(document, tmp_path / "run"), tiny.fork()):
        for until_s in (1.1, 1.51, 2.2, 4):
            one.run_until(round(until_s * SECOND))
        assert one.digest() == whole.digest()


def test_a_full_disk_of_the_broker_ends_the_run() -> None:
    simulation = Simulation(stored("retain", broker={"disk_mb": 0.1}, changelog={}))
    frames = frames_of(simulation)
    assert simulation.exhaustion.startswith("the broker's disk was full at 1")
    assert "above its 100,000; give it more (policies.state.broker.disk_mb)" in simulation.exhaustion
    assert simulation.summary()["exhaustion"] == simulation.exhaustion
    assert frames[-1]["t_s"] < 3
    assert Simulation(stored("retain", changelog={})).exhaustion == ""


def test_commits_are_not_aligned_with_the_start_and_differ_by_seed() -> None:
    phases = []
    for seed in range(5):
        document = stored()
        document["workload"]["seed"] = seed
        phases.append(min(Simulation(document)._stores._commits_ns.values()))  # type: ignore[union-attr]
    assert len(set(phases)) == 5
    assert all(0 < phase <= 1.5 * SECOND for phase in phases)


def test_ten_more_bytes_of_each_key_are_ten_more_of_each_record() -> None:
    """9.16 of the specification."""
    sizes = []
    for text in ("gemPackID", "gemPackID" + "x" * 10):
        simulation = ran(stored("fold", key_text=text, changelog={}), 4)
        sizes.append((sum(task.store.log.bytes for task in stores(simulation).tasks), simulation.summary()["state"]["appended"]))
    assert sizes[1][1] == sizes[0][1]
    assert sizes[1][0] - sizes[0][0] == 10 * sizes[0][1]


@pytest.mark.parametrize("layout", ["fold", "retain"])
def test_a_restore_at_the_end_reads_the_whole_changelog_and_changes_nothing(layout: Layout) -> None:
    one, other = (ran(stored(layout, restores_at_end=tried), 3.5) for tried in (True, False))
    summary = one.summary()["state"]
    found = [task.store for task in stores(one).tasks]
    assert summary["restore_records"] in [store.log.count for store in found]
    assert {name: value for name, value in summary.items() if not name.startswith("restore_")} == other.summary()["state"]
    before = [contents(task) for task in stores(one).tasks]
    one.summary()
    assert [contents(task) for task in stores(one).tasks] == before
    costs = found[0].settings.costs
    least = costs.read_ns + costs.ascending_ns
    assert summary["restore_ms"] * 1e6 > least * summary["restore_records"]
