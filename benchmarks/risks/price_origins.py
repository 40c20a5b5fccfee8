"""Risk 8: which prices are measured, published, assumed or fitted, and do they name what they were fitted to?

A figure whose assertion depends on a price fitted to that same figure is "calibrated", never "reproduced". That can only be decided by
a program if every fitted price says what it was fitted to.
"""

from __future__ import annotations

from collections import Counter
from typing import get_args

from engine.core.prices import DEGREE, PRICE_LISTS, Origin

from .finding import Finding


def measure() -> list[Finding]:
    findings = []
    for name, prices in PRICE_LISTS.items():
        origins = Counter(price.origin for price in prices.prices.values())
        unknown = [kind for kind, price in prices.prices.items() if price.origin not in get_args(Origin)]
        fitted = {kind: price.fitted_to for kind, price in prices.prices.items() if price.origin == "fitted"}
        silent = [kind for kind, to in fitted.items() if not to]
        sourced = bool(prices.source) or not origins.keys() - {"assumed"}
        findings.append(
            Finding(
                8,
                f"price list '{name}'",
                "every price has an origin, every fitted price names what it was fitted to, every other list its source",
                not unknown and not silent and sourced,
                {**origins, "fitted without saying to what": silent, "source": prices.source or "none", "degrees": DEGREE},
            )
        )
    return findings
