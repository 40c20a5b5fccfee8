"""The curve of a rate that is defined by the document alone, by the file of its kind."""

from __future__ import annotations

import functools

from engine.spec.base.family import implementation
from engine.spec.experiment.rates.base import Rate

from ..curves import Curve


@functools.lru_cache(maxsize=64)
def curve_of_pattern(rate: Rate, horizon_ns: int) -> Curve:
    """Return the curve, valid until the horizon. Raises Refusal (path below the rate) if it has too many steps."""
    curve: Curve = implementation(type(rate), __package__, "curve")(rate, horizon_ns)
    return curve
