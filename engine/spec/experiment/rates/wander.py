"""What rates that change by chance from step to step have in common."""

from __future__ import annotations

from typing import ClassVar

from ...base.units import Integer, Number
from .base import AUTOSCALERS, SEED, Pattern, seconds


class Wander(Pattern):
    """What the patterns of whole records per second that change by chance from step to step share."""

    source: ClassVar[str] = AUTOSCALERS
    step_s: Number = seconds(60.0, ge=0.001, title="Step", description="How long a rate is held.")
    seed: Integer = SEED
