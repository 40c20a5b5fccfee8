"""What every stream of the document declares. Generators stand in `engine.workloads.streams`, one file for each of these."""

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
    """What validation must know of an uploaded file.

    schema: its columns. timestamps: the columns that can serve as event time, best first. rows: how many records it has.
    firsts_ns: the first time in each of these columns, in ns since 1970.
    """

    schema: RecordSchema
    timestamps: tuple[str, ...]
    rows: int
    firsts_ns: Mapping[str, int]


def unknown_dataset(name: str) -> Refusal:
    """What is wrong with the field `dataset` when there is none of that name."""
    message = f"dataset '{name}' is unknown; upload it or choose another"
    return Refusal(message, at=("dataset",), code="unknown_dataset", value=name)


class Stream(Variant):
    """What the records are. `schema_fixed` says their fields, where they do not depend on parameters or a file."""

    schema_fixed: ClassVar[RecordSchema | None] = None

    record_bytes: Integer = quantity(
        0,
        unit="B",
        ge=0,
        le=1_000_000,
        title="Record size",
        description="What a record counts for on links and in buffers; 0 for the stream's own size.",
    )

    def record_schema(self, dataset: DatasetInfo | None = None) -> RecordSchema:
        """Fields and size of the stream's records; a file needs its `dataset`. Raises `Refusal` (path below the stream)."""
        schema = self.own_schema(dataset)
        return RecordSchema(schema.fields, self.record_bytes or schema.bytes)

    def own_schema(self, dataset: DatasetInfo | None) -> RecordSchema:
        """Fields, and the size of records that the document does not give. Raises as `record_schema`."""
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
