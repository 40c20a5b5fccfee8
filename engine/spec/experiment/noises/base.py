"""What all laws of noise have in common."""

from __future__ import annotations

from typing import ClassVar

from ...base.variant import Variant

FACTOR_BELOW = 1 << 13
"""All factors of noise are below this."""


class Noise(Variant):
    """The law of a factor with mean 1, drawn for each service.

    One of another package derives from this class and has a method `quantiles(share)`. It returns the factors with these shares of the law
    below them, and those with these shares above them.
    """

    varies: ClassVar[bool] = True  # services of equal work may differ
