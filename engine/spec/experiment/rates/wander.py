"""Base class of rates that change randomly from step to step."""

from __future__ import annotations

from typing import ClassVar

from ...base.units import Integer, Number
from .base import AUTOSCALERS, SEED, Pattern, seconds


class Wander(Pattern):
    """A pattern of whole records per second that changes randomly from step to step."""

    source: ClassVar[str] = AUTOSCALERS
    step_s: Number = seconds(60.0, ge=0.001, title="Step", description="How long each rate is held.")
    seed: Integer = SEED
