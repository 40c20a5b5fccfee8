"""Rates, one file each: how many records are generated over time. `engine.workloads.rates` has their curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from ...base.variant import Variant
from .base import Pattern, Rate
from .switched import SwitchedRate

CURVE = {"curve": "it returns the rate over time (`engine.workloads.curves.Curve`)"}


class Rates(Family):
    """All rates. Those defined by the document alone are also kinds of `PATTERNS`."""

    def offer(self, kinds: tuple[type[Variant], ...]) -> None:
        super().offer(kinds)
        PATTERNS.offer(tuple(kind for kind in kinds if issubclass(kind, Pattern)))


RATES = Rates("rates", __name__, Pattern, CURVE)
PATTERNS = Family("rates", __name__, Pattern, CURVE)
PATTERNS.kinds = tuple(kind for kind in PATTERNS.kinds if issubclass(kind, Pattern))

if TYPE_CHECKING:
    AnyRate = Rate
    AnyPattern = Pattern
else:
    AnyRate = RATES.union
    AnyPattern = PATTERNS.union

SwitchedRate.model_rebuild(_types_namespace={"AnyPattern": AnyPattern})  # recursive: it contains patterns
