"""Price lists are complete, and say where each price comes from and how it grows."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, get_args
from unittest import mock

import pytest

import engine
from engine.operators import OPERATORS
from engine.prices import DEGREE, PRICE_LISTS, Origin, Price, register
from engine.spec import catalogue
from tests.newcomers.prices import FAST

from ...support.agreement import template

INSIDE = sorted(kind for kind, operator in OPERATORS.items() if operator.__module__.startswith("engine.") and not operator.priced_as)


@pytest.mark.parametrize("name", PRICE_LISTS)
@pytest.mark.parametrize("kind", INSIDE)
def test_every_kind_has_a_price_of_its_own_with_an_origin(name: str, kind: str) -> None:
    assert kind in PRICE_LISTS[name].prices, f"price list '{name}' lacks '{kind}'"
    assert PRICE_LISTS[name].prices[kind].origin in get_args(Origin)


@pytest.mark.parametrize("name", PRICE_LISTS)
def test_no_price_is_of_a_kind_that_does_not_exist(name: str) -> None:
    assert set(PRICE_LISTS[name].prices) <= set(OPERATORS)


def test_every_price_declares_its_degree() -> None:
    assert set(DEGREE) == {field.name for field in fields(Price) if field.name.endswith("_ps")} | {"value_ps"}


@pytest.mark.parametrize("name", PRICE_LISTS)
def test_figures_that_were_measured_or_published_name_their_source(name: str) -> None:
    listed = PRICE_LISTS[name]
    for kind, price in listed.prices.items():
        assert price.origin in ("assumed", "fitted") or price.note or listed.source, kind


def test_a_list_of_another_package_prices_a_run() -> None:
    """Half of the reference's prices: hosts are busy for half of the time."""

    def busy(prices: str) -> float:
        document = template("nexmark_q1", horizon_s=0.5, drain=True) | {"prices": prices}
        return float(engine.run(document).summary["operators"]["euros"]["busy"])

    with mock.patch.dict(PRICE_LISTS):
        register(FAST)
        assert "fast" in {entry["kind"] for entry in catalogue()["prices"]}
        assert busy("fast") == pytest.approx(busy("reference") / 2, rel=1e-6)
    with pytest.raises(engine.spec.InvalidExperiment, match="fast"):
        busy("fast")


@pytest.mark.parametrize(
    ("prices", "words"),
    [
        ("fast", "is no engine.prices.PriceList"),
        (replace(FAST, name="reference"), "the price list 'reference' exists already"),
        (replace(FAST, prices={"sink": FAST.prices["sink"]}), "has no price for source, filter"),
    ],
)
def test_what_is_wrong_with_a_list_is_said_when_it_is_registered(prices: Any, words: str) -> None:
    with mock.patch.dict(PRICE_LISTS), pytest.raises(ValueError, match=words):
        register(prices)
