"""Uploaded files."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.problems import Refusal, suggestion
from ...base.records import RecordField, RecordSchema
from ..uploads import DatasetName, column
from .base import DatasetInfo, Stream, unknown_dataset


class FileStream(Stream):
    """The rows of an uploaded file, in timestamp order."""

    title: ClassVar[str] = "Uploaded file"
    icon: ClassVar[str] = "file"
    position: ClassVar[int] = 17
    kind: Literal["file"] = "file"
    dataset: DatasetName
    timestamp: str = column(title="Timestamp column", description="The column that holds the event time.", is_time=True)
    columns: tuple[str, ...] | None = Field(
        default=None, title="Columns", description="Columns to read, in this order. Default: all columns."
    )

    def own_schema(self, dataset: DatasetInfo | None) -> RecordSchema:
        """The chosen columns. The timestamp column, if chosen, has the type timestamp."""
        if dataset is None:
            raise unknown_dataset(self.dataset)
        schema = dataset.schema
        if self.timestamp not in dataset.timestamps:
            raise Refusal(
                f"column '{self.timestamp}' of data set '{self.dataset}' is not usable as event time; choose one of its timestamp columns",
                at=("timestamp",),
                code="unknown_timestamp",
                value=self.timestamp,
                hint=suggestion(self.timestamp, dataset.timestamps),
            )
        names = schema.names if self.columns is None else self.columns
        if not names:
            raise Refusal("columns is empty; name at least one column or omit it", at=("columns",), code="too_short", value=[])
        for position, name in enumerate(names):
            at = ("columns", position)
            if name not in schema:
                message = f"data set '{self.dataset}' has no column '{name}'; choose one of its columns"
                raise Refusal(message, at=at, code="unknown_field", value=name, hint=suggestion(name, schema.names))
            if name in names[:position]:
                raise Refusal(f"column '{name}' is listed twice; list it once", at=at, code="duplicate", value=name)
        zero_ns = dataset.firsts_ns[self.timestamp]
        types = {name: "timestamp" if name == self.timestamp else schema.type_of(name) for name in names}
        sizes = {field.name: field.dimensions for field in schema.fields}
        fields = (RecordField(name, type, zero_ns if type == "timestamp" else None, sizes[name]) for name, type in types.items())
        return RecordSchema(tuple(fields))
