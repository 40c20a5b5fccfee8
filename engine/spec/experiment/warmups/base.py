"""Base class of all warm-ups."""

from __future__ import annotations

from typing import ClassVar

from ...base.units import scaled
from ...base.variant import Variant

FACTOR_MAX = 100


def extra_of(factor: float) -> int:
    """A factor minus 1, in units of 2^-16."""
    return scaled(factor, 1 << 16) - (1 << 16)


class WarmUp(Variant):
    """How much slower an instance is at first, while its code is not compiled yet. The cost falls linearly to its usual value.

    A warm-up of another package derives from this class, has `extra`, and has `records_of` or `span_ns`.
    """

    varies: ClassVar[bool] = True  # services of equal work may cost differently

    @property
    def extra(self) -> int:
        """The initial factor minus 1, in units of 2^-16; at most 99 x 2^16."""
        return 0

    def records_of(self, weight: int) -> int:
        """Number of records after which an instance is warm, each standing for `weight` real records; 0: not determined by records."""
        return 0

    @property
    def span_ns(self) -> int:
        """Time after which an instance is warm; 0: not determined by time."""
        return 0
