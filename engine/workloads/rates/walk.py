"""Rates that change by chance from step to step, as in the autoscalers' load."""

from __future__ import annotations

from engine.spec.experiment.rates.wander import Wander

from ..curves import MICRO, Curve, steps_until
from ..javarandom import JavaRandom


def walk(
    rate: Wander, horizon_ns: int, start: int, fall: int, rise: int, *, least: int = 0, most: int = 10**9, moves_first: bool = False
) -> Curve:
    """Whole records per second that change by -fall .. rise from step to step. moves_first: before the first step, too."""
    chance = JavaRandom(rate.seed)
    starts = steps_until(horizon_ns, rate.step_s, "step_s")
    here, rates = start, []
    for number in range(len(starts)):
        if number or moves_first:
            here = min(max(here - fall + chance.share_of(fall + rise), least), most)
        rates.append(here * MICRO)
    return Curve(starts, rates)
