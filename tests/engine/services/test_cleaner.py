"""A broker's cleaner under the load of the thesis: sizes and times that it reports have to emerge (specification of incremental
checkpointing, A-14 to A-23 and 9.3).

What this catches: compaction as a limit of size; tombstones that go at the first pass; a table of policies; a thread that is busy for
another reason than its work; two threads on one log.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from engine.services.cleaner import Cleaner, CleanerSettings
from engine.services.topics import LogSettings, Partition
from tests.support.changelog_load import SECONDS, Layout, Outcome, loaded

AGGRESSIVE, RELAXED = (100, 0.01), (1000, 0.66)
LAYOUTS: tuple[Layout, ...] = ("fold", "retain")
GRID = [(segment_ms, share) for segment_ms in (100, 1000) for share in (0.01, 0.33, 0.66)]


@cache
def of(layout: Layout, segment_ms: int | None, share: float = 0.0) -> Outcome:
    return loaded(layout, segment_ms, share)


@pytest.mark.slow
def test_without_compaction_a_log_grows_by_what_is_written() -> None:
    """A-14: from bytes, 192 MB and 568 MB."""
    for layout, end_mb, within_mb in (("fold", 192, 2), ("retain", 568, 6)):
        found = of(layout, None)  # type: ignore[arg-type]
        assert found.samples_mb == sorted(found.samples_mb)
        assert found.samples_mb[-1] == pytest.approx(end_mb, abs=within_mb)


@pytest.mark.slow
def test_a_fold_stays_small_under_both_policies() -> None:
    """A-15, A-16, A-20."""
    aggressive, relaxed = of("fold", *AGGRESSIVE), of("fold", *RELAXED)
    assert np.mean(np.array(aggressive.samples_mb) < 2) >= 0.8
    others = [loaded("fold", *RELAXED, seed=seed) for seed in (2, 3, 4)]  # two threads that wake one after the other halve the most
    assert 4 <= max(one.most_mb for one in (relaxed, *others)) <= 12
    assert np.mean(np.array(relaxed.samples_mb) > 10) < 0.05
    assert relaxed.mean_mb >= 3 * aggressive.mean_mb
    assert relaxed.most_mb <= 0.06 * of("fold", None).most_mb


@pytest.mark.slow
def test_what_is_retained_leaves_its_tombstones() -> None:
    """A-17, A-18, A-20: 3 million tombstones of 60 bytes stay, since they are merged into a segment that is never old enough. Under the
    relaxed policy a pass waits for ever more dirty bytes, so the log exceeds 200 MB, and a pass takes it below."""
    aggressive, relaxed, none = of("retain", *AGGRESSIVE), of("retain", *RELAXED), of("retain", None)
    assert 180 < aggressive.most_mb < 200
    assert aggressive.tombstone_share >= 0.9
    assert relaxed.most_mb > 200
    assert any(one.before_bytes > 200e6 > one.after_bytes for one in relaxed.passes)
    gaps_s = np.diff([one.ended_ns / 1e9 for one in relaxed.passes if one.before_bytes > 20e6])
    assert (gaps_s[1:] > gaps_s[:-1]).all(), "passes become rarer"
    assert aggressive.most_mb <= 0.35 * none.most_mb
    assert relaxed.most_mb <= 0.6 * none.most_mb


@pytest.mark.slow
def test_sizes_follow_the_dirty_share() -> None:
    """A-19, A-21: on the grid of the source, with its middle value."""
    for segment_ms in (100, 1000):
        fold, retain = ([of(layout, segment_ms, share) for share in (0.01, 0.33, 0.66)] for layout in LAYOUTS)
        means = [one.mean_mb for one in fold]
        assert all(later >= 0.95 * earlier for earlier, later in pairwise(means)), means
        assert retain[0].most_mb < retain[1].most_mb < retain[2].most_mb
        assert all(10 * one.mean_mb <= other.mean_mb for one, other in zip(fold, retain, strict=True))


@pytest.mark.slow
def test_a_policy_between_the_two_lies_between_them() -> None:
    """9.3: no table of policies."""
    between = loaded("fold", 300, 0.33)
    assert of("fold", *AGGRESSIVE).mean_mb < between.mean_mb < of("fold", *RELAXED).mean_mb


@pytest.mark.slow
def test_a_thread_is_saturated_because_a_pass_takes_longer_than_a_segment() -> None:
    """With a set-up of 150 ms a pass ends after the next segment of 100 ms is closed, so the thread never sleeps. With 20 ms it does."""
    saturated, quick = of("fold", *AGGRESSIVE), loaded("fold", *AGGRESSIVE, setup_ns=20_000_000)
    assert saturated.busy_share > 0.9
    assert quick.busy_share < 0.2
    assert quick.mean_mb > 2 * saturated.mean_mb
    assert of("fold", *RELAXED).busy_share < 0.1


@pytest.mark.slow
def test_later_versions_drop_tombstones() -> None:
    """A-23."""
    assert loaded("retain", *AGGRESSIVE, tombstone_rule="per_record_horizon").most_mb < 30


@pytest.mark.slow
def test_after_the_load_the_last_segment_stays_as_it_is() -> None:
    """A-22: segments are closed on an append alone."""
    found = of("fold", *AGGRESSIVE)
    assert found.log.bytes - found.log.clean_bytes - found.log.dirty_bytes > 0
    assert len(set(found.samples_mb[SECONDS + 20 :])) == 1


def test_one_thread_cleans_a_log_and_the_dirtiest_first() -> None:
    logs = [Partition(LogSettings(segment_ns=1, dirty_share=0.1)) for _ in range(3)]
    for n, log in enumerate(logs):
        times = np.arange(4 + n) * 10
        log.append(times, times, np.full(4 + n, 10), times, np.zeros(4 + n, bool))
    logs[0].swap(logs[0].cleaning(50))
    more = np.array([60, 70])
    logs[0].append(more, more, np.full(2, 10), more, np.zeros(2, bool))
    cleaner = Cleaner(logs, CleanerSettings(threads=3), [100, 100, 100], lambda _: 1.0)
    cleaner.wake(100)
    assert [thread.log for thread in cleaner.threads] == [1, 2, 0], "of two as dirty the first, then the one that is clean in part"
    cleaner = Cleaner(logs[:1], CleanerSettings(threads=2), [100, 100], lambda _: 1.0)
    cleaner.wake(100)
    assert [thread.log for thread in cleaner.threads] == [0, -1]


def test_a_pass_takes_effect_when_it_ends() -> None:
    log = Partition(LogSettings(segment_ns=1, dirty_share=0.0))
    times = np.array([0, 10, 20])
    log.append(times, np.array([1, 1, 1]), np.full(3, 1000), times, np.zeros(3, bool))
    cleaner = Cleaner([log], CleanerSettings(), [30], lambda _: 2.0)
    cleaner.wake(30)
    assert log.bytes == 3000
    expected_ns = 2 * 150_000_000 + round(1e9 * (2000 / 80e6 + 2000 / 100e6)) + 2 * 3_000_000
    assert cleaner.next_ns == 30 + expected_ns
    cleaner.wake(cleaner.next_ns)
    assert log.bytes == 2000
    assert cleaner.busy_ns(cleaner.next_ns) == expected_ns
    assert cleaner.next_ns == 30 + expected_ns + 15_000_000_000, "nothing is dirty, so the thread sleeps"


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="threads is 0"):
        CleanerSettings(threads=0)
    with pytest.raises(ValueError, match="backoff_ns is 0"):
        CleanerSettings(backoff_ns=0)
    with pytest.raises(ValueError, match="wakes_ns has 1 times, but there are 2 threads"):
        Cleaner([], CleanerSettings(threads=2), [0], lambda _: 1.0)
