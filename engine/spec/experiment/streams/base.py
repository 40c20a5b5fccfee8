"""Base class of streams. Their generators are in `engine.workloads.streams`, one file each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field

from ...base.problems import Refusal
from ...base.records import RecordSchema
from ...base.units import Integer, quantity
from ...base.variant import Variant


@dataclass(frozen=True)
class DatasetInfo:
    """Facts about an uploaded file that validation needs.

    schema: its columns. timestamps: the columns that can serve as event time, best first. rows: number of records.
    firsts_ns: the first time in each timestamp column, in ns since 1970.
    """

    schema: RecordSchema
    timestamps: tuple[str, ...]
    rows: int
    firsts_ns: Mapping[str, int]


def unknown_dataset(name: str) -> Refusal:
    """The refusal of a field `dataset` that names an unknown data set."""
    message = f"dataset '{name}' is unknown; upload it or choose another"
    return Refusal(message, at=("dataset",), code="unknown_dataset", value=name)


class Stream(Variant):
    """A kind of records. `schema_fixed` holds their fields if these depend on neither parameters nor a file."""

    schema_fixed: ClassVar[RecordSchema | None] = None
    usual_per_s: ClassVar[float] = 1000.0  # the rate of a new source
    facts: ClassVar[tuple[str, ...]] = ("usual_per_s",)

    record_bytes: Integer = quantity(
        0,
        unit="B",
        ge=0,
        le=1_000_000,
        title="Record size",
        description="Accounting size of a record on links and in buffers. 0: the stream's own size.",
    )

    def record_schema(self, dataset: DatasetInfo | None = None) -> RecordSchema:
        """Fields and size of the stream's records. A file stream needs its `dataset`. Raises `Refusal` (path below the stream)."""
        schema = self.own_schema(dataset)
        return RecordSchema(schema.fields, self.record_bytes or schema.bytes)

    def own_schema(self, dataset: DatasetInfo | None) -> RecordSchema:
        """Like `record_schema`, with the stream's own record size."""
        assert self.schema_fixed is not None
        return self.schema_fixed


def count(default: int, *, least: int = 1, most: int = 100_000_000, title: str, description: str) -> int:
    """A field for the size of a population."""
    number: int = Field(default=default, ge=least, le=most, title=title, description=description)
    return number


def ratio(default: float, *, title: str, description: str) -> float:
    """A field for a share from 0 to 1."""
    share: float = Field(default=default, ge=0, le=1, title=title, description=description)
    return share
