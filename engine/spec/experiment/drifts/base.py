"""Base class of all drifts."""

from __future__ import annotations

from typing import ClassVar

from ...base.units import seconds_ns
from ...base.variant import Variant

FACTOR_BELOW = 8
"""All factors of drift are below this."""


class Drift(Variant):
    """Cost factor over time, shared by all services of an operator. Each factor holds for one step.

    A drift of another package derives from this class, has a parameter for the length of a step, and has a method `factors(random, steps)`
    that returns the factors of the first steps.
    """

    step_field: ClassVar[str] = "step_s"  # name of the parameter for the length of a step

    @property
    def step_ns(self) -> int:
        """Length of a step; 0: no drift."""
        return seconds_ns(getattr(self, self.step_field))
