"""Price lists: what one unit of counted work takes on a core of speed 1. A file for each list, and every price with its origin.

Other packages add lists by entry points of the group `millrace.prices` that name a `PriceList`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

from engine.spec.base.family import load_entry_points
from engine.spec.base.origins import Origin
from engine.spec.base.version import ENGINE_VERSION
from engine.spec.experiment.engines import price_list_in

from .contents import CONTENTS
from .price import DEGREE, Price, PriceList, ValuePrices

__all__ = [
    "DEGREE",
    "PRICE_LISTS",
    "REFERENCE",
    "Origin",
    "Price",
    "PriceList",
    "ValuePrices",
    "price_of",
    "register",
    "version_for",
    "version_of",
]

REFERENCE = "reference"
"""The price list of experiments that name none."""

_modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
_ours: list[PriceList] = sorted((module.PRICES for module in _modules if hasattr(module, "PRICES")), key=lambda prices: prices.position)

PRICE_LISTS: dict[str, PriceList] = {prices.name: prices for prices in _ours}
"""By name, in the order in which they are offered."""


def price_of(name: str, kind: str) -> tuple[int, int, int]:
    """(record_ps, output_ps, control_ps) of an operator kind in a price list. Raises KeyError for an unknown list or kind."""
    price = PRICE_LISTS[name].prices[kind]
    return price.record_ps, price.output_ps, price.control_ps


def version_of(*names: str) -> str:
    """The version of the engine for runs that these lists charge: ENGINE_VERSION if they hold what belongs to it, else with their digests
    behind it, such as "17+checkmate_2024.3fa2c1d0". Unknown names count as unchanged."""
    changed = sorted(name for name in {*names} & PRICE_LISTS.keys() if CONTENTS.get(name) != PRICE_LISTS[name].digest)
    return "+".join([ENGINE_VERSION, *(f"{name}.{PRICE_LISTS[name].digest}" for name in changed)])


def version_for(document: Mapping[str, Any]) -> str:
    """The version of the engine for runs of a valid document (`version_of`)."""
    return version_of(price_list_in(document, REFERENCE))


def register(prices: PriceList) -> None:
    """Offer a list of another package. Raises ValueError with what is wrong."""
    if not isinstance(prices, PriceList):
        raise ValueError(f"{prices!r} is no engine.prices.PriceList")
    if PRICE_LISTS.get(prices.name, prices) is not prices:
        raise ValueError(f"the price list '{prices.name}' exists already; choose another name")
    reference = next(iter(PRICE_LISTS.values()))
    if missing := [kind for kind in reference.prices if kind not in prices.prices]:
        raise ValueError(f"the price list '{prices.name}' has no price for {', '.join(missing)}")
    PRICE_LISTS[prices.name] = prices


load_entry_points("millrace.prices", register)
