"""Parameters of the stream `switched`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ...base.problems import Refusal
from ...base.records import RecordField, RecordSchema
from ...base.units import Number, quantity, seconds_ns
from .base import DatasetInfo, Stream
from .synthetic import Vectors
from .uploaded import FileStream

if TYPE_CHECKING:
    AnyStream = Stream


class SwitchedStream(Stream):
    """Records of one kind until a given time, of another from then on: data that drift. Both have the same fields. An uploaded file cannot
    be one of them."""

    title: ClassVar[str] = "Switched"
    group: ClassVar[str] = "Synthetic"
    icon: ClassVar[str] = "table"
    position: ClassVar[int] = 90
    kind: Literal["switched"] = "switched"

    before: AnyStream = Field(default=Vectors(), title="Before", description="Records whose event time is before the switch.")
    at_s: Number = quantity(30.0, unit="s", ge=0, le=1e8, title="At", description="Event time of the switch, from the start of the query.")
    after: AnyStream = Field(default=Vectors(law="gaussian"), title="After", description="Records from the switch on.")

    @property
    def at_ns(self) -> int:
        return seconds_ns(self.at_s)

    @model_validator(mode="after")
    def _same_fields(self) -> Self:
        for name in ("before", "after"):
            if isinstance(getattr(self, name), FileStream):
                message = f"{name} is a file, whose records cannot be made at any time; use a generated stream"
                raise Refusal(message, at=(name, "kind"), code="file", value="file")
        one, other = (stream.own_schema(None).fields for stream in (self.before, self.after))
        if one != other:
            fields = [", ".join(map(_in_words, schema)) for schema in (one, other)]
            message = f"after has the fields {fields[1]}, but before has {fields[0]}; give both the same"
            raise Refusal(message, at=("after",), code="different_fields")
        return self

    def own_schema(self, dataset: DatasetInfo | None) -> RecordSchema:
        """The size is that of a record before the switch."""
        return self.before.record_schema()


def _in_words(field: RecordField) -> str:
    return f"{field.name} {field.type}" + (f" of {field.dimensions}" if field.dimensions else "")
