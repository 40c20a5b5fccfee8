"""The curve of the rate `constant`."""

from __future__ import annotations

from engine.spec.experiment.rates.constant import ConstantRate

from ..curves import Curve, micro


def curve(rate: ConstantRate, horizon_ns: int) -> Curve:
    return Curve([0], [micro(rate.per_s)])
