"""Record schemas: what flows along the edges of a query."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

FieldType = Literal["int", "float", "bool", "string", "timestamp"]
FIELD_BYTES: dict[str, int] = {"int": 8, "float": 8, "bool": 1, "string": 16, "timestamp": 8}


@dataclass(frozen=True)
class RecordField:
    name: str
    type: FieldType


@dataclass(frozen=True)
class RecordSchema:
    """Ordered fields of a record and its accounting size.

    bytes: what one record counts for on links and in buffers; independent of the engine's own storage.
    """

    fields: tuple[RecordField, ...]
    bytes: int = 0

    def __post_init__(self) -> None:
        if not self.bytes:
            object.__setattr__(self, "bytes", sum(FIELD_BYTES[f.type] for f in self.fields))

    @classmethod
    def of(cls, bytes: int = 0, **types: FieldType) -> RecordSchema:
        return cls(tuple(RecordField(n, t) for n, t in types.items()), bytes)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.fields)

    def only(self, names: Collection[str]) -> RecordSchema:
        """The same records with just these fields carried; their accounting size stays."""
        return RecordSchema(tuple(f for f in self.fields if f.name in names), self.bytes)

    def index(self, name: str) -> int:
        return self.names.index(name)

    def type_of(self, name: str) -> FieldType:
        return self.fields[self.index(name)].type

    def __contains__(self, name: object) -> bool:
        return name in self.names
