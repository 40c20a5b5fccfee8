"""What each kind of operator does with an item, one record at a time (docs/event-core.md, section 7). Plain dictionaries and lists."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from .expressions import Expression
from .plan import seconds
from .records import LOWEST_WATERMARK, Record


@dataclass
class Behaviour:
    """Passes records through: sources and unions. The other kinds redefine what they do differently.

    late: records that came after all of their panes had closed. errors: evaluations that met one.
    timers: pane ends for which the model has to make a tick; it empties the list.
    rows_read: stored records that its firings have read; the model sets it back to 0.
    """

    watermark_ns: int = LOWEST_WATERMARK
    late: int = 0
    errors: int = 0
    expressions: list[Expression] = field(default_factory=list)
    timers: list[int] = field(default_factory=list)
    rows_read: int = 0

    def on_record(self, record: Record, port: str, now_ns: int) -> tuple[int, list[Record]]:
        """Work (section 3) and outputs of a record whose service starts at `now_ns`."""
        return 1, [record]

    def value(self, expression: int, record: Record) -> Any:
        """The value of one of its expressions on the record."""
        outcome = self.expressions[expression].outcome(record.values)
        self.errors += outcome.errors
        return outcome.value

    def on_watermark(self, watermark_ns: int) -> list[Record]:
        """The instance's watermark rises to this; the rows that this gives."""
        self.watermark_ns = watermark_ns
        return []

    def still_ends_at(self, tick_ns: int) -> bool:
        """Whether a window ends at `tick_ns`, which is now, and has not been prolonged since its timer was set."""
        return True

    def on_tick(self, tick_ns: int) -> list[Record]:
        """A pane ends at `tick_ns` by the processing clock; the rows that this gives."""
        return []

    def state_bytes(self) -> int:
        """Accounting bytes of what it keeps."""
        return 0


class Receiver(Behaviour):
    """The ingestion of a record begins anew."""

    def on_record(self, record: Record, port: str, now_ns: int) -> tuple[int, list[Record]]:
        return 1, [replace(record, anchors=None if record.anchors is None else record.anchors.ingested_at(now_ns))]


class BlockReceiver(Receiver):
    """Records belong to the batch in which they are received, and so does their event time."""

    def __init__(self, batch_ns: int):
        super().__init__()
        self.batch_ns = batch_ns
        self.inputs_ended = False

    def on_record(self, record: Record, port: str, now_ns: int) -> tuple[int, list[Record]]:
        ends_ns = now_ns + 1 if self.watermark_ns == LOWEST_WATERMARK else self.watermark_ns + self.batch_ns
        return super().on_record(replace(record, event_ns=min(now_ns, ends_ns - 1)), port, now_ns)


@dataclass
class Sink(Behaviour):
    """Delivery is the model's; nothing goes on from here. counted_by: field with the number of records that one stands for."""

    counted_by: str | None = None

    def on_record(self, record: Record, port: str, now_ns: int) -> tuple[int, list[Record]]:
        return 1 if self.counted_by is None else max(record.values[self.counted_by], 0), []


def expression_over(schema: Any, text: str) -> Expression:
    return Expression(text, {field.name: field.zero_ns for field in schema.fields if field.type == "timestamp"})


class Filter(Behaviour):
    def __init__(self, params: Any, schema: Any):
        super().__init__()
        self.expressions = [expression_over(schema, params.predicate)]

    def on_record(self, record: Record, port: str, now_ns: int) -> tuple[int, list[Record]]:
        return 1, [record] if self.value(0, record) else []


class Map(Behaviour):
    def __init__(self, params: Any, schema: Any):
        super().__init__()
        self.names = [f.name for f in params.fields]
        self.expressions = [expression_over(schema, f.expression) for f in params.fields]

    def on_record(self, record: Record, port: str, now_ns: int) -> tuple[int, list[Record]]:
        return 1, [record.with_values({name: self.value(number, record) for number, name in enumerate(self.names)})]


class Project(Behaviour):
    def __init__(self, params: Any):
        super().__init__()
        self.fields = {chosen.name or chosen.field: chosen.field for chosen in params.fields}

    def on_record(self, record: Record, port: str, now_ns: int) -> tuple[int, list[Record]]:
        return 1, [record.with_values({name: record.values[field] for name, field in self.fields.items()})]


class Split(Behaviour):
    def __init__(self, params: Any, schema: Any):
        super().__init__()
        self.expressions = [expression_over(schema, route.predicate) for route in params.routes]
        self.copies = params.mode == "copy"

    def on_record(self, record: Record, port: str, now_ns: int) -> tuple[int, list[Record]]:
        tried, ports = 0, []
        for number in range(len(self.expressions)):
            tried += 1
            if self.value(number, record):
                ports.append(f"out{number + 1}")
                if not self.copies:
                    break
        return tried, [record.to_port(out) for out in ports or ["rest"]]


@dataclass(frozen=True)
class Panes:
    """The panes `[start, start + size)`, start = origin + n x slide, of a windowed operator. size None: one pane for ever."""

    size_ns: int | None
    slide_ns: int
    origin_ns: int
    processing_clock: bool

    @classmethod
    def of(cls, window: Any) -> Panes:
        if window.kind in ("none", "full_history", "marked"):
            return cls(None, 0, 0, False)
        if window.kind == "count":
            return cls(1, 1, 0, False)
        size_ns = seconds(window.size_s)
        slide_ns = seconds(window.slide_s) if window.kind == "sliding" else size_ns
        return cls(size_ns, slide_ns, seconds(window.origin_s), window.clock == "processing")

    def starts(self, record: Record, now_ns: int) -> list[int | None]:
        """Starts of the panes that the record falls into, ascending; `[None]` for the pane without end."""
        if self.size_ns is None:
            return [None]
        time_ns = now_ns if self.processing_clock else record.event_ns
        last = self.origin_ns + (time_ns - self.origin_ns) // self.slide_ns * self.slide_ns
        starts = []
        while last + self.size_ns > time_ns:
            starts.append(last)
            last -= self.slide_ns
        return starts[::-1]
