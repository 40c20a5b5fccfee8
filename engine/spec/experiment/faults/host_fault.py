"""Base classes of all host faults."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from pydantic import Field

from ...base.units import Number, milliseconds_ns, quantity
from ...base.words import model_in_words, number_in_words
from ..occurrences import AnyOccurrence
from .base import Fault


class HostFault(Fault):
    """A fault of one host."""

    group: ClassVar[str] = "Hosts"
    begins_field: ClassVar[str] = "when"
    host: str = Field(min_length=1, title="Host", description="Name of the affected host.", json_schema_extra={"x-editor": "host"})
    when: AnyOccurrence = Field(title="When", description="Once, or by a random process.")

    @property
    def in_words(self) -> str:
        return f"{self.title} of {self.host} {model_in_words(self.when)}"

    @property
    @abstractmethod
    def span_ns(self) -> int | None:
        """Duration; None: permanent."""

    @property
    def begins_ns(self) -> int | None:
        """Time of its first occurrence; None: random."""
        return self.when.begins_ns


class PassingFault(HostFault):
    """A temporary fault of one host."""

    for_ms: Number = quantity(unit="ms", ge=0.000001, le=1e12, title="Duration", description="Duration of the fault.")

    @property
    def in_words(self) -> str:
        return f"{self.title} of {self.host} for {self.span_in_words} {model_in_words(self.when)}"

    @property
    def span_in_words(self) -> str:
        return number_in_words(self.for_ms / 1000, "s") if self.for_ms >= 1000 else number_in_words(self.for_ms, "ms")

    @property
    def span_ns(self) -> int:
        return milliseconds_ns(self.for_ms)
