"""Messages between coordinator and workers: verbs, sizes and contents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.core.control.keyed_state import tables_from_bytes, tables_to_bytes
from engine.spec.base.origins import constant

TRIGGER, ROUND_DONE, HELLO, RECOVER, FETCH, RESTORED, GO, ROUND_FAILED, TIMER, TAKE, STORED, SWITCHED = range(12)
"""(TRIGGER, epoch, round) to a source. (ROUND_DONE, epoch, round) from a worker, with `TAKEN` rows; (ROUND_FAILED, epoch, round) if the
store refused some. (HELLO,) from a worker that has just started. (RECOVER, epoch) to a worker, with `TAKEN` rows of the checkpoints to roll
back to. (FETCH, epoch): the worker's own timer. (RESTORED, epoch), (GO, epoch). Without rounds: (TIMER, epoch), the worker's own timer;
(TAKE, epoch, number, when) to its instances, without a number if each has its own timer; (STORED, epoch) to the coordinator, with a
`TAKEN` row and the instance's counters. (SWITCHED, epoch, region, round, turn): this round has changed the mode of its region."""

MESSAGE_BYTES = constant(64, "assumed")
ROW_BYTES = constant(16, "assumed")  # per row that a message carries

INSTANCE, NUMBER, CAPTURED_NS, BYTES, PIECES, DURABLE_NS, FORCED, ASKED_NS, NOTES_BYTES, START, BASE, COLUMNS = range(12)
TAKEN = ("instance", "number", "captured_ns", "bytes", "pieces", "durable_ns", "forced", "asked_ns", "notes_bytes", "start", "base")
"""A taken checkpoint: instance, number, capture time, size, number of pieces, time when the store had all of them, rules by which a record
forced it (`layout.RULE_*`, 0 for none), time when it was requested (in a round: when the first barrier was served), bytes of the
protocol's notes in it, and the numbers of the whole checkpoint that its chain starts with and of the one it builds on (`chains`): its own
and 0 if it is whole."""


def order_to_bytes(rows: Sequence[Sequence[int]], ranges: Sequence[Sequence[int]], apart: Sequence[Sequence[int]]) -> bytes:
    """Encode the content of RECOVER: `TAKEN` rows of the checkpoints to roll back to; channel, first and end of the records to replay;
    regions whose instances take independent checkpoints from then on, and the round after which they do."""
    tables = (rows, COLUMNS), (ranges, 3), (apart, 2)
    return tables_to_bytes([np.array(table, np.int64).reshape(-1, columns) for table, columns in tables])


def order_from_bytes(content: bytes) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
    rows, ranges, apart = tables_from_bytes(content)
    return rows.tolist(), ranges.tolist(), apart.tolist()


# -- objects in the store -----------------------------------------------------------------------------------------------------

PIECES_MAX = 1 << 12
INSTANCES_MAX = 1 << 20  # and numbers below 1 << 30


def key(number: int, instance: int = 0, piece: int = 0) -> int:
    """Return the key of a piece of a checkpoint; lower numbers have lower keys."""
    return (number * INSTANCES_MAX + instance) * PIECES_MAX + piece


def of_key(key: int) -> tuple[int, int]:
    """Return number and instance of a key."""
    return key // (PIECES_MAX * INSTANCES_MAX), key // PIECES_MAX % INSTANCES_MAX
