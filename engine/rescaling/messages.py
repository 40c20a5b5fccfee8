"""Messages of a rescale, in addition to those of coordinator and workers (`engine.checkpointing.messages`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from engine.core.control.keyed_state import tables_from_bytes, tables_to_bytes

STOP, RELEASE, RESCALE, PREPARE, MOVE, MOVED, GO_ON = range(12, 19)
"""(STOP, epoch, round) to a source: take the checkpoint, send the barrier, and stop; so does every instance that this barrier aligns. The
barrier's number is negative. (RELEASE, epoch, round) to a worker: the rescale is aborted, all instances resume where they are. (RESCALE,
epoch, round, planned) to a worker, with a `Restart`: restart in another arrangement. planned: 1, or 0 in a recovery.
In place: (PREPARE, epoch, round, verb) to a worker, with a `Plan`: notify, by this verb, its instances that start the round. (MOVE, epoch,
round) to a worker, with a `Restart`: the arrangement changes, fetch this state. (MOVED, epoch, round) is the reply. (GO_ON, epoch, round):
resume."""


class Mark(NamedTuple):
    """State of an instance when it stopped: watermark, newest event time, and number of records read, without repeated reads."""

    instance: int
    watermark_ns: int
    newest_ns: int
    read: int


class Fetch(NamedTuple):
    """State that an instance takes from the checkpoint of an old instance: key groups first .. end - 1, `bytes` in total; end is -1 for all
    groups. size_bytes, pieces: of the whole checkpoint."""

    instance: int
    old: int
    first: int
    end: int
    bytes: int
    size_bytes: int
    pieces: int


class Restart(NamedTuple):
    """How the instances of a machine restart. parallelism: by operator number. begins: index of the first active instance, likewise; empty:
    unchanged. fetches: of its instances. marks: of all active instances.
    reads: source instance and number of records it has read, without repeats. floors: where partitions continue, if not where they are:
    number of the source operator, partition, `Place`."""

    parallelism: list[int]
    fetches: list[Fetch]
    marks: list[Mark]
    reads: list[list[int]]
    floors: list[list[int]]
    begins: list[int]

    @property
    def rows(self) -> int:
        return len(self.fetches) + len(self.marks) + len(self.reads) + len(self.floors)

    def to_bytes(self) -> bytes:
        tables = (self.fetches, len(Fetch._fields)), (self.marks, len(Mark._fields)), (self.reads, 2), (self.floors, 5)
        words = [np.array(words, np.int64) for words in (self.parallelism, self.begins)]
        return tables_to_bytes([*words, *(table(rows, columns) for rows, columns in tables)])

    @classmethod
    def from_bytes(cls, content: bytes) -> Restart:
        parallelism, begins, fetches, marks, reads, floors = (words.tolist() for words in tables_from_bytes(content))
        return cls(parallelism, [Fetch(*row) for row in fetches], [Mark(*row) for row in marks], reads, floors, begins)


def table(rows: Sequence[Sequence[int]], columns: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.array(rows, np.int64).reshape(-1, columns)
