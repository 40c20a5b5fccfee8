"""What the joins do with a record, one at a time (docs/event-core.md, section 7): plain lists, searched from end to end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from engine.spec import RecordSchema

from .operators import Behaviour, Panes
from .plan import milliseconds, seconds
from .records import Record

OTHER = {"left": "right", "right": "left"}


@dataclass(eq=False)
class Stored:
    """A record that a join keeps. arrival: how many it had stored before, which is the order of storage."""

    record: Record
    port: str
    key: Any
    arrival: int
    pane: int | None = None
    stored_ns: int = 0


class Pairing(Behaviour):
    """Keys, output fields and lineage of a join of two inputs."""

    def __init__(self, params: Any, left: RecordSchema, right: RecordSchema):
        super().__init__()
        self.params = params
        self.keys = {"left": params.left_key, "right": params.right_key}
        self.bytes = {"left": left.bytes, "right": right.bytes}
        names = {("left", name): name for name in left.names}
        for name in right.names:
            output = name
            while output in names.values():
                output = f"right_{output}"
            names["right", name] = output
        fields = {output: field for field, output in names.items()}
        self.select = {output: fields.get(output, output) for output in (params.select if params.select is not None else fields)}
        self.stored: list[Stored] = []
        self.arrivals = 0

    def store(self, record: Record, port: str, **about: Any) -> Stored:
        stored = Stored(record, port, record.values[self.keys[port]], self.arrivals, **about)
        self.arrivals += 1
        self.stored.append(stored)
        return stored

    def others(self, record: Record, port: str, holds: Callable[[Stored], bool] = lambda _: True) -> list[Stored]:
        """What the other side has stored under the record's key, in order of storage."""
        key = record.values[self.keys[port]]
        return [stored for stored in self.stored if stored.port == OTHER[port] and stored.key == key and holds(stored)]

    def pair(self, came_last: Record, port: str, other: Record, bounds: tuple[int, int] = (0, 0)) -> Record:
        by_side = {port: came_last, OTHER[port]: other}
        values = {}
        for output, field in self.select.items():
            if field == "window_start":
                values[output] = bounds[0]
            elif field == "window_end":
                values[output] = bounds[1]
            elif field == "last_of_firing":
                values[output] = False
            else:
                side, name = field
                values[output] = by_side[side].values[name]
        rules = {
            "newest": max(came_last.event_ns, other.event_ns),
            "oldest": min(came_last.event_ns, other.event_ns),
            "trigger": came_last.event_ns,
        }
        anchors = came_last.anchors.with_contributors(other.anchors)
        return Record(values, rules.get(self.params.event_time, 0), came_last.trigger, anchors)

    def state_bytes(self) -> int:
        return sum(self.bytes[s.port] for s in self.stored) + 16 * len({(s.key, s.pane) for s in self.stored})

    def too_late(self, record: Record, port: str) -> list[Record]:
        self.late += 1
        return [record.to_port(f"late_{port}")]


class PanePairing(Pairing):
    """A join over panes of time: who may enter which, and when they are freed."""

    def __init__(self, params: Any, left: RecordSchema, right: RecordSchema):
        super().__init__(params, left, right)
        self.panes = Panes.of(params.window)
        self.ends = {"left": params.left_window_end, "right": params.right_window_end}
        self.lateness_ns = milliseconds(params.lateness_ms)
        self.ticks_asked: set[int] = set()

    def admit(self, record: Record, port: str, now_ns: int) -> list[int | None]:
        """Starts of the open panes that the record belongs to, ascending; asks for the ticks of new ones."""
        if self.panes.size_ns is None:
            return [None]
        starts = [record.values[self.ends[port]] - self.panes.size_ns] if self.ends[port] else self.panes.starts(record, now_ns)
        if self.panes.processing_clock:
            self.timers += [start + self.panes.size_ns for start in starts if start not in self.ticks_asked]
            self.ticks_asked |= set(starts)
            return starts
        return [start for start in starts if start + self.panes.size_ns + self.lateness_ns > self.watermark_ns]

    def bounds(self, start: int | None) -> tuple[int, int]:
        return (0, 0) if start is None else (start, start + self.panes.size_ns)

    def on_watermark(self, watermark_ns: int) -> list[Record]:
        before_ns, self.watermark_ns = self.watermark_ns, watermark_ns
        if self.panes.size_ns is None or self.panes.processing_clock:
            return []
        rows = self.fire({s.pane for s in self.stored if before_ns < s.pane + self.panes.size_ns <= watermark_ns})
        self.stored = [s for s in self.stored if s.pane + self.panes.size_ns + self.lateness_ns > watermark_ns]
        return rows

    def on_tick(self, tick_ns: int) -> list[Record]:
        start = tick_ns - self.panes.size_ns
        rows = self.fire({start})
        self.stored = [s for s in self.stored if s.pane != start]
        return rows

    def fire(self, starts: Iterable[int]) -> list[Record]:
        """The rows that these panes give at their end."""
        return []


class Join(PanePairing):
    """Every arrival meets at once what the other side has stored."""

    def on_record(self, record: Record, port: str, now_ns: int) -> tuple[int, list[Record]]:
        starts = self.admit(record, port, now_ns)
        outputs = [] if starts else self.too_late(record, port)
        for start in starts:
            matches = self.others(record, port, lambda stored, start=start: stored.pane == start)
            outputs += [self.pair(record, port, stored.record, self.bounds(start)) for stored in matches]
            self.store(record, port, pane=start)
        return max(1, len(starts)), outputs


class WindowJoin(PanePairing):
    """All pairs of a pane at its end; a record that comes after that, and is not late, gives its own pairs at once."""

    def __init__(self, params: Any, left: RecordSchema, right: RecordSchema, key_group: Callable[[Any], int]):
        super().__init__(params, left, right)
        self.key_group = key_group
        self.counted = params.window.kind == "count"
        self.seen = 0  # records of both sides

    def state_bytes(self) -> int:
        return super().state_bytes() + (16 if self.seen else 0)

    def on_counted_record(self, record: Record, port: str) -> tuple[int, list[Record]]:
        """Window j ends with record (j + 1) x slide - 1 of both sides together, counted from 0, and holds the last `size` of them."""
        size, number = self.params.window.size, self.seen
        slide = self.params.window.slide or size
        self.seen += 1
        windows = range(number // slide, (number + size) // slide)
        for j in windows:
            self.store(record, port, pane=j)
        outputs = []
        if self.seen % slide == 0:
            outputs = self.fire({windows[0]})
            self.stored = [stored for stored in self.stored if stored.pane != windows[0]]
        return len(windows), outputs

    def on_watermark(self, watermark_ns: int) -> list[Record]:
        return [] if self.counted else super().on_watermark(watermark_ns)

    def on_record(self, record: Record, port: str, now_ns: int) -> tuple[int, list[Record]]:
        if self.counted:
            return self.on_counted_record(record, port)
        starts = self.admit(record, port, now_ns)
        outputs = [] if starts else self.too_late(record, port)
        for start in starts:
            mine = self.store(record, port, pane=start)
            if not self.panes.processing_clock and start + self.panes.size_ns <= self.watermark_ns:
                matches = self.others(record, port, lambda stored, start=start: stored.pane == start)
                outputs += [self.result(mine, stored) for stored in matches]
        return max(1, len(starts)), self.with_last(outputs) if starts else outputs

    def fire(self, starts: Iterable[int]) -> list[Record]:
        contents: dict[tuple[int, Any], list[Stored]] = {}
        for stored in self.stored:
            if stored.pane in starts:
                contents.setdefault((stored.pane, stored.key), []).append(stored)
        outputs = []
        for here in sorted(contents.values(), key=lambda here: (self.key_group(here[0].key), here[0].pane, here[0].arrival)):
            left, right = ([stored for stored in here if stored.port == port] for port in ("left", "right"))
            self.rows_read += len(left) + len(right)
            outputs += [self.result(a, b) for a in left for b in right]
        return self.with_last(outputs)

    def with_last(self, pairs: list[Record]) -> list[Record]:
        """The last pair of a firing says so."""
        if pairs and "last_of_firing" in self.select.values():
            name = next(output for output, field in self.select.items() if field == "last_of_firing")
            pairs[-1].values[name] = True
        return pairs

    def result(self, one: Stored, other: Stored) -> Record:
        first, last = sorted((one, other), key=lambda stored: stored.arrival)
        pair = self.pair(last.record, last.port, first.record, self.bounds(one.pane))
        if self.params.event_time != "window":
            return pair
        contributors = [stored.record for stored in self.stored if (stored.pane, stored.key) == (one.pane, one.key)]
        anchors = pair.anchors
        for record in contributors:
            anchors = anchors.with_contributors(record.anchors)
        return replace(pair, event_ns=max(record.event_ns for record in contributors), anchors=anchors)


class IntervalJoin(Pairing):
    """left.t + lower <= right.t <= left.t + upper, or <= a time that the left record has in a field."""

    def __init__(self, params: Any, left: RecordSchema, right: RecordSchema):
        super().__init__(params, left, right)
        self.lower_ns = seconds(params.lower_s)
        self.lateness_ns = milliseconds(params.lateness_ms)

    def until(self, left: Record) -> int:
        """The last time of a right record that matches."""
        return left.values[self.params.until] if self.params.until else left.event_ns + seconds(self.params.upper_s)

    def match(self, left: Record, right: Record) -> bool:
        return left.event_ns + self.lower_ns <= right.event_ns <= self.until(left)

    def may_match_later(self, record: Record, port: str) -> bool:
        """Whether a record that is not late may still match it."""
        last_ns = self.until(record) if port == "left" else record.event_ns - self.lower_ns
        return last_ns >= self.watermark_ns - self.lateness_ns

    def on_record(self, record: Record, port: str, now_ns: int) -> tuple[int, list[Record]]:
        if record.event_ns < self.watermark_ns - self.lateness_ns:
            return 1, self.too_late(record, port)
        fits = (lambda s: self.match(record, s.record)) if port == "left" else (lambda s: self.match(s.record, record))
        outputs = [self.pair(record, port, stored.record) for stored in self.others(record, port, fits)]
        if self.may_match_later(record, port):
            self.store(record, port)
        return 1, outputs

    def on_watermark(self, watermark_ns: int) -> list[Record]:
        self.watermark_ns = watermark_ns
        self.stored = [s for s in self.stored if self.may_match_later(s.record, s.port)]
        return []


class ExpiringJoin(Pairing):
    """What was stored in the last `ttl_s`; of a side with `unmatched` what has not matched yet, with `latest` the last of each key."""

    def on_record(self, record: Record, port: str, now_ns: int) -> tuple[int, list[Record]]:
        keep = {"left": self.params.keep_left, "right": self.params.keep_right}
        self.stored = [s for s in self.stored if s.stored_ns + seconds(self.params.ttl_s) > now_ns]
        matches = self.others(record, port)
        if not matches or keep[port] != "unmatched":
            if keep[port] == "latest":
                key = record.values[self.keys[port]]
                self.stored = [s for s in self.stored if (s.port, s.key) != (port, key)]
            self.store(record, port, stored_ns=now_ns)
        if keep[OTHER[port]] == "unmatched":
            self.stored = [s for s in self.stored if s not in matches]
        return 1, [self.pair(record, port, s.record) for s in matches]


class PathJoin(Pairing):
    """Links and the paths that end where they start; a deletion forgets a link, and the paths through it."""

    def on_record(self, record: Record, port: str, now_ns: int) -> tuple[int, list[Record]]:
        if port != "deleted":
            matches = self.others(record, port)
            self.store(record, port)
            return 1, [self.pair(record, port, stored.record) for stored in matches]
        gone = (record.values[self.params.deleted_start], record.values[self.params.deleted_end])
        before = len(self.stored)
        self.stored = [stored for stored in self.stored if gone not in self.links(stored)]
        return 1 + before - len(self.stored), []

    def links(self, stored: Stored) -> list[tuple[Any, Any]]:
        values = stored.record.values
        if stored.port == "left":
            return [(stored.key, values[self.params.left_end])]
        nodes = [values[name] for name in self.params.right_path]
        return list(pairwise(nodes))
