"""Useless checkpoints.

What this catches: intervals that are off by one, cycles that are missed or invented, useless taken for discarded.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from engine.checkpointing.recovery_line import Channel, recovery_line
from engine.checkpointing.z_cycles import useless_checkpoints

from ...support.histories import O1, O2, O3, History, domino, histories, random_acts


@settings(max_examples=5 * settings().max_examples)
@given(history=histories())
def test_useless_is_what_no_consistent_line_holds(history: History) -> None:
    """Against all lines. Each instance may still take a checkpoint at the end: one that only lacks partners so far is not useless."""
    newest = [len(own) for own in history.checkpoints]
    consistent = history.consistent_lines([last + 1 for last in newest])
    held = {(i, index) for line in consistent for i, index in enumerate(line)}
    assert history.useless() == [(i, x) for i, last in enumerate(newest) for x in range(1, last + 1) if (i, x) not in held]


def test_domino_of_figure_3_5_is_one_of_useless_checkpoints() -> None:
    """All but the first of each operator, and the last, whose future is open."""
    assert domino().useless() == [(O1, 2), (O2, 2), (O3, 2)]


def test_the_smallest_z_cycle() -> None:
    """P2 sends, P1 processes that, takes a checkpoint and sends; P2 processes that in the interval in which it sent."""
    assert useless_checkpoints([1, 0], np.array([[1, 0, 0, 0], [0, 1, 1, 0]])) == [(0, 1)]
    assert useless_checkpoints([1, 1], np.array([[1, 0, 0, 0], [0, 1, 1, 1]])) == []


def test_without_a_cycle_of_channels_none_is_useless() -> None:
    """Though the search for a line discards some."""
    discarded = 0
    for seed in range(5):
        history = History(5, [Channel(i, j) for i in range(5) for j in range(i + 1, 5)])
        history.act(random_acts(seed, 2000))
        assert history.useless() == []
        discarded += recovery_line(history.record()).discarded_count
    assert discarded > 0


def test_without_messages_none_is_useless() -> None:
    assert useless_checkpoints([3, 0, 2], np.zeros((0, 4), np.int64)) == []


@pytest.mark.parametrize("message", [(0, 2, 1, 0), (0, 0, 1, 1), (2, 0, 1, 0), (0, 0, -1, 0), (0, -1, 1, 0)])
def test_messages_that_cannot_be(message: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="refers to an unknown instance or interval"):
        useless_checkpoints([1, 0], np.array([message]))
