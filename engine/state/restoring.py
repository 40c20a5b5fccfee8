"""What it takes to fill a store from its changelog, record by record.

Source: Chronarakis 2019, 4.4. The costs are calibrated (specification of incremental checkpointing, A7): reading, and inserting into a
sorted buffer, which is quick behind its largest key and slow elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.core.tables import Words

from .store_keys import StoreKeys


@dataclass(frozen=True)
class RestoreCosts:
    """All in ns. read, read_byte: of a record, and of each of its bytes. ascending: to insert a key above all in the buffer. search: to
    insert another one."""

    read_ns: float = 700.0
    read_byte_ns: float = 2.5
    ascending_ns: float = 453.0
    search_ns: float = 1943.0

    def __post_init__(self) -> None:
        for name in ("read_ns", "read_byte_ns", "ascending_ns", "search_ns"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name):g}; it must not be negative")

    def expected_ns(self, records: int, bytes: int) -> float:
        """What a restore of so many records will take about, if their keys come in no order."""
        return records * (self.read_ns + self.search_ns) + bytes * self.read_byte_ns


def restore_ns(
    keys: StoreKeys, numbers: Words, record_bytes: Words, entry_bytes: Words, buffer_bytes: int, costs: RestoreCosts
) -> NDArray[np.float64]:
    """What each record of a changelog takes, in the order of the log. All (n,). numbers: of its keys. record_bytes: in the log.
    entry_bytes: in a buffer of the store, which begins anew when it holds buffer_bytes."""
    reading = costs.read_ns + costs.read_byte_ns * record_bytes
    ranks = keys.ranks(numbers)
    ends = np.cumsum(entry_bytes)
    ascending = np.zeros(len(numbers), bool)
    at = 0
    while at < len(numbers):
        before = int(ends[at - 1]) if at else 0
        to = min(int(np.searchsorted(ends, before + buffer_bytes)) + 1, len(numbers))
        part = ranks[at:to]
        ascending[at] = True
        ascending[at + 1 : to] = part[1:] > np.maximum.accumulate(part)[:-1]
        at = to
    return (reading + np.where(ascending, costs.ascending_ns, costs.search_ns)).astype(np.float64)
