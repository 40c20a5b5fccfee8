"""From the changes of an operator's keyed state to operations of its local store: which keys, and how many bytes.

Source: Chronarakis 2019, 2.2 and 2.4; encoding of Apache Samza 1.1 (specification of incremental checkpointing, 2.4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.core import layout as L
from engine.core.tables import Words

from .kernels import (
    NAME_FIRST,
    NAME_KEY,
    NAME_LAST,
    NAME_LINK,
    NAME_NUMBER,
    NAME_PANE,
    NAME_WORDS,
    OP_WORDS,
    OUT_COUNT,
    SIZE_OF_TEXTS,
    SIZE_RECORD,
    SIZE_REPEATS,
    SIZE_TEXT,
    SIZE_VALUE,
    SIZE_WORDS,
    TOTAL_CHANGES,
    TOTAL_KEYS,
    TOTAL_NAMES,
    TOTAL_WORDS,
    link_names,
    translate,
)
from .store_keys import StoreKeys


@dataclass(frozen=True)
class Sizes:
    """Bytes of what is stored. text: in front of each key. value: of one value for a key and window. record: what a retained record has
    beside its key, by side for joins. repeats: how often the key occurs in it. texts: of the codes of keys that are texts, None if keys are
    numbers, of which the digits count."""

    text: int = 0
    value: int = 8
    record: tuple[int, ...] = (8,)
    repeats: int = 0
    texts: Callable[[], list[str]] | None = None

    def words(self) -> Words:
        found = np.zeros(SIZE_WORDS, np.int64)
        found[[SIZE_TEXT, SIZE_VALUE, SIZE_REPEATS]] = self.text, self.value, self.repeats
        found[SIZE_RECORD : SIZE_RECORD + 2] = self.record[0], self.record[-1]
        return found


class Operations:
    """Translates the changes of one instance. The value that an operation puts is the number of its change, so two stores hold the same if
    their values are equal. A change is of one value for a key and window, of one for a key and side, or of the records that are retained
    for a key and window; a *name* is any of these."""

    def __init__(self, keys: StoreKeys, sizes: Sizes):
        self.keys, self.sizes = keys, sizes
        self._sizes = sizes.words()
        self._of_texts = np.zeros(1, np.int64)
        self.totals = np.zeros(TOTAL_WORDS, np.int64)
        self.names = np.zeros((64, NAME_WORDS), np.int64)
        self.after = np.full(1024, -1, np.int64)  # by number of a retained record, the next one of its name
        self._buckets = np.full(128, -1, np.int64)

    @property
    def changes(self) -> int:
        """How many there were. The next one has this number."""
        return int(self.totals[TOTAL_CHANGES])

    def of(self, changes: Words) -> Words:
        """Operations (n, OP_WORDS) of the changes (m, CHANGE_COLUMNS), in their order."""
        self._make_room(len(changes))
        gone = int(changes[changes[:, L.CHANGE_KIND] == L.CHANGE_CLEAR, L.CHANGE_COUNT].sum())
        out = np.empty((2 * len(changes) + gone, OP_WORDS), np.int64)
        self.totals[TOTAL_KEYS] = self.keys.count
        translate(changes, out, self.keys.words, self.names, self._buckets, self.after, self.totals, self._sizes, self._of_texts)
        self.keys.count = int(self.totals[TOTAL_KEYS])
        return out[: self.totals[OUT_COUNT]]

    def go_back(self, alive: Words) -> None:
        """Know only these keys of the store, (n,) numbers of them, as after a restore. Numbers of keys, records and changes go on."""
        count = int(self.totals[TOTAL_NAMES])
        names = self.names[:count]
        names[:, [NAME_FIRST, NAME_LAST]] = -1
        retained = np.sort(alive[~np.isin(alive, names[:, NAME_NUMBER])])
        name_of = {(key, pane): n for n, (key, pane) in enumerate(names[:, [NAME_KEY, NAME_PANE]].tolist())}
        for number, (key, pane) in zip(retained.tolist(), self.keys.of(retained)[:, :2].tolist(), strict=True):
            name = names[name_of[key, pane]]
            if name[NAME_FIRST] < 0:
                name[NAME_FIRST] = number
            else:
                self.after[name[NAME_LAST]] = number
            name[NAME_LAST], self.after[number] = number, -1

    def settle(self) -> None:
        """Forget how much room there was for more. Nothing else changes."""
        self.after = self.after[: self.keys.count].copy()
        self.names = self.names[: self.totals[TOTAL_NAMES]].copy()
        self.totals[OUT_COUNT] = 0

    def saved(self) -> list[Words]:
        """The state, without how names are found."""
        return [self.totals, np.ascontiguousarray(self.names[:, :NAME_LINK]), self.after]

    def take_over(self, totals: Words, names: Words, after: Words) -> None:
        """Go on from a saved state."""
        self.totals, self.after = totals, after
        self.names = np.concatenate([names, np.full((len(names), NAME_WORDS - NAME_LINK), -1, np.int64)], axis=1)
        self._link()

    def _make_room(self, more: int) -> None:
        """For so many keys and names, and for all texts."""
        self.keys.make_room(more)
        self.after = _longer(self.after, self.keys.count + more, -1)
        if self.totals[TOTAL_NAMES] + more > len(self.names):
            self.names = _longer(self.names, int(self.totals[TOTAL_NAMES]) + more, 0)
            self._link()
        if self.sizes.texts is not None:
            texts = self.sizes.texts()
            if len(texts) != len(self._of_texts) or not self._sizes[SIZE_OF_TEXTS]:
                self._of_texts = np.array([*(len(text.encode()) for text in texts)] or [0], np.int64)
                self._sizes[SIZE_OF_TEXTS] = 1

    def _link(self) -> None:
        """Make the buckets of all names anew."""
        self._buckets = np.full(1 << (2 * len(self.names)).bit_length(), -1, np.int64)
        self.names[:, NAME_LINK] = -1
        link_names(self.names, self._buckets, int(self.totals[TOTAL_NAMES]))


def _longer(table: Words, needed: int, fill: int) -> Words:
    """The table, if it has so many rows, or one with at least twice as many."""
    if needed <= len(table):
        return table
    more = np.full((max(needed, 2 * len(table)) - len(table), *table.shape[1:]), fill, np.int64)
    return np.concatenate([table, more])
