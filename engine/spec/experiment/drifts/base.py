"""What all drifts have in common."""

from __future__ import annotations

from typing import ClassVar

from ...base.units import seconds_ns
from ...base.variant import Variant

FACTOR_BELOW = 8
"""All factors of drift are below this."""


class Drift(Variant):
    """The law of a factor that all services of an operator share at a time. Each factor holds for a step.

    One of another package derives from this class, has a parameter for the length of a step, and has a method `factors(random, steps)`,
    which returns the factors of the first steps.
    """

    step_field: ClassVar[str] = "step_s"  # the parameter that says how long a factor holds

    @property
    def step_ns(self) -> int:
        """How long a factor holds; 0: there is no drift."""
        return seconds_ns(getattr(self, self.step_field))
