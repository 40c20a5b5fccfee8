"""A rate from outside the package, all of it in one file: parameters and curve."""

from __future__ import annotations

from typing import ClassVar, Literal

from engine.spec.base.units import Number, scaled, seconds_ns
from engine.spec.experiment.rates.base import Pattern, per_second, seconds
from engine.workloads.curves import Curve


class SawtoothRate(Pattern):
    """Climbs from zero in four equal steps, falls back, and begins anew."""

    title: ClassVar[str] = "Sawtooth"
    icon: ClassVar[str] = "trending-up"
    source: ClassVar[str] = "Newcomer et al., section 8"
    kind: Literal["sawtooth"] = "sawtooth"
    top_per_s: Number = per_second(1000.0, title="Top", description="Rate of the fourth step.")
    every_s: Number = seconds(4.0, ge=0.001, title="Every", description="Time from one fall to the next.")

    def curve(self, horizon_ns: int) -> Curve:
        top, every_ns = scaled(self.top_per_s, 1_000_000), seconds_ns(self.every_s)
        return Curve([every_ns * k // 4 for k in range(4)], [top * k // 4 for k in range(1, 5)], every_ns)
