"""Random-walk rates, as in the load of the autoscaling study."""

from __future__ import annotations

from engine.spec.experiment.rates.wander import Wander

from ..curves import MICRO, Curve, steps_until
from ..javarandom import JavaRandom


def walk(
    rate: Wander, horizon_ns: int, start: int, fall: int, rise: int, *, least: int = 0, most: int = 10**9, moves_first: bool = False
) -> Curve:
    """Return integer rates in records per second that change by -fall .. rise per step. moves_first: change before the first step, too."""
    chance = JavaRandom(rate.seed)
    starts = steps_until(horizon_ns, rate.step_s, "step_s")
    here, rates = start, []
    for number in range(len(starts)):
        if number or moves_first:
            here = min(max(here - fall + chance.share_of(fall + rise), least), most)
        rates.append(here * MICRO)
    return Curve(starts, rates)
