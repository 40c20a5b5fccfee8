"""Base class of all noise distributions."""

from __future__ import annotations

from typing import ClassVar

from ...base.variant import Variant

FACTOR_BELOW = 1 << 13
"""All factors of noise are below this."""


class Noise(Variant):
    """Distribution of a cost factor with mean 1, drawn for each service.

    A noise of another package derives from this class and has a method `quantiles(share)`. It returns the factors that a draw falls below
    with these probabilities, and the factors that it exceeds with these probabilities.
    """

    varies: ClassVar[bool] = True  # services of equal work may cost differently
