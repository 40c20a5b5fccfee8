"""Price lists are complete, and say where each price comes from and how it grows."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

import pytest

from engine.core.prices import DEGREE, PRICE_LISTS, Origin, Price
from engine.operators import OPERATORS

INSIDE = sorted(kind for kind, operator in OPERATORS.items() if operator.__module__.startswith("engine."))


@pytest.mark.parametrize("name", PRICE_LISTS)
@pytest.mark.parametrize("kind", INSIDE)
def test_every_kind_has_a_price_of_its_own_with_an_origin(name: str, kind: str) -> None:
    assert kind in PRICE_LISTS[name].prices, f"price list '{name}' lacks '{kind}'"
    assert PRICE_LISTS[name].prices[kind].origin in get_args(Origin)


@pytest.mark.parametrize("name", PRICE_LISTS)
def test_no_price_is_of_a_kind_that_does_not_exist(name: str) -> None:
    assert set(PRICE_LISTS[name].prices) <= set(INSIDE)


def test_every_price_declares_its_degree() -> None:
    assert set(DEGREE) == {field.name for field in fields(Price) if field.name.endswith("_ps")}


@pytest.mark.parametrize("name", PRICE_LISTS)
def test_figures_that_were_measured_or_published_name_their_source(name: str) -> None:
    listed = PRICE_LISTS[name]
    for kind, price in listed.prices.items():
        assert price.origin in ("assumed", "fitted") or price.note or listed.source, kind
