"""Continuous eventual checkpointing: an operator's output log also carries the state of its open windows, a window at a time.

A window leaves a footprint when it opens and at each of its checkpoints; only its newest one counts. From the oldest footprint of an open
window to the end of the log is the *extent*, which a recovery reads backwards. The window with the oldest footprint is checkpointed
whenever the extent, or the input that would be replayed, is longer than allowed.

Source: Sebepou and Magoutis 2011, as described by Chronarakis 2019, 3.3; the control loop is ours (specification of incremental
checkpointing, A9).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Kind = Literal["open", "check", "out"]


class Infeasible(ValueError):
    """More windows are open than the extent may have records, so no checkpoint makes it short enough."""


class LogRecord(NamedTuple):
    """A record of the output log. open_windows: how many are open from here on. position: of the operator in its input, after the tuple
    that it has just processed. content: the state of a "check", the result of an "out", None of an "open"."""

    kind: Kind
    key: int
    open_windows: int
    position: int
    content: Any


@dataclass(frozen=True)
class Bounds:
    """records_max: of the extent. replay_max: input tuples that a recovery processes again. None: any number."""

    records_max: int | None = None
    replay_max: int | None = None

    def __post_init__(self) -> None:
        for name in ("records_max", "replay_max"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}; it must be at least 1, or None")


@dataclass(frozen=True)
class Recovery:
    """What a scan from the end finds. windows: by key, its state (None if it had none) and the position up to which that includes the
    input. closed: windows whose result is in the log already. position: the input is replayed from behind it. read: records."""

    windows: dict[int, tuple[Any, int]]
    closed: frozenset[int]
    position: int
    read: int


@dataclass
class OutputLog:
    """first: number of the oldest record that is left. checkpoints: how many were written."""

    bounds: Bounds
    records: list[LogRecord] = field(default_factory=list)
    first: int = 0
    checkpoints: int = 0
    _footprints: dict[int, tuple[int, int]] = field(default_factory=dict)  # by key: number of its record and position, oldest first

    @property
    def end(self) -> int:
        return self.first + len(self.records)

    @property
    def extent(self) -> int:
        """Records that a recovery reads."""
        return self.end - self._oldest()[0]

    def replay(self, position: int) -> int:
        """Input tuples that would be replayed if the operator, at this position, crashed now."""
        return position - min(position, self._oldest(position)[1])

    def open(self, key: int, position: int) -> None:
        """A window opens with the next tuple, behind this position."""
        if key in self._footprints:
            raise ValueError(f"window {key} is open already")
        self._footprints[key] = (self.end, position)
        self._append("open", key, position, None)

    def close(self, key: int, position: int, result: Any) -> None:
        del self._footprints[key]
        self._append("out", key, position, result)

    def checkpoint(self, key: int, position: int, state: Any) -> None:
        """Supersedes all that there was of this window."""
        del self._footprints[key]
        self._footprints[key] = (self.end, position)
        self._append("check", key, position, state)
        self.checkpoints += 1

    def keep_short(self, position: int, state_of: Callable[[int], Any]) -> None:
        """Checkpoint the window with the oldest footprint until both bounds hold. Call it after each tuple and each result. Raises
        Infeasible."""
        records_max, replay_max = self.bounds.records_max, self.bounds.replay_max
        if records_max is not None and len(self._footprints) > records_max:
            message = f"records_max is {records_max}, but {len(self._footprints)} windows are open, each with a record; allow more"
            raise Infeasible(message)
        while (records_max is not None and self.extent > records_max) or (replay_max is not None and self.replay(position) > replay_max):
            key = next(iter(self._footprints), None)
            if key is None:
                break
            self.checkpoint(key, position, state_of(key))

    def trim(self, acknowledged: int) -> None:
        """Drop records that no recovery reads, and that the operators downstream have acknowledged, up to this number."""
        to = min(self._oldest()[0], acknowledged)
        del self.records[: max(0, to - self.first)]
        self.first = max(self.first, to)

    def recover(self, position: int) -> Recovery:
        """Scan from the end until all open windows are found. position: to begin from where there is none."""
        windows: dict[int, tuple[Any, int]] = {}
        closed: set[int] = set()
        wanted = self.records[-1].open_windows if self.records else 0
        read = 0
        for record in reversed(self.records):
            if len(windows) == wanted:
                break
            read += 1
            if record.kind == "out":
                closed.add(record.key)
            elif record.key not in windows and record.key not in closed:
                windows[record.key] = (record.content, record.position)
        behind = min((at for _, at in windows.values()), default=position)
        return Recovery(windows, frozenset(closed), behind, read)

    def _oldest(self, position: int = 0) -> tuple[int, int]:
        return next(iter(self._footprints.values()), (self.end, position))

    def _append(self, kind: Kind, key: int, position: int, content: Any) -> None:
        self.records.append(LogRecord(kind, key, len(self._footprints), position, content))
