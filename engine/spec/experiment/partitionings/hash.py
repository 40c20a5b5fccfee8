"""Parameters of the partitioning `hash`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.problems import Refusal
from ...base.records import NO_KEYS, RecordSchema
from ...base.units import Integer
from .base import Keying, Partitioning


class Hash(Partitioning):
    """By a key: equal keys reach the same instance."""

    title: ClassVar[str] = "Hash"
    icon: ClassVar[str] = "shuffle"
    position: ClassVar[int] = 2
    field_params: ClassVar[tuple[str, ...]] = ("key",)
    kind: Literal["hash"] = "hash"
    key: str = Field(min_length=1, max_length=200, title="Key", description="A field of the records on this edge.")
    scheme: Literal["key_groups", "modulo"] = Field(
        default="key_groups", title="Scheme", description="Key groups, or the key modulo the parallelism."
    )
    key_groups: Integer = Field(
        default=128, ge=1, le=32_768, title="Key groups", description="Number of key groups; at least the receiver's parallelism."
    )
    mixed: bool = Field(
        default=True,
        strict=True,
        title="Mixed",
        description="Hash keys into key groups. If off, use the key modulo the number of groups.",
    )

    @property
    def keying(self) -> Keying:
        if self.scheme == "modulo":
            return Keying(self.key, "modulo")
        return Keying(self.key, "mixed" if self.mixed else "not mixed", self.key_groups)

    def check_records(self, schema: RecordSchema) -> None:
        super().check_records(schema)
        if (type := schema.type_of(self.key)) in NO_KEYS:
            message = f"key is '{self.key}', a {type}; partition by an int, string, bool or timestamp field"
            raise Refusal(message, at=("key",), code="type_mismatch", value=self.key)

    def check_parallelism(self, senders: int, receivers: int) -> None:
        if self.scheme == "key_groups" and self.key_groups < receivers:
            message = (
                f"key_groups is {self.key_groups}, below the receiver's parallelism of {receivers}, so some instances would have no "
                f"key group; it must be at least {receivers}"
            )
            raise Refusal(message, at=("key_groups",), code="out_of_range", value=self.key_groups)
