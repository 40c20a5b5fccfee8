"""Tasks with stores recover from crashes: at least once, and what counts twice is exactly what the changelog had and no commit covered.

What this catches: an update that is lost, or applied twice without having been in the log; a position that becomes durable before what was
read until then is stored; a result that gets lost with the windows it came from; a restore that gives another state than the log holds; a
recovery that depends on how the run was cut.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core import layout as L
from engine.core.control.instance_checkpoint import READ
from engine.simulation.simulation import Simulation
from engine.state.recovery import Outage, Recovery, _newest
from tests.support.cuts import assert_cuts_leave_no_trace, ended
from tests.support.stored import SECOND, Layout, crashing, one_task, stored

PER_S = 400.0


def experiment(layout: Layout, at_s: float, kind: str = "process_crash", **state: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"horizon_s": 5.0, "per_s": PER_S, "commit_s": 0.7, **state}
    return crashing(one_task(stored(layout, **given)), at_s, kind)


def recovery(simulation: Simulation) -> Recovery:
    assert simulation._stores is not None
    assert simulation._stores.recovery is not None
    return simulation._stores.recovery


def prices() -> list[int]:
    """Of the purchases, in the order in which the source reads them."""
    document = experiment("fold", 1.0)
    del document["policies"]["state"], document["faults"]
    document["query"]["operators"].pop(1)
    document["query"]["edges"] = [{"source": "purchases", "target": "output"}]
    del document["placement"]["hosts"]["revenue"]
    simulation = ended(document)
    column = simulation.sink_schema("output").names.index("price")
    return [int(row["values"][column]) for row in simulation.sink_records("output")]


def delivered(simulation: Simulation) -> list[tuple[int, int, int, int]]:
    """Key, window, result, and when it was delivered."""
    return [(row["values"][0], row["values"][1], row["values"][3], row["end_ns"]) for row in simulation.sink_records("output")]


def at_the_crash(document: dict[str, Any], at_s: float) -> tuple[int, int, int]:
    """Records that a commit covers, records whose update the log has, and the value of windows whose result had left although the log still
    holds them: of the run until the crash, in which the log has one put for each record."""
    simulation = Simulation(document, keep_outputs=True)
    simulation.run_until(round(at_s * SECOND))
    found = recovery(simulation)
    (task,), (commits,) = found.tasks, found.commits.values()
    covered = next((int(position.words[READ]) for position in commits.durable.values()), 0)
    log = task.store.log.read()
    logged = int((~log.is_tombstone).sum())
    newest = dict(zip(log.keys.tolist(), log.is_tombstone.tolist(), strict=True))
    is_open = {tuple(task.store.keys.of(np.array([key]))[0, :2].tolist()) for key, gone in newest.items() if not gone}
    again = sum(value for key, window, value, _ in delivered(simulation) if (key, window) in is_open)
    return covered, logged, again


@pytest.fixture(scope="module")
def paid() -> list[int]:
    return prices()


INSTANTS = np.random.default_rng(7).uniform(0.1, 2.9, 200).round(9).tolist()


def assert_counted_twice(layout: Layout, at_s: float, paid: list[int]) -> None:
    """The sum of all windows exceeds that of all purchases by those between the last commit and the end of the log, and by nothing else."""
    document = experiment(layout, at_s)
    simulation = ended(document)
    (outage,) = recovery(simulation).outages
    values = paid if layout == "fold" else [1] * len(paid)
    covered, logged, again = at_the_crash(document, at_s)
    assert sum(value for _, _, value, _ in delivered(simulation)) - sum(values) == sum(values[covered:logged]) + again
    assert covered <= logged
    assert outage.again >= logged - covered
    assert outage.again <= PER_S * 0.7 + 2


@pytest.mark.parametrize("at_s", INSTANTS[:6])
@pytest.mark.parametrize("layout", ["fold", "retain"])
def test_what_counts_twice_is_what_the_log_had(layout: Layout, at_s: float, paid: list[int]) -> None:
    assert_counted_twice(layout, at_s, paid)


@pytest.mark.deep
@pytest.mark.parametrize("layout", ["fold", "retain"])
@pytest.mark.parametrize("part", range(10))
def test_what_counts_twice_at_200_instants(layout: Layout, part: int, paid: list[int]) -> None:
    for at_s in INSTANTS[part::10]:
        assert_counted_twice(layout, at_s, paid)
        assert_counted_once(layout, at_s, paid)


def total(simulation: Simulation) -> int:
    return sum(value for _, _, value, _ in delivered(simulation))


def amid_a_commit(order: str, before: str, **state: Any) -> dict[str, Any]:
    """Retained purchases, of which the cache holds many when the third commit begins."""
    document = experiment("retain", 1.0, commit_order=order, **state)
    document["faults"][0]["when"] = {"kind": "in_commit", "commit": 3, "before": before}
    return document


def test_positions_before_the_flush_lose_what_the_cache_held(paid: list[int]) -> None:
    """The crash lies between the two durable steps of a commit."""
    lost = total(ended(amid_a_commit("offset_then_flush", "flush")))
    assert len(paid) - 300 < lost < len(paid) - 20
    for order, before in (("flush_then_offset", "flush"), ("flush_then_offset", "offset"), ("offset_then_flush", "offset")):
        assert total(ended(amid_a_commit(order, before))) >= len(paid)


def test_what_a_source_has_in_hand_is_not_covered(paid: list[int]) -> None:
    """A source that is nearly always busy reads a record when a commit begins. All since that commit is lost before the next flush, so
    each purchase counts once, but for those that were served while the commit waited."""
    document = amid_a_commit("flush_then_offset", "flush", cache={"batch": 5000, "objects": 5000})
    document["query"]["operators"][0]["cost"] = {"record_us": 2000}
    document["query"]["operators"][1]["params"]["window"]["size_s"] = 4
    for commit in (2, 3, 4):
        document["faults"][0]["when"]["commit"] = commit
        simulation = ended(document)
        (outage,) = recovery(simulation).outages
        assert outage.lost_changes > 200
        assert len(paid) <= total(simulation) <= len(paid) + 3


def test_what_an_operator_has_in_hand_is_not_covered() -> None:
    """Services of 50 ms last longer than a commit: a crash in one takes its change back, so no commit may count it."""
    for late_ms in range(2, 60, 6):
        document = experiment("fold", 1.273 + late_ms / 1000, per_s=15.0)
        document["query"]["operators"][1]["cost"] = {"record_us": 50_000}
        simulation, whole = ended(document), ended({**document, "faults": []})
        assert total(simulation) >= total(whole)


@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once"])
@pytest.mark.parametrize("at_s", [0.75, 0.9, 1.3])
def test_a_commit_waits_for_what_stands_in_line(guarantee: str, at_s: float) -> None:
    """One and a half seconds of work come in each second: records that were read before a commit wait for longer than a commit takes, and
    records that are read later would be in the stores as well, if sources read on."""
    document = experiment("fold", at_s, per_s=300.0, guarantee=guarantee, changelog={"transactions": True})
    document["query"]["operators"][1]["cost"] = {"record_us": 5000}
    document["workload"]["horizon_s"] = 9.0
    crashed, whole = ended(document), ended({**document, "faults": []})
    assert total(crashed) == total(whole) if guarantee == "exactly_once" else total(crashed) > total(whole)


def test_a_crash_before_the_positions_repeats_the_whole_span(paid: list[int]) -> None:
    """The log has all that the flush has brought there, and nothing of it is covered."""
    simulation = ended(amid_a_commit("flush_then_offset", "offset"))
    (outage,) = recovery(simulation).outages
    assert outage.lost_changes == 0
    assert total(simulation) == len(paid) + outage.again
    assert PER_S * 0.7 - 2 <= outage.again <= PER_S * 0.7 + 2
    assert [commits.begun for commits in recovery(simulation).commits.values()] == [7]  # those after the crash, too


def test_an_entry_is_as_its_newest_change_has_left_it() -> None:
    own, changes = np.array([0, 0, 0, 1, 2, 2]), np.array([5, 9, 3, 1, 7, 8])
    assert _newest(own, changes, 3).tolist() == [1, 3, 5]


def of_ways(layout: Layout, **state: Any) -> tuple[Outage, Outage, list[Any], list[Any]]:
    """The same crash with the disk and without it."""
    found = [ended(experiment(layout, 2.3, kind, changelog={}, **state)) for kind in ("process_crash", "disk_loss")]
    (local,), (remote,) = (recovery(one).outages for one in found)
    return local, remote, *([row[:3] for row in sorted(delivered(one))] for one in found)  # type: ignore[return-value]


@pytest.mark.parametrize("layout", ["fold", "retain", "join"])
def test_with_its_disk_a_store_reads_less_and_ends_up_the_same(layout: Layout) -> None:
    local, remote, rows, others = of_ways(layout)
    (mine,), (theirs,) = local.restored.values(), remote.restored.values()
    assert (mine.way, theirs.way, theirs.reason) == ("local", "changelog", "no commit has brought it to disk")
    assert mine.records < theirs.records / 1.5
    assert mine.took_ns < theirs.took_ns
    assert len(rows) == len(others)
    if layout != "join":  # windows that are open meanwhile depend on when it goes on
        assert sum(value for *_, value in rows) == sum(value for *_, value in others)


def test_without_its_tree_a_store_is_filled_from_the_changelog(paid: list[int]) -> None:
    document = experiment("fold", 2.3, changelog={})
    document["policies"]["state"]["kind"] = "changelog_memory"
    simulation = ended(document)
    (outage,) = recovery(simulation).outages
    assert [one.way for one in outage.restored.values()] == ["changelog"]
    assert total(simulation) >= sum(paid)


def test_it_goes_on_when_its_stores_are_filled() -> None:
    """Nothing is served between the crash and the end of the restore."""
    document = experiment("retain", 2.3, "disk_loss")
    simulation = Simulation(document, trace=True)
    while simulation.advance():
        pass
    (outage,) = recovery(simulation).outages
    (restored,) = outage.restored.values()
    assert outage.started_ns == outage.lost_ns + 300_000_000
    assert outage.ready_ns == outage.started_ns + restored.took_ns
    w = simulation._world.arrays
    here = np.flatnonzero(w.inst[:, L.I_HOST] == 0)
    trace = simulation.service_trace()
    starts = trace[np.isin(trace[:, 0], here)][:, 2]
    assert not ((starts > outage.lost_ns) & (starts <= outage.ready_ns)).any()
    assert (starts > outage.ready_ns).any()


@settings(max_examples=25)
@given(
    layout=st.sampled_from(["fold", "retain", "join"]),
    kind=st.sampled_from(["process_crash", "disk_loss", "host_loss"]),
    tasks=st.sampled_from([1, 2]),
    crashes=st.lists(st.floats(0.05, 2.95), min_size=1, max_size=4),
    restart_after_s=st.sampled_from([0.001, 0.2, 0.9]),
    batch=st.integers(1, 60),
    compacted=st.booleans(),
    cost_us=st.sampled_from([0, 900]),
    source_us=st.sampled_from([12, 2000]),
    clock=st.sampled_from(["processing", "event"]),
    lateness_ms=st.sampled_from([0, 500]),
    guarantee=st.sampled_from(["at_least_once", "exactly_once"]),
)
def test_nothing_is_lost(
    layout: Layout,
    kind: str,
    tasks: int,
    crashes: list[float],
    restart_after_s: float,
    batch: int,
    compacted: bool,
    cost_us: float,
    source_us: float,
    clock: str,
    lateness_ms: float,
    guarantee: str,
) -> None:
    """Whatever crashes when, overlapping or in the middle of a restore, each purchase counts at least once, or, if it is to, once, unless
    results had left before."""
    state = {
        "guarantee": guarantee,
        "cache": {"batch": batch, "objects": 100},
        "tree": {"buffer_mb": 0.01},
        "changelog": {"compacted": compacted, "segment_ms": 100, "dirty_ratio": 0.1, "delete_retention_ms": 2000, "transactions": True},
        "cleaner": {"backoff_s": 0.2, "setup_ms": 5},
        "sender": {"request_us": 5000},
    }
    document = stored(layout, horizon_s=12.0, per_s=PER_S, commit_s=0.6, **state)
    document = crashing(document if tasks == 2 else one_task(document), 1.0, kind, restart_after_s)
    fault = document["faults"][0]
    document["faults"] = [{**fault, "when": {"kind": "at", "at_s": round(at_s, 6)}} for at_s in crashes]
    for source in document["workload"]["sources"].values():
        source["rate"]["steps"][1]["at_s"] = 3
    document["query"]["operators"][-2]["cost"] = {"record_us": cost_us}
    document["query"]["operators"][0]["cost"] = {"record_us": source_us}
    if layout != "join" and clock == "event":
        document["query"]["operators"][1]["params"]["window"]["clock"] = clock
        document["query"]["operators"][1]["params"]["lateness_ms"] = lateness_ms
        document["workload"]["sources"]["purchases"]["watermarks"] = {"kind": "bounded", "lag_ms": 50, "period_ms": 100}
    simulation = ended(document)
    assert not recovery(simulation).open
    if layout == "join":
        pairs = {tuple(row["values"]) for row in simulation.sink_records("output")}
        plain = ended({**document, "faults": []})
        assert len(pairs) >= 0.5 * len({tuple(row["values"]) for row in plain.sink_records("output")})
        return
    whole = ended({**document, "faults": []})
    by_key: dict[int, int] = {}
    for key, _, value, _ in delivered(simulation):
        by_key[key] = by_key.get(key, 0) + value
    for key, _, value, _ in delivered(whole):
        by_key[key] = by_key.get(key, 0) - value
    assert min(by_key.values()) >= 0
    if guarantee == "exactly_once" and not lateness_ms and not any(outage.results_again for outage in recovery(simulation).outages):
        assert not any(by_key.values())


@pytest.mark.parametrize("layout", ["fold", "retain", "join"])
def test_a_recovery_does_not_depend_on_how_the_run_is_cut(layout: Layout, tmp_path: Any) -> None:
    document = crashing(stored(layout, horizon_s=4.0, per_s=300, commit_s=0.7, changelog={}), 1.31, restart_after_s=0.2)
    assert_cuts_leave_no_trace(document, (0.3, 0.31, 0.7004, 1.3, 1.4, 1.511, 1.6), tmp_path, "state")


def test_a_restore_that_a_crash_cuts_short_is_never_over() -> None:
    document = experiment("retain", 2.0, "disk_loss", costs={"scan_us": 1})
    fault = document["faults"][0]
    first = recovery(ended(document)).outages[0]
    middle_s = (first.started_ns + first.ready_ns) // 2 / SECOND
    document["faults"] = [fault, {**fault, "when": {"kind": "at", "at_s": round(middle_s, 9)}}]
    simulation = ended(document)
    cut, whole = recovery(simulation).outages
    assert cut.started_ns < whole.lost_ns < whole.ready_ns < L.FAR == cut.ready_ns
    assert simulation.summary()["state"]["outages"] == 2


EXACTLY = {"guarantee": "exactly_once", "changelog": {"transactions": True}}


def assert_counted_once(layout: Layout, at_s: float, paid: list[int], kind: str = "process_crash") -> None:
    """All windows together have what all purchases have, less the results that had left within the transaction that was cut short."""
    document = experiment(layout, at_s, kind, **EXACTLY)
    simulation = ended(document)
    (outage,) = recovery(simulation).outages
    before = Simulation(document, keep_outputs=True)
    before.run_until(round(at_s * SECOND) - 1)
    (task,) = recovery(before).tasks
    log = task.store.log.read(task.store.log.stable)
    closed = task.store.keys.of(log.keys[log.is_tombstone])[:, :2].tolist()
    closed += task.store.keys.of(task.store.cache.dirty_tombstones())[:, :2].tolist()
    twice = {(key, window) for key, window in closed}
    results = delivered(simulation)
    again = [value for key, window, value, end_ns in results if (key, window) in twice and end_ns <= outage.ready_ns]
    values = paid if layout == "fold" else [1] * len(paid)
    assert sum(value for *_, value, _ in results) - sum(again) == sum(values)
    assert outage.results_again == len(again)


@pytest.mark.parametrize("kind", ["process_crash", "disk_loss"])
@pytest.mark.parametrize("at_s", INSTANTS[:4])
@pytest.mark.parametrize("layout", ["fold", "retain"])
def test_exactly_once(layout: Layout, at_s: float, kind: str, paid: list[int]) -> None:
    assert_counted_once(layout, at_s, paid, kind)
