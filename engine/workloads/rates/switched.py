"""The curve of the rate `switched`."""

from __future__ import annotations

from itertools import islice

from engine.spec.base.problems import Refusal, refusals_below
from engine.spec.base.units import seconds_ns
from engine.spec.experiment.rates.switched import SwitchedRate

from ..curves import STEPS_MAX, Curve
from .pattern import curve_of_pattern


def curve(rate: SwitchedRate, horizon_ns: int) -> Curve:
    at_ns = seconds_ns(rate.at_s)
    pieces: list[tuple[int, int]] = []
    for name, pattern, span in (("before", rate.before, (0, min(at_ns, horizon_ns))), ("after", rate.after, (at_ns, horizon_ns))):
        with refusals_below(name):
            made = curve_of_pattern(pattern, horizon_ns)
            pieces += islice(made.pieces_between(*span), STEPS_MAX + 1 - len(pieces))
            if len(pieces) > STEPS_MAX:
                message = f"the pattern has more than {STEPS_MAX:,} pieces in its time; make its period longer, or the horizon shorter"
                raise Refusal(message, code="too_many_steps")
    return Curve([start_ns for start_ns, _ in pieces], [here for _, here in pieces])
