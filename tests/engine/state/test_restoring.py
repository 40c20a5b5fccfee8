"""What it takes to fill a store from its changelog (Chronarakis 2019, Figures 4.7 to 4.9; A-9, A-11 to A-13).

What this catches: a time by formula, or by the name of the layout: it is the order of keys that makes retained records quicker.
"""

from __future__ import annotations

import numpy as np
import pytest

from engine.state.restoring import RestoreCosts, restore_ns
from engine.state.store_keys import StoreKeys

FOLD_BYTES, RETAIN_BYTES = 64, 129
FOLD_WEIGHT, RETAIN_WEIGHT = 30 + 28, 95 + 28
BUFFER_BYTES = 32_000_000


def restore_s(layout: str, count: int, shuffled: bool = False) -> float:
    """Of a log with so many records of one key in one window of an hour."""
    keys = StoreKeys()
    same = np.zeros(count, np.int64)
    if layout == "fold":
        keys.add(same[:1], same[:1], same[:1])
        numbers, record, weight = same, FOLD_BYTES, FOLD_WEIGHT
    else:
        numbers, record, weight = keys.add(same, same, np.arange(count)), RETAIN_BYTES, RETAIN_WEIGHT
    if shuffled:
        numbers = np.random.default_rng(1).permutation(numbers)
    took = restore_ns(keys, numbers, np.full(count, record), np.full(count, weight), BUFFER_BYTES, RestoreCosts())
    return float(took.sum() / 1e9)


def test_as_long_as_the_source_says() -> None:
    """A-9: 8.41 s for overwrites of one key, 4.42 s for as many distinct ones."""
    fold, retain = restore_s("fold", 3_000_000), restore_s("retain", 3_000_000)
    assert fold == pytest.approx(8.41, rel=0.05)
    assert retain == pytest.approx(4.42, rel=0.05)
    assert 1.7 <= fold / retain <= 2.1


def test_it_is_linear() -> None:
    """A-12, with counts of a tenth."""
    for layout in ("fold", "retain"):
        times = [restore_s(layout, count) for count in (100_000, 300_000, 600_000)]
        assert times == pytest.approx([times[0], 3 * times[0], 6 * times[0]], rel=0.001)


def test_the_order_of_keys_is_the_reason() -> None:
    """A-11: in an order drawn at random, distinct keys take as long as overwrites."""
    count = 300_000
    by_record_us = restore_s("retain", count, shuffled=True) * 1e6 / count
    assert 2.8 <= by_record_us <= 3.0
    assert restore_s("retain", count) < 0.55 * restore_s("retain", count, shuffled=True)


def test_a_key_is_compared_with_what_is_in_the_buffer() -> None:
    keys = StoreKeys()
    keys.add(np.array([1, 2, 3]), np.zeros(3, np.int64), np.zeros(3, np.int64))
    costs = RestoreCosts(read_ns=0, read_byte_ns=0, ascending_ns=1, search_ns=10)
    order = np.array([1, 0, 2, 2, 0, 1])
    assert restore_ns(keys, order, np.ones(6), np.full(6, 10), 10**6, costs).tolist() == [1, 10, 1, 10, 10, 10]
    assert restore_ns(keys, order, np.ones(6), np.full(6, 10), 40, costs).tolist() == [1, 10, 1, 10, 1, 1], "a new buffer after four"


def test_costs_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="search_ns is -1"):
        RestoreCosts(search_ns=-1)
