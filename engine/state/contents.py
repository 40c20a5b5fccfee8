"""What changes have made of entries and stored rows: the content behind the values that a store and its changelog hold.

A store holds for each key the number of the change that put it (`Operations`). A restore needs what that change has put.
"""

from __future__ import annotations

import numpy as np

from engine.core.tables import Words

ROWS_KEPT = 100_000
"""So many may be held before those that nothing refers to any more are dropped."""


class Contents:
    """Words by number of a change, for those that a store may still need."""

    def __init__(self, width: int, places: list[int]):
        """width: words of an entry and a row together. places: those that say where something lay, which are not kept."""
        self._places = places
        self._numbers = np.zeros(0, np.int64)
        self._words = np.zeros((0, width), np.int64)
        self._new: list[tuple[Words, Words]] = []
        self._held, self._limit = 0, ROWS_KEPT

    def add(self, numbers: Words, words: Words) -> None:
        """numbers: (n,) ascending, above all before. words: (n, width), taken over."""
        words[:, self._places] = 0
        self._new.append((numbers, words))
        self._held += len(numbers)

    @property
    def is_full(self) -> bool:
        return self._held > self._limit

    def keep(self, numbers: Words) -> None:
        """Drop all but those with these numbers."""
        self._merge()
        stays = np.isin(self._numbers, numbers)
        self._numbers, self._words = self._numbers[stays], self._words[stays]
        self._held = len(self._numbers)
        self._limit = max(ROWS_KEPT, 2 * self._held)

    def of(self, numbers: Words) -> Words:
        """The words of these changes, (n, width). Raises LookupError for one that is not held."""
        self._merge()
        at = np.searchsorted(self._numbers, numbers)
        if len(numbers) and (not len(self._numbers) or (self._numbers[np.minimum(at, len(self._numbers) - 1)] != numbers).any()):
            raise LookupError("the content of a change is asked for that is not held any more")
        return self._words[at]

    def _merge(self) -> None:
        if self._new:
            self._numbers = np.concatenate([self._numbers, *(numbers for numbers, _ in self._new)])
            self._words = np.concatenate([self._words, *(words for _, words in self._new)])
            self._new = []
