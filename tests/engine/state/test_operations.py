"""From changes of state to operations of a store, and the thread that sends them, against plain twins.

What this catches: a deletion that misses a retained record, or names one of another window; two numbers for one key; bytes that do not
follow from key and value; a request that leaves out what waits, or one too many.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core import layout as L
from engine.state.kernels import DELETE, PUT, READ, SCAN
from engine.state.operations import Operations, Sizes
from engine.state.sender import Sender
from engine.state.store_keys import StoreKeys

TEXTS = ["a", "bcd", "ö", ""]
FOLD = Sizes(text=3, value=4)
RETAIN = Sizes(text=9, record=(48,), repeats=3)
JOIN = Sizes(record=(100, 20), texts=lambda: TEXTS)


def rows(changes: list[tuple[int, int, int, int]]) -> np.ndarray:
    """Changes (kind, key, window, count or side), one each nanosecond."""
    found = np.zeros((len(changes), L.CHANGE_COLUMNS), np.int64)
    found[:, L.CHANGE_TIME] = np.arange(len(changes))
    found[:, [L.CHANGE_KIND, L.CHANGE_KEY, L.CHANGE_PANE, L.CHANGE_COUNT]] = np.array(changes, np.int64).reshape(-1, 4)
    return found


def twin(changes: list[tuple[int, int, int, int]], sizes: Sizes) -> list[tuple[int, int, tuple[int, ...], int, int]]:
    """Kind, time, key in words, value, bytes."""
    found: list[tuple[int, int, tuple[int, ...], int, int]] = []
    retained: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    single: set[tuple[int, int]] = set()
    sequence = 0
    for time, (kind, key, pane, count) in enumerate(changes):
        own = len((sizes.texts()[key] if sizes.texts else str(key)).encode())
        stored = own + sizes.text + 16
        record = 8 + own + sizes.text + sizes.repeats * own
        if kind in (L.CHANGE_FOLD, L.CHANGE_READ, L.CHANGE_CLEAR):
            found.append((SCAN, time, (), 0, 0))
        if kind == L.CHANGE_FOLD:
            single.add((key, pane))
            found.append((PUT, time, (key, pane, 0), time, stored + sizes.value))
        elif kind == L.CHANGE_ADD:
            retained.setdefault((key, pane), []).append((key, pane, sequence))
            found.append((PUT, time, (key, pane, sequence), time, stored + record + sizes.record[0]))
            sequence += 1
        elif kind == L.CHANGE_CLEAR:
            gone = [(key, pane, 0)] if (key, pane) in single else []
            found += [(DELETE, time, words, 0, stored) for words in [*gone, *retained.pop((key, pane), [])]]
        elif kind in (L.CHANGE_GET, L.CHANGE_PUT):
            value = 0 if kind == L.CHANGE_GET else time
            found.append((READ if kind == L.CHANGE_GET else PUT, time, (key, pane, count), value, stored + record + sizes.record[count]))
    return found


def translated(changes: list[tuple[int, int, int, int]], sizes: Sizes, cuts: list[int]) -> list[tuple[int, int, tuple[int, ...], int, int]]:
    operations = Operations(StoreKeys(), sizes)
    found = []
    for part in np.split(rows(changes), sorted(cuts)):
        for kind, time, number, value, size in operations.of(part).tolist():
            words = () if kind == SCAN else tuple(operations.keys.of(np.array([number]))[0].tolist())
            found.append((kind, time, words, value, size))
        operations.settle()
        operations.take_over(*operations.saved())
    return found


@given(
    st.lists(st.tuples(st.sampled_from("frc"), st.integers(0, 3) | st.just(-12345) | st.just(10**15), st.integers(0, 2)), max_size=60),
    st.data(),
)
def test_one_value_for_each_key_and_window(drawn: list[tuple[str, int, int]], data: st.DataObject) -> None:
    kinds = {"f": L.CHANGE_FOLD, "r": L.CHANGE_READ, "c": L.CHANGE_CLEAR}
    changes = [(kinds[kind], key, pane, 1) for kind, key, pane in drawn]
    cuts = data.draw(st.lists(st.integers(0, len(changes)), max_size=4))
    assert translated(changes, FOLD, cuts) == twin(changes, FOLD)


def test_windows_of_one_key_have_names_of_their_own() -> None:
    """So many that some share a bucket."""
    changes = [(L.CHANGE_FOLD, 7, window, 1) for window in (*range(300), *range(300))]
    changes += [(L.CHANGE_CLEAR, 7, window, 1) for window in range(0, 300, 7)]
    assert translated(changes, FOLD, [150, 400]) == twin(changes, FOLD)


@given(st.lists(st.tuples(st.sampled_from("aaac"), st.integers(0, 2), st.integers(0, 1)), max_size=60), st.data())
def test_retained_records(drawn: list[tuple[str, int, int]], data: st.DataObject) -> None:
    held: dict[tuple[int, int], int] = {}
    changes = []
    for kind, key, pane in drawn:
        count = held.get((key, pane), 0)
        changes.append((L.CHANGE_ADD if kind == "a" else L.CHANGE_CLEAR, key, pane, count if kind == "c" else 1))
        held[key, pane] = count + 1 if kind == "a" else 0
    cuts = data.draw(st.lists(st.integers(0, len(changes)), max_size=4))
    assert translated(changes, RETAIN, cuts) == twin(changes, RETAIN)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 1)), max_size=40))
def test_the_latest_of_each_side_by_texts(drawn: list[tuple[bool, int, int]]) -> None:
    changes = [(L.CHANGE_PUT if puts else L.CHANGE_GET, key, 0, side) for puts, key, side in drawn]
    assert translated(changes, JOIN, []) == twin(changes, JOIN)


def test_bytes_of_the_source() -> None:
    """2.4 of the specification: 64 and 129 bytes with the log's 34, tombstones of 60; of id 10 one, three and one more."""
    one = Sizes(text=len("gemPackID"), value=4)
    found = Operations(StoreKeys(), one).of(rows([(L.CHANGE_FOLD, 5, 0, 1), (L.CHANGE_FOLD, 10, 0, 1), (L.CHANGE_CLEAR, 10, 0, 1)]))
    assert (found[:, 4] + 34).tolist() == [34, 64, 34, 65, 34, 61]
    text = '{"userID":"user{key}","gemPackID":"gemPack{key}","price":{key}}'
    all = Sizes(text=len("gemPackID"), record=(len(text.replace("{key}", "")),), repeats=3)
    found = Operations(StoreKeys(), all).of(rows([(L.CHANGE_ADD, 5, 0, 1), (L.CHANGE_ADD, 10, 0, 1)]))
    assert (found[:, 4] + 34).tolist() == [129, 134]


@pytest.mark.parametrize("request_ns", [1, 7, 30])
@given(times=st.lists(st.integers(0, 200), max_size=60), data=st.data())
def test_a_request_takes_all_that_waits(request_ns: int, times: list[int], data: st.DataObject) -> None:
    times.sort()
    began = []
    at = 0
    while at < len(times):
        start = max(times[at], began[-1] + request_ns if began else 0)
        began.append(start)
        while at < len(times) and times[at] <= start:
            at += 1
    sender = Sender(request_ns)
    cut = data.draw(st.integers(0, len(times)))
    for part in (times[:cut], times[cut:]):
        sender.send(np.array(part, np.int64))
    end = began[-1] + request_ns if began else 0
    assert sender.answered_ns(0) == max(end, 0)
    begun = [start for start in began if not times or start <= times[-1]]
    assert sender.requests in (len(begun), len(begun) - 1)  # one that begins with the last record may still wait for the answer before it
