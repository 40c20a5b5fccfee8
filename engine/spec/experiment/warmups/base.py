"""What all warm-ups have in common."""

from __future__ import annotations

from typing import ClassVar

from ...base.units import scaled
from ...base.variant import Variant

FACTOR_MAX = 100


def extra_of(factor: float) -> int:
    """What a factor adds to 1, in units of 2^-16."""
    return scaled(factor, 1 << 16) - (1 << 16)


class WarmUp(Variant):
    """How much slower an instance is at first, as long as its code is not compiled. The cost falls linearly to its usual value.

    One of another package derives from this class, has `extra`, and has `records_of` or `span_ns`.
    """

    varies: ClassVar[bool] = True  # services of equal work may differ

    @property
    def extra(self) -> int:
        """What the factor at the start adds to 1, in units of 2^-16; at most 99 x 2^16."""
        return 0

    def records_of(self, weight: int) -> int:
        """After how many of its records an instance is warm, where each stands for `weight` real ones; 0: it does not depend on them."""
        return 0

    @property
    def span_ns(self) -> int:
        """After what time it is warm; 0: it does not depend on it."""
        return 0
