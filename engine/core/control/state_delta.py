"""Differences of keyed state: what an incremental checkpoint stores, and how it is put together again.

Two captures of an instance are compared by their contents. So a delta is right for every operator kind, those of other packages included,
does not depend on where state lies in memory, and costs nothing in runs without incremental checkpoints.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from engine.core import layout as L
from engine.core.control.keyed_state import KeyedState, counts_of_rows, parameters
from engine.core.keeping import Keeping
from engine.core.kernels import state_transfer
from engine.core.random import mix64
from engine.core.tables import Arrays, Words

Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class StateDelta:
    """What turns one state of an instance into a later one.

    entry_origin: (n,) by later entry, its place in the earlier state, -1 if it is new. is_written: (n,) 1 for those that are new or
    changed, whose words are in entries: (k, columns). row_origin: (m,) by later row, its place in the earlier state, -1 for a new one,
    which is in rows: (r, columns). has_values: (n,) 1 if `values` has the entry's distinct values; others have those of before. The rest
    as in `KeyedState`, of the later state.
    """

    entry_origin: Words
    is_written: Words
    entries: Words
    row_origin: Words
    rows: Words
    row_counts: Words
    has_values: Words
    values: Words
    value_counts: Words
    sizes: Words
    about: Words

    @property
    def tables(self) -> tuple[Words, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))


def difference(before: KeyedState, after: KeyedState) -> StateDelta:
    """What turns `before` into `after`."""
    origin, is_written = _origins_of_entries(before, after)
    row_origin = _origins_of_rows(before, after, origin)
    of_row = np.repeat(np.arange(len(after.entries)), after.row_counts.sum(axis=1))
    is_written[of_row[row_origin < 0]] = True
    has_values = is_written & (after.value_counts.sum(axis=1) > 0)
    of_entry = np.repeat(np.arange(len(after.entries)), after.value_counts.sum(axis=1))
    return StateDelta(
        origin,
        is_written.astype(np.int64),
        after.entries[is_written],
        row_origin,
        after.rows[row_origin < 0],
        after.row_counts,
        has_values.astype(np.int64),
        after.values[has_values[of_entry]],
        after.value_counts,
        after.sizes,
        after.about,
    )


def applied(before: KeyedState, delta: StateDelta) -> KeyedState:
    """The later state: the inverse of `difference`."""
    is_written, has_values = delta.is_written > 0, delta.has_values > 0
    entries = np.empty((len(delta.entry_origin), before.entries.shape[1]), np.int64)
    entries[is_written] = delta.entries
    entries[~is_written] = before.entries[delta.entry_origin[~is_written]]
    rows = np.empty((len(delta.row_origin), before.rows.shape[1]), np.int64)
    rows[delta.row_origin < 0] = delta.rows
    rows[delta.row_origin >= 0] = before.rows[delta.row_origin[delta.row_origin >= 0]]
    counts = delta.value_counts.sum(axis=1)
    from_before = ~has_values & (counts > 0)
    values = np.empty((int(counts.sum()), before.values.shape[1]), np.int64)
    is_new = np.repeat(has_values, counts)
    values[is_new] = delta.values
    values[~is_new] = before.values[_ranges(_starts(before.value_counts.sum(axis=1))[delta.entry_origin[from_before]], counts[from_before])]
    return KeyedState(entries, rows, delta.row_counts, values, delta.value_counts, delta.sizes, delta.about)


def size_of(w: Arrays, keeping: Keeping, i: int, before: KeyedState, delta: StateDelta) -> tuple[int, int]:
    """Bytes of what is new or changed in instance i's state, without rows and distinct values that were there before; and the number of
    entries, and rows of entries that are left, that are gone."""
    is_written, origin = delta.is_written > 0, delta.entry_origin
    of_list = np.repeat(np.arange(delta.row_counts.size), delta.row_counts.ravel())
    is_new = delta.row_origin < 0
    new_rows = np.bincount(of_list[is_new], minlength=delta.row_counts.size).reshape(delta.row_counts.shape)
    known = np.zeros(len(origin), np.int64)
    known[origin >= 0] = before.value_counts.sum(axis=1)[origin[origin >= 0]]
    new_values = np.maximum(delta.value_counts.sum(axis=1) - known, 0)
    entries = delta.entries.copy()
    entries[:, counts_of_rows(w, i)] = new_rows[is_written]
    written = int(np.maximum(keeping.sizes(w, parameters(w, i), entries, new_values[is_written]), 0).sum())
    is_left = np.zeros(len(before.entries), bool)
    is_left[origin[origin >= 0]] = True
    rows_gone = int(before.row_counts[is_left].sum() - (~is_new).sum())
    return written, int((~is_left).sum()) + rows_gone


def _origins_of_entries(before: KeyedState, after: KeyedState) -> tuple[Words, NDArray[np.bool_]]:
    """By later entry its place before, or -1, and whether its words, or its distinct values, are others. Entries of equal key and pane
    belong together. If there are several, first those that are as they were, then the rest, in order."""
    keys = [state.entries[:, L.S_KEY] for state in (before, after)]
    if all((own[1:] > own[:-1]).all() for own in keys):  # one entry for each key, as without windows
        return _compared(before, after, _found_in_order(*keys))
    names = [_hashed(state.entries[:, [L.S_KEY, L.S_PANE]]) for state in (before, after)]
    if _has_repetitions(names[0]) or _has_repetitions(names[1]):
        origin = _unchanged(before, after)
        left = np.setdiff1d(np.arange(len(before.entries)), origin[origin >= 0], assume_unique=True)
        others = np.flatnonzero(origin < 0)
        found = _paired(names[0][left], names[1][others])
        origin[others[found >= 0]] = left[found[found >= 0]]
    else:
        origin = _paired(*names)
    return _compared(before, after, origin)


def _found_in_order(before: Words, after: Words) -> Words:
    """By ascending word its place among others, -1 if it is not there."""
    places = np.searchsorted(before, after)
    places[places == len(before)] = 0
    found: Words = np.where(before[places] == after, places, -1) if len(before) else np.full(len(after), -1, np.int64)
    return found


def _compared(before: KeyedState, after: KeyedState, origin: Words) -> tuple[Words, NDArray[np.bool_]]:
    """The origins, without those of entries in other panes; and whether words or distinct values are others."""
    found = origin >= 0
    found[found] = before.entries[origin[found], L.S_PANE] == after.entries[found, L.S_PANE]
    origin = np.where(found, origin, -1)
    is_same = origin >= 0
    is_same[is_same] = (before.entries[origin[is_same]] == after.entries[is_same]).all(axis=1)
    if len(after.values) or len(before.values):
        values = [_of_values(state) for state in (before, after)]
        is_same[is_same] = values[0][origin[is_same]] == values[1][is_same]
    return origin, ~is_same


def _unchanged(before: KeyedState, after: KeyedState) -> Words:
    """By later entry the place of an equal one before, -1 if there is none."""
    origin = _paired(*(_hashed(state.entries, _of_values(state)) for state in (before, after)))
    found = origin >= 0
    found[found] = (before.entries[origin[found]] == after.entries[found]).all(axis=1)
    return np.where(found, origin, -1)


def _origins_of_rows(before: KeyedState, after: KeyedState, entry_origin: Words) -> Words:
    """By later row its place before, -1 for a new one: an equal row of the same entry and side."""
    sides = after.row_counts.shape[1]
    if not len(after.rows) or not len(before.rows):
        return np.full(len(after.rows), -1, np.int64)
    counts = [state.row_counts.ravel() for state in (before, after)]
    lists = np.arange(counts[1].size)
    was = np.where(np.repeat(entry_origin, sides) >= 0, np.repeat(entry_origin, sides) * sides + lists % sides, -1)  # by list
    had = np.where(was >= 0, counts[0][was], 0)
    # most lists have only got longer: then each row is where it was
    origin, differs = np.empty(len(after.rows), np.int64), np.zeros(len(was), np.int64)
    state_transfer.rows_in_place(before.rows, np.where(was >= 0, _starts(counts[0])[was], 0), had, after.rows, counts[1], origin, differs)
    is_other = (had > counts[1]) | (differs > 0)
    if is_other.any():
        _find_rows(before, after, was, is_other, origin)
    return origin


def _find_rows(before: KeyedState, after: KeyedState, was: Words, is_other: NDArray[np.bool_], origin: Words) -> None:
    """Fill in the origins of rows of lists whose rows are not where they were. was: by later list, its place before."""
    old, new = before.row_counts.ravel(), after.row_counts.ravel()
    theirs = np.flatnonzero(is_other)
    known = theirs[was[theirs] >= 0]
    old_rows = _ranges(_starts(old)[was[known]], old[was[known]])
    new_rows = _ranges(_starts(new)[theirs], new[theirs])
    of_old, of_new = np.repeat(known, old[was[known]]), np.repeat(theirs, new[theirs])
    found = _paired(_hashed(before.rows[old_rows], of_old), _hashed(after.rows[new_rows], of_new))
    same = found >= 0
    same[same] = (before.rows[old_rows[found[same]]] == after.rows[new_rows[same]]).all(axis=1) & (of_old[found[same]] == of_new[same])
    origin[new_rows] = -1
    origin[new_rows[same]] = old_rows[found[same]]


def _has_repetitions(hashes: Hashes) -> bool:
    ordered = np.sort(hashes)
    return bool((ordered[1:] == ordered[:-1]).any())


def _paired(before: Hashes, after: Hashes) -> Words:
    """By element of `after` the place of an equal one in `before`, each used once and in order; -1 if there is none."""
    order, later = (np.argsort(words, kind="stable") for words in (before, after))
    first, last = np.searchsorted(before[order], after[later], "left"), np.searchsorted(before[order], after[later], "right")
    nth = np.arange(len(later)) - np.searchsorted(after[later], after[later], "left")
    found = np.full(len(after), -1, np.int64)
    has = first + nth < last
    found[later[has]] = order[(first + nth)[has]]
    return found


def _hashed(words: Words, more: Words | None = None) -> Hashes:
    """A hash of each row, and of one more word if given."""
    mixed = np.zeros(len(words), np.uint64)
    for column in [*words.T, *([] if more is None else [more])]:
        mixed = mix64(mixed ^ column.astype(np.uint64))
    return mixed


def _of_values(state: KeyedState) -> Words:
    """A word of each entry that tells its distinct values, in their order, from others."""
    counts = state.value_counts.sum(axis=1)
    places = np.arange(len(state.values)) - np.repeat(_starts(counts), counts)
    found = np.zeros(len(counts), np.uint64)
    np.add.at(found, np.repeat(np.arange(len(counts)), counts), _hashed(state.values, places))
    return found.astype(np.int64)


def _starts(counts: Words) -> Words:
    return np.cumsum(counts) - counts


def _ranges(starts: Words, counts: Words) -> Words:
    """start, start + 1, ... of each range, one after the other."""
    return np.repeat(starts - _starts(counts), counts) + np.arange(int(counts.sum()))
