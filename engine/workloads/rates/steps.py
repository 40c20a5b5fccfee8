"""The curve of the rate `steps`."""

from __future__ import annotations

from engine.spec.base.units import seconds_ns
from engine.spec.experiment.rates.steps import StepsRate

from ..curves import Curve, from_zero, micro


def curve(rate: StepsRate, horizon_ns: int) -> Curve:
    return from_zero([seconds_ns(step.at_s) for step in rate.steps], [micro(step.per_s) for step in rate.steps])
