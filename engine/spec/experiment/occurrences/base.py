"""Base class of all occurrences."""

from __future__ import annotations

from typing import ClassVar

from ...base.units import seconds_ns
from ...base.variant import Variant
from ...base.words import number_in_words


class Occurrence(Variant):
    """When a fault of a host happens.

    An occurrence of another package derives from this class and has a method `next_ns(random, begun, now_ns)`, as in
    `engine.faults.occurrences`.
    """

    begins_field: ClassVar[str] = ""  # name of the parameter for the first time; empty: at random

    @property
    def in_words(self) -> str:
        """When the fault happens, as the end of a sentence."""
        return self.title.lower() if self.begins_s is None else f"at {number_in_words(self.begins_s, 's')}"

    @property
    def begins_s(self) -> float | None:
        """Time at which the fault first happens; None: at random."""
        return getattr(self, self.begins_field) if self.begins_field else None

    @property
    def begins_ns(self) -> int | None:
        return None if self.begins_s is None else seconds_ns(self.begins_s)
