"""Record schemas: what flows along the edges of a query."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

FieldType = Literal["int", "float", "bool", "string", "timestamp"]
FIELD_BYTES: dict[str, int] = {"int": 8, "float": 8, "bool": 1, "string": 16, "timestamp": 8}


@dataclass(frozen=True)
class RecordField:
    """zero_ns: what a timestamp's 0 is on the calendar, in ns since 1970 (UTC); None if that is not known.

    It is no difference between two fields: both hold ns of the run's time.
    """

    name: str
    type: FieldType
    zero_ns: int | None = field(default=None, compare=False)

    def named(self, name: str) -> RecordField:
        """The same under another name."""
        return replace(self, name=name)


@dataclass(frozen=True)
class RecordSchema:
    """Ordered fields of a record and its accounting size.

    bytes: what one record counts for on links and in buffers; independent of the engine's own storage.
    zero_ns: what 0 is on the calendar for all its timestamps alike; None if that is not known, or there are none.
    """

    fields: tuple[RecordField, ...]
    bytes: int = 0
    zero_ns: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not self.bytes:
            object.__setattr__(self, "bytes", sum(FIELD_BYTES[f.type] for f in self.fields))
        if self.zero_ns is None:
            object.__setattr__(self, "zero_ns", common(f.zero_ns for f in self.fields if f.type == "timestamp"))

    @classmethod
    def of(cls, bytes: int = 0, **types: FieldType) -> RecordSchema:
        """Fields as they are generated: virtual time starts with 1970."""
        return cls(tuple(RecordField(n, t, 0 if t == "timestamp" else None) for n, t in types.items()), bytes)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.fields)

    def only(self, names: Collection[str]) -> RecordSchema:
        """The same records with just these fields carried; their accounting size stays."""
        return RecordSchema(tuple(f for f in self.fields if f.name in names), self.bytes, self.zero_ns)

    def counted_from(self, zero_ns: int) -> RecordSchema:
        """Return the same fields, with all timestamps counted from this moment (ns since 1970)."""
        fields = (replace(field, zero_ns=zero_ns) if field.type == "timestamp" else field for field in self.fields)
        return RecordSchema(tuple(fields), self.bytes)

    def index(self, name: str) -> int:
        return self.names.index(name)

    def field(self, name: str) -> RecordField:
        return self.fields[self.index(name)]

    def type_of(self, name: str) -> FieldType:
        return self.field(name).type

    def met_by(self, other: RecordSchema) -> RecordSchema:
        """These fields where records of both schemas come in: what the two do not agree on is not known."""
        pairs = zip(self.fields, other.fields, strict=True)
        return RecordSchema(tuple(replace(a, zero_ns=common((a.zero_ns, b.zero_ns))) for a, b in pairs), self.bytes)

    def __contains__(self, name: object) -> bool:
        return name in self.names


def common(zeros: Iterable[int | None]) -> int | None:
    """The one value that all have; None if there is none."""
    distinct = set(zeros)
    return distinct.pop() if len(distinct) == 1 else None
