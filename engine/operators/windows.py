"""Windows: the panes of aggregates and joins."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from engine.spec.base.operator import Model
from engine.spec.base.problems import Refusal
from engine.spec.base.units import Integer, seconds_ns

PANES_MAX = 1000

Clock = Annotated[
    Literal["event", "processing"],
    Field(
        description="event: the record's event time, panes close by watermark; processing: the start of its service, panes close by timer"
    ),
]

PROCESSING_TIME = "its windows are of processing time, and another host serves its records at other times (choose clock event)"
"""Why a copy of an operator may give other results."""


class NoWindow(Model):
    """One pane that never ends."""

    kind: Literal["none"] = "none"


class FullHistory(Model):
    """Both sides are kept forever."""

    kind: Literal["full_history"] = "full_history"


def at_least_a_nanosecond(name: str, value_s: float) -> None:
    """Check that a duration does not round to 0 ns. Raises `Refusal`."""
    if seconds_ns(value_s) < 1:
        message = f"{name} is {value_s:g}, which rounds to 0 ns; use at least 1e-9"
        raise Refusal(message, at=(name,), code="out_of_range", value=value_s)


class Tumbling(Model):
    """Panes [origin + n size, origin + (n + 1) size)."""

    kind: Literal["tumbling"] = "tumbling"
    size_s: float = Field(gt=0, le=1e6, description="length of a pane", json_schema_extra={"x-unit": "s"})
    origin_s: float = Field(
        0.0, ge=-1e6, le=1e6, description="start of one pane; the others follow from it", json_schema_extra={"x-unit": "s"}
    )
    clock: Clock = "event"

    @model_validator(mode="after")
    def _takes_time(self) -> Tumbling:
        at_least_a_nanosecond("size_s", self.size_s)
        return self


class Sliding(Model):
    """Panes [origin + n slide, origin + n slide + size): a record is in ceil(size / slide) of them."""

    kind: Literal["sliding"] = "sliding"
    size_s: float = Field(gt=0, le=1e6, description="length of a pane", json_schema_extra={"x-unit": "s"})
    slide_s: float = Field(
        gt=0, le=1e6, description="distance between the starts of panes, at most the size", json_schema_extra={"x-unit": "s"}
    )
    origin_s: float = Field(
        0.0, ge=-1e6, le=1e6, description="start of one pane; the others follow from it", json_schema_extra={"x-unit": "s"}
    )
    clock: Clock = "event"

    @model_validator(mode="after")
    def _slide_within_size(self) -> Sliding:
        at_least_a_nanosecond("size_s", self.size_s)
        at_least_a_nanosecond("slide_s", self.slide_s)
        if self.slide_s > self.size_s:
            message = f"slide_s {self.slide_s:g} is longer than size_s {self.size_s:g}: records would be lost; use at most {self.size_s:g}"
            raise Refusal(message, at=("slide_s",), code="slide_too_long", value=self.slide_s)
        if self.size_s / self.slide_s > PANES_MAX:
            message = f"size_s / slide_s is {self.size_s / self.slide_s:g}, the number of panes per record; at most {PANES_MAX} are allowed"
            raise Refusal(message, at=("slide_s",), code="too_many_panes", value=self.slide_s)
        return self


RecordsPerWindow = Annotated[
    Integer, Field(ge=1, le=1_000_000_000, description="records per window", json_schema_extra={"x-unit": "records"})
]
RecordsPerSlide = Annotated[
    Integer | None,
    Field(
        ge=1,
        le=1_000_000_000,
        description="records from one window's end to the next, at most the size; default: the size",
        json_schema_extra={"x-unit": "records"},
    ),
]


class Count(Model):
    """Windows of a number of records, of all inputs together. Every slide-th record ends one with the last `size` records, or with fewer at
    first."""

    kind: Literal["count"] = "count"
    size: RecordsPerWindow
    slide: RecordsPerSlide = None

    @property
    def step(self) -> int:
        return self.size if self.slide is None else self.slide

    @model_validator(mode="after")
    def _slide_within_size(self) -> Count:
        check_count(self.size, self.slide)
        return self


def check_count(size: int, slide: int | None) -> None:
    """Check windows of a number of records. Raises `Refusal` at `slide`."""
    step = size if slide is None else slide
    if step > size:
        message = f"slide {step} is more than size {size}: records would be lost; use at most {size}"
        raise Refusal(message, at=("slide",), code="slide_too_long", value=slide)
    if size > PANES_MAX * step:
        message = f"size / slide is {size / step:g}, the number of windows per record; at most {PANES_MAX} are allowed"
        raise Refusal(message, at=("slide",), code="too_many_panes", value=slide)


class Until(Model):
    """Windows that end at a time given in the records: one per value of the field."""

    kind: Literal["until"] = "until"
    field: str = Field(description="field with the end of the record's window, a timestamp", json_schema_extra={"x-editor": "field"})
    size_s: float | None = Field(
        None,
        gt=0,
        le=1e6,
        description="length of the windows, by which results tell their starts, too; none: they tell the ends alone",
        json_schema_extra={"x-unit": "s"},
        exclude_if=lambda size_s: size_s is None,
    )

    @property
    def clock(self) -> str:
        return "event"


class Marked(Model):
    """Windows that a record ends: the first in which a field is true, for all keys together."""

    kind: Literal["marked"] = "marked"
    field: str = Field(description="field that is true in the last record of a window, a bool", json_schema_extra={"x-editor": "field"})

    @property
    def clock(self) -> str:
        return "records"


def panes_of_a_record(window: Model) -> int:
    """Return the maximum number of panes per record."""
    if isinstance(window, Count):
        return -(-window.size // window.step)
    return -(-seconds_ns(window.size_s) // seconds_ns(window.slide_s)) if isinstance(window, Sliding) else 1


def deadlines(window: Model) -> tuple[int, int] | None:
    """End of one pane and the distance to the next, in ns. None for windows by processing time, and for ends given by records."""
    if not isinstance(window, Tumbling | Sliding) or window.clock != "event":
        return None
    size_ns = seconds_ns(window.size_s)
    return seconds_ns(window.origin_s) + size_ns, seconds_ns(window.slide_s) if isinstance(window, Sliding) else size_ns


AggregateWindow = Annotated[NoWindow | Tumbling | Sliding | Until | Marked, Field(discriminator="kind")]
JoinWindow = Annotated[FullHistory | Tumbling | Sliding, Field(discriminator="kind")]
FiringWindow = Annotated[Tumbling | Sliding | Count, Field(discriminator="kind")]
