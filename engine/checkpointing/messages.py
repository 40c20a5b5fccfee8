"""What coordinator and workers say to one another: verbs, sizes, and what goes with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.core.control.keyed_state import tables_from_bytes, tables_to_bytes

TRIGGER, ROUND_DONE, HELLO, RECOVER, FETCH, RESTORED, GO, ROUND_FAILED, TIMER, TAKE, STORED, SWITCHED = range(12)
"""(TRIGGER, epoch, round) to a source. (ROUND_DONE, epoch, round) from a worker, with `TAKEN` rows; (ROUND_FAILED, epoch, round) where the
store refused some. (HELLO,) from a worker that has just started. (RECOVER, epoch) to a worker, with `TAKEN` rows of the checkpoints to go
back to. (FETCH, epoch): its own reminder. (RESTORED, epoch), (GO, epoch). Without rounds: (TIMER, epoch), the worker's own reminder;
(TAKE, epoch, number, when) to its instances, without a number where each has a timer of its own; (STORED, epoch) to the coordinator, with
a `TAKEN` row and the instance's counters. (SWITCHED, epoch, region, round, turn): of a round that has changed how its region goes on."""

MESSAGE_BYTES = 64
ROW_BYTES = 16  # of what goes with a message, by instance

INSTANCE, NUMBER, CAPTURED_NS, BYTES, PIECES, DURABLE_NS, FORCED, ASKED_NS, NOTES_BYTES, COLUMNS = range(10)
TAKEN = ("instance", "number", "captured_ns", "bytes", "pieces", "durable_ns", "forced", "asked_ns", "notes_bytes")
"""A checkpoint that was taken: of which instance, its number, when, how large, in how many pieces, when the store had all of them,
by which rules a record forced it (`layout.RULE_*`; 0: none did), when it was asked for (of a round: when the first barrier was served), and
how much of it are the protocol's notes."""


def order_to_bytes(rows: Sequence[Sequence[int]], ranges: Sequence[Sequence[int]], apart: Sequence[Sequence[int]]) -> bytes:
    """What goes with RECOVER: `TAKEN` rows of the checkpoints to go back to; channel, first and end of the records to send again; regions
    whose instances take checkpoints by themselves from then on, and the round behind which they do."""
    tables = (rows, COLUMNS), (ranges, 3), (apart, 2)
    return tables_to_bytes([np.array(table, np.int64).reshape(-1, columns) for table, columns in tables])


def order_from_bytes(content: bytes) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
    rows, ranges, apart = tables_from_bytes(content)
    return rows.tolist(), ranges.tolist(), apart.tolist()


# -- objects in the store -----------------------------------------------------------------------------------------------------

PIECES_MAX = 1 << 12
INSTANCES_MAX = 1 << 20  # and numbers below 1 << 30


def key(number: int, instance: int = 0, piece: int = 0) -> int:
    """Of a piece of a checkpoint; those of a lesser number have lesser keys."""
    return (number * INSTANCES_MAX + instance) * PIECES_MAX + piece


def of_key(key: int) -> tuple[int, int]:
    """Number and instance."""
    return key // (PIECES_MAX * INSTANCES_MAX), key // PIECES_MAX % INSTANCES_MAX
