"""Keys of a local store: the operator's key, the start of the window, and a number that tells retained records apart.

Source: Chronarakis 2019, 2.2; encoding of Apache Samza 1.1 (specification of incremental checkpointing, 2.4).
"""

from __future__ import annotations

import numpy as np

from engine.core.tables import Words


class StoreKeys:
    """Numbers of keys, from 0 on, and their order in the store: by the operator's key, then by window, then by sequence number, which are
    the words (n, 3) of each."""

    def __init__(self) -> None:
        self.count = 0
        self.words = np.zeros((1024, 3), np.int64)

    def settle(self) -> None:
        """Forget how much room there was for further keys."""
        self.words = self.words[: self.count].copy()

    def add(self, keys: Words, windows_ns: Words, sequences: Words) -> Words:
        """Number keys that are not in the table yet. All (n,)."""
        self.make_room(len(keys))
        numbers = np.arange(self.count, self.count + len(keys))
        self.count += len(keys)
        self.words[numbers] = np.stack([keys, windows_ns, sequences], axis=1)
        return numbers

    def make_room(self, more: int) -> None:
        """Enlarge the table if so many further keys do not fit."""
        if self.count + more > len(self.words):
            self.words = np.concatenate([self.words, np.zeros((max(len(self.words), more), 3), np.int64)])

    def of(self, numbers: Words) -> Words:
        """The words of these keys, (n, 3)."""
        return self.words[numbers]

    def sorted(self, numbers: Words) -> Words:
        """Positions that bring these keys into the order of the store. Equal ones stay as they are."""
        words = self.words[numbers]
        return np.lexsort((words[:, 2], words[:, 1], words[:, 0]))

    def ranks(self, numbers: Words) -> Words:
        """The place of each among the distinct ones of these keys, from 0 on."""
        order = self.sorted(numbers)
        fresh = np.ones(len(order), np.int64)
        if len(order):
            fresh[0] = 0
            fresh[1:] = numbers[order[1:]] != numbers[order[:-1]]
        found = np.empty(len(order), np.int64)
        found[order] = np.cumsum(fresh)
        return found
