"""The curve of a rate that the document alone says, by the file of its kind."""

from __future__ import annotations

import functools

from engine.spec.base.family import implementation
from engine.spec.experiment.rates.base import Rate

from ..curves import Curve


@functools.lru_cache(maxsize=64)
def curve_of_pattern(rate: Rate, horizon_ns: int) -> Curve:
    """The curve, right until the horizon. Raises Refusal (path below the rate) when its steps are too many."""
    curve: Curve = implementation(type(rate), __package__, "curve")(rate, horizon_ns)
    return curve
