"""What is said in a rescale beside what coordinator and workers say anyway (`engine.checkpointing.messages`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from engine.core.control.keyed_state import tables_from_bytes, tables_to_bytes

STOP, RELEASE, RESCALE, PREPARE, MOVE, MOVED, GO_ON = range(12, 19)
"""(STOP, epoch, round) to a source: it takes its checkpoint, sends the barrier, and is held; so is whoever is aligned by that barrier,
whose number is negative. (RELEASE, epoch, round) to a worker: nothing comes of it, all go on where they stand. (RESCALE, epoch, round,
planned) to a worker, with a `Restart`: begin anew in another arrangement. planned: 1, or 0 if this is a recovery.

In place: (PREPARE, epoch, round, verb) to a worker, with a `Plan`: those of its instances with which the round begins are told so by this
verb. (MOVE, epoch, round) to a worker, with a `Restart`: the arrangement changes, and this is to be fetched. (MOVED, epoch, round) from it.
(GO_ON, epoch, round)."""


class Mark(NamedTuple):
    """What an instance has seen when it stopped: its watermark, the newest event time, and how many records it has read once."""

    instance: int
    watermark_ns: int
    newest_ns: int
    read: int


class Fetch(NamedTuple):
    """What an instance takes of an old one's checkpoint, which is so large and in so many pieces: key groups first .. end - 1, so many
    bytes. end: -1 for all groups."""

    instance: int
    old: int
    first: int
    end: int
    bytes: int
    size_bytes: int
    pieces: int


class Restart(NamedTuple):
    """How the instances of a machine begin anew. parallelism: by operator's number. fetches: of its instances. marks: of all instances that
    are in use. reads: instance of a source, and what it has read once. floors: where partitions go on, if not where they are: number of
    the source's operator, partition, `Place`."""

    parallelism: list[int]
    fetches: list[Fetch]
    marks: list[Mark]
    reads: list[list[int]]
    floors: list[list[int]]

    @property
    def rows(self) -> int:
        return len(self.fetches) + len(self.marks) + len(self.reads) + len(self.floors)

    def to_bytes(self) -> bytes:
        tables = (self.fetches, len(Fetch._fields)), (self.marks, len(Mark._fields)), (self.reads, 2), (self.floors, 5)
        return tables_to_bytes([np.array(self.parallelism, np.int64), *(table(rows, columns) for rows, columns in tables)])

    @classmethod
    def from_bytes(cls, content: bytes) -> Restart:
        parallelism, fetches, marks, reads, floors = (words.tolist() for words in tables_from_bytes(content))
        return cls(parallelism, [Fetch(*row) for row in fetches], [Mark(*row) for row in marks], reads, floors)


def table(rows: Sequence[Sequence[int]], columns: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.array(rows, np.int64).reshape(-1, columns)
