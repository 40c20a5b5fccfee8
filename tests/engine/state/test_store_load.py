"""What a local store writes to its disk under the load of the thesis (Chronarakis 2019, Figures 4.3 to 4.6; A-1 to A-6 of the specification
of incremental checkpointing). Bytes follow from keys and values; what an entry takes on disk is calibrated.

What this catches: a store that writes every update through; batches where each update has to leave at once; an absorption that is typed in.
"""

from __future__ import annotations

import pytest

from tests.support.store_load import COMMIT_S, FED_S, SECONDS, STARTS_S, Layout, Outcome, loaded

OUTCOMES: dict[tuple[Layout, int], Outcome] = {}


def outcome(layout: Layout, producers: int = 1) -> Outcome:
    if (layout, producers) not in OUTCOMES:
        OUTCOMES[layout, producers] = loaded(layout, producers)
    return OUTCOMES[layout, producers]


def test_accumulated_values_are_absorbed() -> None:
    """A-1 and A-2: three million updates leave a few megabytes, nearly all of them in the seconds after a commit."""
    fold = outcome("fold")
    by_second = fold.by_second
    after = sum(by_second[second : second + 3].sum() for second in range(COMMIT_S, SECONDS, COMMIT_S))
    assert after / by_second.sum() >= 0.9
    assert 3 <= fold.written_mb <= 7
    assert all(by_second[second] for second in range(COMMIT_S, SECONDS, COMMIT_S)), "commits of an idle store write, too"
    fed = range(STARTS_S + COMMIT_S, STARTS_S + FED_S + 1, COMMIT_S)
    idle = by_second[SECONDS - COMMIT_S]
    assert all(by_second[second] > idle for second in fed)


def test_each_retained_purchase_leaves_a_tombstone() -> None:
    """A-3 and A-4: 9.5 bytes for each purchase, at least four times as much as accumulated values."""
    retain = outcome("retain")
    assert 24 <= retain.written_mb <= 34
    assert 8.5 <= retain.written_mb * 1e6 / 3e6 <= 10.5
    assert retain.written_mb >= 4 * outcome("fold").written_mb


@pytest.mark.deep
def test_three_producers() -> None:
    """A-1 to A-4: three times as much input is hardly more for accumulated values, and three times as much for retained purchases."""
    fold, retain = outcome("fold", 3), outcome("retain", 3)
    by_second = fold.by_second
    after = sum(by_second[second : second + 3].sum() for second in range(COMMIT_S, SECONDS, COMMIT_S))
    assert after / by_second.sum() >= 0.6
    assert fold.written_mb / outcome("fold").written_mb <= 1.6
    assert 2.7 <= retain.written_mb / outcome("retain").written_mb <= 3.3
    assert retain.written_mb >= 10 * fold.written_mb
    between = [write for tree in retain.trees for write in tree.written if write.ended_ns // 10**9 % COMMIT_S > 3]
    assert between, "a full buffer is flushed between commits (A-6)"


def test_it_is_absorption_that_keeps_the_bytes_few() -> None:
    """A-5, on a hundredth of the load: written through, every update comes to the disk."""
    fed_s = FED_S // 100
    assert loaded("fold", fed_s=fed_s, absorb=False).written_mb * FED_S / fed_s > 30 > 4 * outcome("fold").written_mb


def test_batches_are_for_those_who_do_not_read() -> None:
    """A-6: who reads before each write hands over each update by itself, whatever the batch; who does not, a batch at once."""
    calls = {(layout, batch): loaded(layout, batch=batch, fed_s=10).batches for layout in ("fold", "retain") for batch in (1, 500)}
    assert calls["fold", 1] == pytest.approx(calls["fold", 500], rel=0.01)
    assert calls["retain", 1] >= 100 * calls["retain", 500]


def test_records_of_the_changelog() -> None:
    """A2: one for each update and each closed window, and two for each purchase that is retained."""
    for layout in ("fold", "retain"):
        found = loaded(layout, fed_s=5)
        puts = 5 * 6250
        assert found.appended == (puts + 5 * 10 if layout == "fold" else 2 * puts)
        assert all(not len(tree.contents()) for tree in found.trees), "all windows are closed"
