"""What all occurrences have in common."""

from __future__ import annotations

from typing import ClassVar

from ...base.units import seconds_ns
from ...base.variant import Variant


class Occurrence(Variant):
    """When a fault of a host happens.

    One of another package derives from this class and has a method `next_ns(random, begun, now_ns)`, as in `engine.faults.occurrences`.
    """

    begins_field: ClassVar[str] = ""  # the parameter that says when it first happens; empty: at random

    @property
    def begins_s(self) -> float | None:
        """When it first happens; None: at random."""
        return getattr(self, self.begins_field) if self.begins_field else None

    @property
    def begins_ns(self) -> int | None:
        return None if self.begins_s is None else seconds_ns(self.begins_s)
