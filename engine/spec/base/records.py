"""Schemas of the records on the edges of a query."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

FieldType = Literal["int", "float", "bool", "string", "timestamp", "vector"]
"""A vector is kept once, beside the log, and carried by its number (docs/similarity.md): only similarity joins read it."""
DeclaredType = Literal["int", "float", "bool", "string", "timestamp"]
"""Types that a document can declare."""
FIELD_BYTES: dict[str, int] = {"int": 8, "float": 8, "bool": 1, "string": 16, "timestamp": 8, "vector": 8}
"""Accounting sizes; of a vector, for each of its coordinates."""
NO_KEYS = ("float", "vector")
"""Types by whose values records are not grouped, joined or partitioned."""
DIMENSIONS_MAX = 50
"""Coordinates of a vector, each a field of its own."""
VECTOR_DIMENSIONS_MAX = 4096
"""Coordinates of a vector that is one field."""
VECTORS_MAX = 8
"""Such fields in the records of one source."""


@dataclass(frozen=True)
class RecordField:
    """A field of a record.

    zero_ns: calendar time of a timestamp's 0, in ns since 1970 (UTC); None if unknown. Ignored in comparisons, as both fields hold ns of
    the run's time. dimensions: of a vector; 0 for all other types.
    """

    name: str
    type: FieldType
    zero_ns: int | None = field(default=None, compare=False)
    dimensions: int = 0

    @property
    def bytes(self) -> int:
        """Accounting size of its values."""
        return FIELD_BYTES[self.type] * (self.dimensions or 1)

    def named(self, name: str) -> RecordField:
        """The same field under another name."""
        return replace(self, name=name)


@dataclass(frozen=True)
class RecordSchema:
    """Ordered fields of a record and its accounting size.

    bytes: accounting size of a record on links and in buffers, independent of the engine's own storage.
    zero_ns: calendar time of 0, common to all its timestamps; None if unknown, or if it has no timestamps.
    """

    fields: tuple[RecordField, ...]
    bytes: int = 0
    zero_ns: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not self.bytes:
            object.__setattr__(self, "bytes", sum(f.bytes for f in self.fields))
        if self.zero_ns is None:
            object.__setattr__(self, "zero_ns", common(f.zero_ns for f in self.fields if f.type == "timestamp"))

    @classmethod
    def of(cls, bytes: int = 0, **types: FieldType) -> RecordSchema:
        """Schema of generated records, whose virtual time starts at 1970."""
        return cls(tuple(RecordField(n, t, 0 if t == "timestamp" else None) for n, t in types.items()), bytes)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.fields)

    def only(self, names: Collection[str]) -> RecordSchema:
        """The same records with only these fields carried. The accounting size stays the same."""
        return RecordSchema(tuple(f for f in self.fields if f.name in names), self.bytes, self.zero_ns)

    def counted_from(self, zero_ns: int) -> RecordSchema:
        """Return the same fields, with all timestamps counted from this time (ns since 1970)."""
        fields = (replace(field, zero_ns=zero_ns) if field.type == "timestamp" else field for field in self.fields)
        return RecordSchema(tuple(fields), self.bytes)

    def index(self, name: str) -> int:
        return self.names.index(name)

    def field(self, name: str) -> RecordField:
        return self.fields[self.index(name)]

    def type_of(self, name: str) -> FieldType:
        return self.field(name).type

    def met_by(self, other: RecordSchema) -> RecordSchema:
        """These fields for records of both schemas: a `zero_ns` that differs becomes unknown."""
        pairs = zip(self.fields, other.fields, strict=True)
        return RecordSchema(tuple(replace(a, zero_ns=common((a.zero_ns, b.zero_ns))) for a, b in pairs), self.bytes)

    def __contains__(self, name: object) -> bool:
        return name in self.names


def common(zeros: Iterable[int | None]) -> int | None:
    """The value shared by all; None if they differ."""
    distinct = set(zeros)
    return distinct.pop() if len(distinct) == 1 else None
