"""Continuous eventual checkpointing: an operator's output log also carries the state of its open windows, a window at a time.

A window leaves a footprint when it opens and at each of its checkpoints; only its newest one counts. From the oldest footprint of an open
window to the end of the log is the *extent*, which a recovery reads backwards. The window with the oldest footprint is checkpointed
whenever the extent, or the input that would be replayed, is longer than allowed.

Source: Sebepou and Magoutis 2011, as described by Chronarakis 2019, 3.3; the control loop is ours (specification of incremental
checkpointing, A9).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Kind = Literal["open", "check", "out"]


class Infeasible(ValueError):
    """More windows are open than the extent may have records, so no checkpoint makes it short enough."""


class LogRecord(NamedTuple):
    """A record of the output log. open_windows: how many are open from here on. position: of the operator in its input, after the tuple
    that it has just processed. content: the state of a "check", the result of an "out", None of an "open"."""

    kind: Kind
    key: Any
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

    windows: dict[Any, tuple[Any, int]]
    closed: frozenset[Any]
    position: int
    read: int


@dataclass
class OutputLog:
    """first: number of the oldest record that is left. checkpoints: how many were written."""

    bounds: Bounds
    records: list[LogRecord] = field(default_factory=list)
    first: int = 0
    checkpoints: int = 0
    _footprints: dict[Any, tuple[int, int]] = field(default_factory=dict)  # by key: number of its record and position, oldest first
    _greatest: int = -1  # position of a footprint so far
    _in_order: bool = True  # whether the oldest footprint has the least position, as until the first recovery

    @property
    def end(self) -> int:
        return self.first + len(self.records)

    @property
    def extent(self) -> int:
        """Records that a recovery reads."""
        return self.end - self._oldest()[0]

    def replay(self, position: int) -> int:
        """Input tuples that would be replayed if the operator, at this position, crashed now."""
        return position - min(position, self.least_position(position))

    def least_position(self, position: int) -> int:
        """The input is replayed from behind this position; the one that is given if no window is open."""
        if self._in_order:
            return self._oldest(position)[1]
        return min((at for _, at in self._footprints.values()), default=position)

    def is_open(self, key: Hashable) -> bool:
        return key in self._footprints

    def open_contents(self) -> dict[Any, Any]:
        """By open window, the content of its footprint."""
        return {key: self.records[number - self.first].content for key, (number, _) in self._footprints.items()}

    @property
    def oldest_window(self) -> Any:
        """The open window with the oldest footprint, None if none is open."""
        return next(iter(self._footprints), None)

    @property
    def open_windows(self) -> int:
        return len(self._footprints)

    def open(self, key: Hashable, position: int, content: Any = None) -> None:
        """A window opens with the next tuple, behind this position."""
        if key in self._footprints:
            raise ValueError(f"window {key} is open already")
        self._leave_footprint(key, position)
        self._append("open", key, position, content)

    def close(self, key: Hashable, position: int, result: Any) -> None:
        del self._footprints[key]
        self._append("out", key, position, result)

    def checkpoint(self, key: Hashable, position: int, state: Any) -> None:
        """Supersedes all that there was of this window."""
        del self._footprints[key]
        self._leave_footprint(key, position)
        self._append("check", key, position, state)
        self.checkpoints += 1

    def keep_short(self, position: int, state_of: Callable[[Any], Any], position_of: Callable[[Any], int] | None = None) -> None:
        """Checkpoint the window with the oldest footprint while the extent is too long, and the one that is furthest behind while the
        replay is. Call it after each tuple and each result. position_of: up to where the state of a window includes the input, if that is
        not the operator's position. Raises Infeasible, when the replay is short enough."""
        records_max, replay_max = self.bounds.records_max, self.bounds.replay_max
        infeasible = records_max is not None and len(self._footprints) > records_max
        while self._footprints:
            if replay_max is not None and self.replay(position) > replay_max:
                key = self._furthest_behind()
            elif records_max is not None and self.extent > records_max and not infeasible:
                key = next(iter(self._footprints))
            else:
                break
            self.checkpoint(key, position if position_of is None else position_of(key), state_of(key))
        if infeasible:
            message = f"records_max is {records_max}, but {len(self._footprints)} windows are open, each with a record; allow more"
            raise Infeasible(message)

    def take_back(self, first: int) -> None:
        """Drop the records from this number on, which never came to the log."""
        del self.records[max(0, first - self.first) :]
        self._footprints, self._greatest, self._in_order = {}, -1, True
        for number, record in enumerate(self.records, self.first):
            self._footprints.pop(record.key, None)
            if record.kind != "out":
                self._leave_footprint(record.key, record.position, number)

    def trim(self, acknowledged: int) -> None:
        """Drop records that no recovery reads, and that the operators downstream have acknowledged, up to this number."""
        to = min(self._oldest()[0], acknowledged)
        del self.records[: max(0, to - self.first)]
        self.first = max(self.first, to)

    def recover(self, position: int) -> Recovery:
        """Scan from the end until all open windows are found. position: to begin from where there is none."""
        windows: dict[Any, tuple[Any, int]] = {}
        closed: set[Any] = set()
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

    def _furthest_behind(self) -> Any:
        """The open window whose footprint has the least position."""
        if self._in_order:
            return next(iter(self._footprints))
        return min(self._footprints, key=lambda key: self._footprints[key][1])

    def _leave_footprint(self, key: Hashable, position: int, number: int | None = None) -> None:
        self._footprints[key] = (self.end if number is None else number, position)
        self._in_order = self._in_order and position >= self._greatest
        self._greatest = max(self._greatest, position)

    def _append(self, kind: Kind, key: Hashable, position: int, content: Any) -> None:
        self.records.append(LogRecord(kind, key, len(self._footprints), position, content))
