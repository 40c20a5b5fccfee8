"""The kinds of aggregates, one record at a time (docs/event-core.md, section 7). Every value is kept; every row is computed from all."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .expressions import wrapped
from .operators import Behaviour, Panes
from .plan import milliseconds, seconds
from .records import Anchors, Record

Outcome = tuple[int, list[Record]]
"""Work and outputs."""


@dataclass
class Group:
    """The records of one key in one window so far.

    values: by aggregate, those of its field in order of arrival. terms: what a sum adds up from left to right: the values, but for sums of
    sessions that have been merged.
    """

    key: Any
    values: list[list[Any]]
    terms: list[list[Any]]
    count: int = 0
    trigger: int | None = None
    anchors: Anchors | None = None

    def add(self, record: Record, fields: list[str | None]) -> None:
        self.count += 1
        for values, terms, name in zip(self.values, self.terms, fields, strict=True):
            if name is not None:
                values.append(record.values[name])
                terms.append(record.values[name])
        self.anchors = record.anchors if self.anchors is None else record.anchors.with_contributors(self.anchors, grouped=True)
        self.trigger = record.trigger


def left_sum(terms: list[Any]) -> Any:
    """The sum from left to right. Python's own `sum` of floats compensates rounding errors, which a running sum does not."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def added(function: str, terms: list[Any]) -> list[Any]:
    """What the function adds up: averages add floats."""
    return [float(term) for term in terms] if function == "avg" else terms


def of_floats(value: Any) -> tuple[bool, Any]:
    """Sort key: NaN is greater than every number."""
    return (True, 0) if value != value else (False, value)


def distinct(value: Any) -> Any:
    """Equal for equal values; there is one NaN."""
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def result(function: str, group: Group, k: int) -> Any:
    if function == "count":
        return group.count
    if function == "sum":
        total = left_sum(added(function, group.terms[k]))
        return wrapped(total) if isinstance(total, int) else total
    if function == "avg":
        return left_sum(added(function, group.terms[k])) / float(group.count)
    if function == "count_distinct":
        return len({distinct(value) for value in group.values[k]})
    return (min if function == "min" else max)(group.values[k], key=of_floats)


class Aggregation(Behaviour, ABC):
    """word: a key as an integer, for order. record_bytes: accounting bytes of an input record."""

    group_bytes = 24

    def __init__(self, params: Any, word: Callable[[Any], int], record_bytes: int):
        super().__init__()
        self.params, self.word, self.record_bytes = params, word, record_bytes
        self.fields = [None if aggregate.function == "count" else aggregate.field for aggregate in params.aggregates]
        self.at_firing = params.evaluation == "at_firing"

    def key_of(self, record: Record) -> Any:
        return None if self.params.key is None else record.values[self.params.key]

    def new_group(self, key: Any) -> Group:
        return Group(key, [[] for _ in self.fields], [[] for _ in self.fields])

    @abstractmethod
    def groups(self) -> list[Group]:
        """All that it keeps."""

    def state_bytes(self) -> int:
        return sum(self.group_bytes + self.kept_bytes(group) for group in self.groups())

    def kept_bytes(self, group: Group) -> int:
        if self.at_firing:
            return group.count * self.record_bytes
        counted = [
            values for aggregate, values in zip(self.params.aggregates, group.values, strict=True) if aggregate.function == "count_distinct"
        ]
        return 8 * len(self.fields) + 8 * sum(len({distinct(value) for value in values}) for values in counted)

    def is_due(self, group: Group) -> bool:
        """A row is due because of the number of records in the group, this one included."""
        every = self.params.every or (1 if self.params.emit == "on_update" else None)
        return every is not None and group.count % every == 0

    def row(self, group: Group, bounds: tuple[int, int] | None, event_ns: int) -> Record:
        values = {} if self.params.key is None else {self.params.key: group.key}
        if bounds is not None:
            values |= dict(zip(("window_start", "window_end"), bounds, strict=True))
            window = getattr(self.params, "window", None)
            if window is not None and window.kind == "until" and window.size_s is None:
                del values["window_start"]
        for k, aggregate in enumerate(self.params.aggregates):
            values[aggregate.name] = result(aggregate.function, group, k)
        return Record(values, event_ns, group.trigger, group.anchors)

    def reading(self, group: Group) -> int:
        """How many stored records making a row of this group reads."""
        return group.count if self.at_firing else 0

    def too_late(self, record: Record) -> Outcome:
        self.late += 1
        return 1, [record.to_port("late")]


class PaneAggregate(Aggregation):
    """key_group: from a key to the group of keys that orders the rows of panes that end together."""

    def __init__(self, params: Any, word: Callable[[Any], int], record_bytes: int, key_group: Callable[[Any], int]):
        super().__init__(params, word, record_bytes)
        self.mark = params.window.field if params.window.kind == "marked" else None  # true in the last record of a window
        self.until = params.window.field if params.window.kind == "until" else None  # such a pane is known by its end
        self.panes = Panes(seconds(params.window.size_s or 0), 0, 0, False) if self.until else Panes.of(params.window)
        self.key_group = key_group
        self.by_watermark = self.panes.size_ns is not None and not self.panes.processing_clock
        self.lateness_ns = milliseconds(params.lateness_ms)
        self.kept: dict[int | None, dict[Any, Group]] = {}  # pane start -> key -> group, in order of first arrival

    def groups(self) -> list[Group]:
        return [group for groups in self.kept.values() for group in groups.values()]

    def end(self, start: int) -> int:
        return start + self.panes.size_ns

    def on_record(self, record: Record, port: str, now_ns: int) -> Outcome:
        starts = [record.values[self.until] - self.panes.size_ns] if self.until else self.panes.starts(record, now_ns)
        if self.by_watermark:
            starts = [start for start in starts if self.end(start) + self.lateness_ns > self.watermark_ns]
            if not starts:
                return self.too_late(record)
        if self.panes.processing_clock:
            self.timers += [self.end(start) for start in starts if start not in self.kept]
        work, outputs = len(starts), []
        for start in starts:
            groups = self.kept.setdefault(start, {})
            group = groups.setdefault(self.key_of(record), self.new_group(self.key_of(record)))
            group.add(record, self.fields)
            bounds = None if start is None else (start, self.end(start))
            update = self.params.emit == "on_close" and self.by_watermark and self.end(start) <= self.watermark_ns
            if update or self.is_due(group):
                self.rows_read += self.reading(group)
                outputs.append(self.row(group, bounds, self.end(start) - 1 if update else record.event_ns))
        if self.mark and record.values[self.mark]:
            ending = sorted(self.kept.pop(None).values(), key=lambda group: self.key_group(group.key))
            if self.params.emit == "on_close":
                self.rows_read += sum(self.reading(group) for group in ending)
                outputs += [self.row(group, None, record.event_ns) for group in ending]
        return work, outputs

    def on_watermark(self, watermark_ns: int) -> list[Record]:
        before_ns, self.watermark_ns = self.watermark_ns, watermark_ns
        if not self.by_watermark:
            return []
        rows = self.rows_of([start for start in self.kept if before_ns < self.end(start) <= watermark_ns])
        self.kept = {start: groups for start, groups in self.kept.items() if self.end(start) + self.lateness_ns > watermark_ns}
        return rows

    def on_tick(self, tick_ns: int) -> list[Record]:
        start = tick_ns - self.panes.size_ns
        rows = self.rows_of([start])
        del self.kept[start]
        return rows

    def rows_of(self, starts: list[int]) -> list[Record]:
        """Rows of panes that end."""
        if self.params.emit == "on_update":
            return []
        ending = [
            (self.key_group(group.key), start, arrival, group)
            for start in starts
            for arrival, group in enumerate(self.kept[start].values())
        ]
        rows = [(start, group) for _, start, _, group in sorted(ending, key=lambda row: row[:3])]
        self.rows_read += sum(self.reading(group) for _, group in rows)
        return [self.row(group, (start, self.end(start)), self.end(start) - 1) for start, group in rows]


@dataclass
class Session:
    group: Group
    start_ns: int
    end_ns: int  # a gap after its last record

    @property
    def closes_ns(self) -> int:
        """A record at the very end still belongs to it."""
        return self.end_ns + 1


class SessionAggregate(Aggregation):
    group_bytes = 40

    def __init__(self, params: Any, word: Callable[[Any], int], record_bytes: int):
        super().__init__(params, word, record_bytes)
        self.gap_ns = seconds(params.gap_s)
        self.by_watermark = params.clock == "event"
        self.lateness_ns = milliseconds(params.lateness_ms)
        self.sessions: list[Session] = []
        self.timers_set: set[int] = set()

    def groups(self) -> list[Group]:
        return [session.group for session in self.sessions]

    def on_record(self, record: Record, port: str, now_ns: int) -> Outcome:
        time_ns = record.event_ns if self.by_watermark else now_ns
        key = self.key_of(record)
        met = [
            session
            for session in self.sessions
            if session.group.key == key and session.start_ns <= time_ns + self.gap_ns and time_ns <= session.end_ns
        ]
        if not met and self.by_watermark and time_ns + self.gap_ns + 1 + self.lateness_ns <= self.watermark_ns:
            return self.too_late(record)
        met.sort(key=lambda session: session.start_ns)
        if not met:
            session = Session(self.new_group(key), time_ns, time_ns + self.gap_ns)
            self.sessions.append(session)
        else:
            session = met[0]
            for other in met[1:]:
                self.sessions.remove(other)
                self.merge(session, other)
        session.start_ns = min(session.start_ns, time_ns)
        session.end_ns = max(session.end_ns, time_ns + self.gap_ns)
        session.group.add(record, self.fields)
        if not self.by_watermark and session.closes_ns not in self.timers_set:
            self.timers.append(session.closes_ns)
            self.timers_set.add(session.closes_ns)
        work = max(1, len(met))
        update = self.params.emit == "on_close" and self.by_watermark and session.closes_ns <= self.watermark_ns
        if not (update or self.is_due(session.group)):
            return work, []
        self.rows_read += self.reading(session.group)
        return work, [self.row_of(session, session.end_ns - 1 if update else record.event_ns)]

    def merge(self, session: Session, later: Session) -> None:
        a, b = session.group, later.group
        a.values = [x + y for x, y in zip(a.values, b.values, strict=True)]
        if self.at_firing:
            a.terms = [x + y for x, y in zip(a.terms, b.terms, strict=True)]
        else:
            a.terms = [
                x + y if aggregate.function not in ("sum", "avg") else [left_sum(added(aggregate.function, part)) for part in (x, y)]
                for aggregate, x, y in zip(self.params.aggregates, a.terms, b.terms, strict=True)
            ]
        a.count += b.count
        a.anchors = a.anchors.with_contributors(b.anchors, grouped=True)
        session.end_ns = later.end_ns

    def row_of(self, session: Session, event_ns: int) -> Record:
        return self.row(session.group, (session.start_ns, session.end_ns), event_ns)

    def on_watermark(self, watermark_ns: int) -> list[Record]:
        before_ns, self.watermark_ns = self.watermark_ns, watermark_ns
        if not self.by_watermark:
            return []
        rows = self.rows_of([session for session in self.sessions if before_ns < session.closes_ns <= watermark_ns])
        self.sessions = [session for session in self.sessions if session.closes_ns + self.lateness_ns > watermark_ns]
        return rows

    def still_ends_at(self, tick_ns: int) -> bool:
        return any(session.closes_ns == tick_ns for session in self.sessions)

    def on_tick(self, tick_ns: int) -> list[Record]:
        ending = [session for session in self.sessions if session.closes_ns <= tick_ns]
        self.sessions = [session for session in self.sessions if session.closes_ns > tick_ns]
        return self.rows_of(ending)

    def rows_of(self, ending: list[Session]) -> list[Record]:
        """Rows of sessions that end."""
        if self.params.emit == "on_update":
            return []
        ending.sort(key=lambda session: (session.end_ns, self.word(session.group.key)))
        self.rows_read += sum(self.reading(session.group) for session in ending)
        return [self.row_of(session, session.end_ns - 1) for session in ending]


class CountWindowAggregate(Aggregation):
    """Window j of a key ends with its record (j + 1) x slide - 1, counted from 0, and holds the last `size` records until then. If all
    records are counted together, window j has a group for each key."""

    def __init__(self, params: Any, word: Callable[[Any], int], record_bytes: int, key_group: Callable[[Any], int]):
        super().__init__(params, word, record_bytes)
        self.key_group = key_group
        self.seen: dict[Any, int] = {}
        self.open: dict[tuple[Any, int], Group] = {}  # in order of first arrival
        self.together = params.counts == "all" and params.key is not None

    def groups(self) -> list[Group]:
        return list(self.open.values())

    def state_bytes(self) -> int:
        overlap = (self.params.slide is not None and self.params.slide < self.params.size) or self.together
        return super().state_bytes() + (16 * len(self.seen) if overlap else 0)

    def on_record(self, record: Record, port: str, now_ns: int) -> Outcome:
        key, size = self.key_of(record), self.params.size
        slide = size if self.params.slide is None else self.params.slide
        counter = None if self.together else key
        number = self.seen.get(counter, 0)
        self.seen[counter] = number + 1
        windows = range(number // slide, (number + size) // slide)
        work, outputs = len(windows), []
        for j in windows:
            group = self.open.setdefault((key, j), self.new_group(key))
            group.add(record, self.fields)
            if number + 1 == (j + 1) * slide:
                ending_keys = [of_key for of_key, of_window in self.open if of_window == j and (self.together or of_key == key)]
                for of_key in sorted(ending_keys, key=self.key_group):
                    ending = self.open.pop((of_key, j))
                    self.rows_read += self.reading(ending)
                    outputs.append(self.row(ending, None, record.event_ns))
        return work, outputs
