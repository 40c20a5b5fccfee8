"""Keys of a local store: the operator's key, the start of the window, and a number that tells retained records apart.

Source: Chronarakis 2019, 2.2; encoding of Apache Samza 1.1 (specification of incremental checkpointing, 2.4).
"""

from __future__ import annotations

import numpy as np

from engine.core.tables import Words

KEY_EXTRA_BYTES = 16
"""Start of the window and sequence number, of 8 bytes each, behind the bytes of the operator's key."""


class StoreKeys:
    """Numbers of keys, from 0 on, and their order in the store: by the operator's key, then by window, then by sequence number."""

    def __init__(self) -> None:
        self.count = 0
        self._words = np.zeros((1024, 3), np.int64)

    def add(self, keys: Words, windows_ns: Words, sequences: Words) -> Words:
        """Number keys that are not in the table yet. All (n,)."""
        numbers = np.arange(self.count, self.count + len(keys))
        self.count += len(keys)
        if self.count > len(self._words):
            self._words = np.concatenate([self._words, np.zeros((max(len(self._words), self.count), 3), np.int64)])
        self._words[numbers] = np.stack([keys, windows_ns, sequences], axis=1)
        return numbers

    def of(self, numbers: Words) -> Words:
        """The words of these keys, (n, 3)."""
        return self._words[numbers]

    def sorted(self, numbers: Words) -> Words:
        """Positions that bring these keys into the order of the store. Equal ones stay as they are."""
        words = self._words[numbers]
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
