"""A price list from outside the package: the reference's prices on a machine that is twice as fast."""

from __future__ import annotations

from dataclasses import replace

from engine.prices.price import PriceList
from engine.prices.reference import PRICES as REFERENCE

FAST = PriceList(
    "fast",
    "Fast",
    "Half of the reference prices.",
    {
        kind: replace(price, record_ps=price.record_ps // 2, output_ps=price.output_ps // 2, control_ps=price.control_ps // 2)
        for kind, price in REFERENCE.prices.items()
    },
)
