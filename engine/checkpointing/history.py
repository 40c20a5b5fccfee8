"""A coordinator's history of a run: rounds, durable checkpoints, recoveries, and what recoveries discarded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from . import messages as M


@dataclass
class Round:
    """A round. Times in ns, -1 until known. done: by host, when its worker reported. taken: `messages.TAKEN` rows.

    ended: confirmed, failed (the store was full) or aborted (by a recovery); "" while open. savepoint: all instances stop behind it
    (`engine.rescaling`).
    """

    number: int
    epoch: int
    triggered_ns: int
    done: dict[int, int] = field(default_factory=dict)
    taken: list[list[int]] = field(default_factory=list)
    failed: bool = False
    ended: str = ""
    ended_ns: int = -1
    savepoint: bool = False


@dataclass
class Recovery:
    """A recovery. Times in ns, -1 until known.

    epoch: the epoch it starts. hosts: hosts known to be lost. search_ns: from detection until the line is found. line: checkpoint number of
    each instance, 0 for the initial state, -1 for inactive instances. ordered, restored: by host.
    planned: nothing was lost; all instances restart for a rescale (`engine.rescaling`).
    """

    epoch: int
    detected_ns: int
    hosts: list[int]
    search_ns: int = 0
    line: list[int] = field(default_factory=list)
    ordered: dict[int, int] = field(default_factory=dict)
    restored: dict[int, int] = field(default_factory=dict)
    go_ns: int = -1
    planned: bool = False

    @property
    def open(self) -> bool:
        return self.go_ns < 0

    @property
    def found_ns(self) -> int:
        """When the line is or will be found."""
        return self.detected_ns + self.search_ns


class DurableCheckpoint(NamedTuple):
    """A durable checkpoint. heard_ns: when the coordinator heard of it. kind: basic, forced or coordinated. rules: the rules that forced it
    (`engine.core.layout.RULE_*`), 0 for none. base: number of the checkpoint that it builds on, 0 if it is whole."""

    instance: int
    number: int
    captured_ns: int
    durable_ns: int
    size_bytes: int
    kind: str
    heard_ns: int
    asked_ns: int
    notes_bytes: int
    rules: int
    base: int

    @classmethod
    def from_row(cls, row: Sequence[int], kind: str, heard_ns: int) -> DurableCheckpoint:
        """row: `messages.TAKEN`."""
        times = row[M.CAPTURED_NS], row[M.DURABLE_NS], row[M.BYTES]
        rest = heard_ns, row[M.ASKED_NS], row[M.NOTES_BYTES], row[M.FORCED], row[M.BASE]
        return cls(row[M.INSTANCE], row[M.NUMBER], *times, kind, *rest)


class GivenUp(NamedTuple):
    """Checkpoints that the first recovery discarded.

    taken: total number of checkpoints. discarded: number of those newer than the line. share: discarded / taken. most: maximum discarded by
    one instance. share_across: the share if channels within a machine did not count.
    """

    taken: int
    discarded: int
    share: float
    most: int
    share_across: float


class Useless(NamedTuple):
    """Checkpoints that can be on no consistent line, by instance and number, and the total number of checkpoints."""

    checkpoints: list[tuple[int, int]]
    taken: int
