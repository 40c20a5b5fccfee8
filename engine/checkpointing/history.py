"""What a coordinator remembers of a run: rounds, durable checkpoints, recoveries, and what they gave up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from . import messages as M


@dataclass
class Round:
    """One round. Times in ns, -1 while they are not known. done: by host, when its worker said so. taken: `messages.TAKEN` rows.

    ended: how it ended: confirmed, failed (the store was full), aborted (by a recovery); "" while it is open. savepoint: all stand still
    behind it (`engine.rescaling`).
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
    """One recovery. Times in ns, -1 while they are not known.

    epoch: that begins with it. hosts: that were lost, as far as was known. search_ns: from the detection until the line is found. line:
    number of the checkpoint of each instance, 0 for the start of the run, -1 of instances that are not in use. ordered, restored: by host.
    planned: nothing was lost; all begin anew because somebody has ordered it (`engine.rescaling`).
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
        """When the line is found, which may still be to come."""
        return self.detected_ns + self.search_ns


class DurableCheckpoint(NamedTuple):
    """A checkpoint that is durable, and when its coordinator heard so. kind: basic, forced or coordinated. rules: those that forced it
    (`engine.core.layout.RULE_*`); 0: none did."""

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

    @classmethod
    def from_row(cls, row: Sequence[int], kind: str, heard_ns: int) -> DurableCheckpoint:
        """row: `messages.TAKEN`."""
        times = row[M.CAPTURED_NS], row[M.DURABLE_NS], row[M.BYTES]
        return cls(row[M.INSTANCE], row[M.NUMBER], *times, kind, heard_ns, row[M.ASKED_NS], row[M.NOTES_BYTES], row[M.FORCED])


class GivenUp(NamedTuple):
    """What the first recovery discarded.

    taken: checkpoints that all instances had. discarded: how many of them were newer than the line. share: discarded of taken. most: of one
    instance. share_across: the share if channels within a machine did not count.
    """

    taken: int
    discarded: int
    share: float
    most: int
    share_across: float


class Useless(NamedTuple):
    """Checkpoints that no line can hold, by instance and number, and how many checkpoints there are."""

    checkpoints: list[tuple[int, int]]
    taken: int
