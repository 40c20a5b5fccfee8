"""Judges what the consistency jobs delivered, from their sinks alone (fixtures/experiments/consistency_count.yaml, consistency_set.yaml).

Source: Siachamis 2024, 3.6 (consistency checks). The experiments have no fault; whoever adds some asks here what they did to the state.
"""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc


def miscounted(counts: pa.Table, records: int) -> int:
    """Records counted too often (positive) or never (negative), in sum; 0 is exact.

    counts: fields key, count, a row for each record counted. records: how many the source had. Rows of a key come by several ways, so the
    last state of a key is its largest count, not its last row; a record delivered again after a recovery changes nothing.
    """
    largest = counts.group_by("key").aggregate([("count", "max")])["count_max"]
    return (pc.sum(largest).as_py() or 0) - records


class SetFaults(NamedTuple):
    """Of all keys together: values taken twice, and those that never came: below the largest one of their key (gaps), above it (unseen)."""

    duplicates: int
    gaps: int
    unseen: int


def set_faults(states: pa.Table, records: int) -> SetFaults:
    """What is wrong with the sets in the end; (0, 0, 0) is exactly once.

    states: fields key, values, distinct, largest, a row for each value taken, in order of delivery. records: how many values there were.
    The rows of a key come by one channel, so its last row is the last state.
    """
    fields = ("values", "distinct", "largest")
    last = states.group_by("key", use_threads=False).aggregate([(field, "last") for field in fields])  # one thread keeps the order
    values, distinct, largest = (pc.sum(last[f"{field}_last"]).as_py() or 0 for field in fields)
    reached = largest + last.num_rows
    return SetFaults(values - distinct, reached - distinct, records - reached)
