"""What all faults of hosts have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from pydantic import Field

from ...base.units import Number, milliseconds_ns, quantity
from ..occurrences import AnyOccurrence
from .base import Fault


class HostFault(Fault):
    """Something that happens to one host."""

    group: ClassVar[str] = "Hosts"
    begins_field: ClassVar[str] = "when"
    host: str = Field(
        min_length=1, title="Host", description="Name of the host that it happens to.", json_schema_extra={"x-editor": "host"}
    )
    when: AnyOccurrence = Field(title="When", description="Once, or by a random process.")

    @property
    @abstractmethod
    def span_ns(self) -> int | None:
        """How long it lasts; None: for ever."""

    @property
    def begins_ns(self) -> int | None:
        """When it first happens; None: at random."""
        return self.when.begins_ns


class PassingFault(HostFault):
    """Something that happens to one host for a while."""

    for_ms: Number = quantity(unit="ms", ge=0.000001, le=1e12, title="For", description="How long it lasts.")

    @property
    def span_ns(self) -> int:
        return milliseconds_ns(self.for_ms)
