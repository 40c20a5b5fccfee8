"""Logs of topics against lists and a dict (specification of incremental checkpointing, 9.2, 9.4 to 9.6).

What this catches: a newest value that compaction drops; offsets that change; an active segment that is cleaned; a tombstone that goes while
an older value of its key stays, so that the key comes back; segments that are closed by a timer; a dirty share that counts the active one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.services.topics import LogSettings, Partition, Records
from tests.support.topic_twin import Twin, contents

STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("append"), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5), st.integers(1, 30), st.booleans()), max_size=12)
        ),
        st.tuples(
            st.just("clean"), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5), st.integers(1, 30), st.booleans()), max_size=4)
        ),
    ),
    max_size=25,
)
SETTINGS = st.builds(
    LogSettings,
    segment_ns=st.sampled_from([1, 30, 100]),
    segment_bytes=st.sampled_from([40, 90, 10_000]),
    delete_retention_ns=st.sampled_from([0, 50, 400]),
    tombstone_rule=st.sampled_from(["merged_segment_mtime", "per_record_horizon"]),
    keys_max=st.sampled_from([6, 100]),
)


def entries_of(records: Records) -> list[Any]:
    columns = (records.offsets, records.keys, records.sizes, records.values, records.is_tombstone)
    return [*zip(*(column.tolist() for column in columns), strict=True)]


class Both:
    """The log and its twin, with the same records."""

    def __init__(self, settings: LogSettings):
        self.log, self.twin, self.now_ns = Partition(settings), Twin(settings), 0

    def append(self, records: list[tuple[int, int, int, bool]]) -> None:
        times, keys, sizes, values = [], [], [], []
        for later_ns, key, size, is_tombstone in records:
            self.now_ns += later_ns
            times.append(self.now_ns)
            keys.append(key)
            sizes.append(size)
            values.append(self.twin.end)
            self.twin.append(self.now_ns, key, size, values[-1], is_tombstone)
        columns = [np.array(column, np.int64) for column in (times, keys, sizes, values)]
        self.log.append(*columns, np.array([one[3] for one in records], bool))

    def clean(self, meanwhile: list[tuple[int, int, int, bool]]) -> None:
        before = contents(entries_of(self.log.read()))
        one, other = self.log.cleaning(self.now_ns), self.twin.cleaning(self.now_ns)
        active = entries_of(self.log.read())[-len(self.twin.active.entries) :] if self.twin.active.entries else []
        assert active == self.twin.active.entries
        assert contents(entries_of(self.log.read())) == before, "a pass changes nothing before it ends"
        self.append(meanwhile)
        expected = contents(entries_of(self.log.read()))
        self.log.swap(one)
        self.twin.swap(other)
        assert contents(entries_of(self.log.read())) == expected, "what a reader ends with stays"

    def compare(self) -> None:
        assert entries_of(self.log.read()) == self.twin.entries()
        sizes = [sum(part.bytes for part in parts) for parts in (self.twin.clean, self.twin.dirty, [self.twin.active])]
        assert [self.log.clean_bytes, self.log.dirty_bytes, self.log.bytes] == [*sizes[:2], sum(sizes)]
        assert self.log.dirty_share == (sizes[1] / sum(sizes[:2]) if sum(sizes[:2]) else 0.0)


@given(SETTINGS, STEPS)
def test_a_log_is_what_lists_and_a_dict_would_be(settings: LogSettings, steps: list[Any]) -> None:
    both = Both(settings)
    for what, records in steps:
        (both.append if what == "append" else both.clean)(records)
        both.compare()


@given(SETTINGS, STEPS)
def test_a_tombstone_stays_as_long_as_an_older_value_of_its_key(settings: LogSettings, steps: list[Any]) -> None:
    """Else the key would come back."""
    both, deleted = Both(settings), set()
    for what, records in steps:
        (both.append if what == "append" else both.clean)(records)
        state = {}
        for _, key, _, _, is_tombstone in both.twin.entries():
            state[key] = not is_tombstone
        deleted = {key for key, is_there in state.items() if not is_there}
        assert not deleted & contents(entries_of(both.log.read())).keys()


def filled(log: Partition, times_ns: list[int], keys: list[int] | None = None) -> Partition:
    count = len(times_ns)
    columns = [np.array(column, np.int64) for column in (times_ns, keys or [0] * count, [10] * count, range(count))]
    log.append(*columns, np.zeros(count, bool))
    return log


def test_segments_are_closed_on_an_append_alone() -> None:
    log = filled(Partition(LogSettings(segment_ns=100)), [0, 50, 100])
    assert (log.rolled, log.dirty_bytes, log.bytes) == (0, 0, 30)
    assert not log.is_due, "an idle log keeps its last segment active, however old"
    filled(log, [101])
    assert (log.rolled, log.dirty_bytes, log.bytes) == (1, 30, 40)


def test_a_log_is_due_above_its_share_and_not_at_it() -> None:
    log = filled(Partition(LogSettings(segment_ns=1, dirty_share=0.5)), [0, 10, 20], [1, 2, 3])
    log.swap(log.cleaning(20))
    assert (log.clean_bytes, log.dirty_bytes) == (20, 0)
    filled(log, [30, 40], [4, 5])
    assert (log.dirty_bytes, log.dirty_share) == (20, 0.5)
    assert not log.is_due
    filled(log, [50])
    assert log.is_due
    assert not Partition(LogSettings(dirty_share=0.0)).is_due, "an empty log is never due"


def test_a_merged_segment_keeps_its_tombstones_for_ever() -> None:
    """KAFKA-8522: the only clean segment is never older than itself by the retention. Later versions remember each tombstone."""
    left = []
    for tombstone_rule in ("merged_segment_mtime", "per_record_horizon"):
        log = Partition(LogSettings(segment_ns=1, delete_retention_ns=5, tombstone_rule=tombstone_rule))  # type: ignore[arg-type]
        for n in range(20):
            times = np.array([100 * n, 100 * n + 10])
            log.append(times, np.array([n, n]), np.array([10, 10]), np.array([n, 0]), np.array([False, True]))
            log.swap(log.cleaning(100 * n + 11))
        left.append(int(log.read().is_tombstone.sum()))
    assert left[0] == 20
    assert left[1] <= 3


def test_a_tombstone_that_goes_too_early_brings_a_key_back_to_who_has_not_read_it() -> None:
    """A store that was away longer than the retention: it has the value, and the log no longer says that it is gone."""
    log = Partition(LogSettings(segment_ns=1, delete_retention_ns=0, tombstone_rule="per_record_horizon"))
    filled(log, [0])
    store, read_to = contents(entries_of(log.read())), log.end
    log.append(np.array([10, 20]), np.array([0, 1]), np.array([10, 10]), np.array([0, 7]), np.array([True, False]))
    for now_ns in (30, 40):
        filled(log, [now_ns], [1])
        log.swap(log.cleaning(now_ns))
    entries = entries_of(log.read(read_to))
    store |= contents(entries)
    assert store.keys() == {0, 1}, "key 0 was deleted"
    assert contents(entries_of(log.read())).keys() == {1}


def test_a_pass_takes_as_many_segments_as_its_memory_holds_keys_of() -> None:
    log = filled(Partition(LogSettings(segment_ns=1, keys_max=3)), [0, 10, 20, 30, 40], [1, 2, 1, 3, 4])
    pass_ = log.cleaning(40)
    assert pass_.end == 4
    log.swap(pass_)
    assert [key for _, key, *_ in entries_of(log.read())] == [2, 1, 3, 4]
    with pytest.raises(ValueError, match="keys_max is 1, but a segment has 2 keys"):
        filled(Partition(LogSettings(segment_ns=5, keys_max=1)), [0, 1, 10], [1, 2, 3]).cleaning(10)


@pytest.mark.parametrize(
    ("about", "says"),
    [
        ({"segment_ns": 0}, "segment_ns is 0; it must be at least 1"),
        ({"segment_bytes": 0}, "segment_bytes is 0"),
        ({"dirty_share": 1.5}, "dirty_share is 1.5; it must be from 0 to 1"),
        ({"dirty_share": -0.1}, "dirty_share is -0.1"),
        ({"delete_retention_ns": -1}, "delete_retention_ns is -1"),
        ({"keys_max": 0}, "keys_max is 0"),
    ],
)
def test_wrong_settings_are_refused(about: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        LogSettings(**about)
