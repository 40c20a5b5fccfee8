"""What a price and a price list are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Origin = Literal["assumed", "measured", "published", "fitted"]

DEGREE = {"record_ps": 1, "output_ps": 1, "control_ps": 0}
"""How a price grows when one simulated record stands for s real ones: s to this power. Control elements are not scaled."""


@dataclass(frozen=True)
class Price:
    """Prices of an operator kind in picoseconds: per record and unit of work, per output record, per control element."""

    record_ps: int
    output_ps: int
    control_ps: int
    origin: Origin
    note: str = ""
    fitted_to: tuple[str, ...] = ()  # of a fitted price: what it was fitted to; a figure among them is "calibrated", never "reproduced"

    def __post_init__(self) -> None:
        if (self.origin == "fitted") != bool(self.fitted_to):
            raise ValueError(
                f"a price of origin '{self.origin}' has fitted_to = {self.fitted_to}; fitted prices, and only they, say to what"
            )


@dataclass(frozen=True)
class PriceList:
    """Prices by operator kind. name: by which documents choose it. position: among the lists, where they are offered."""

    name: str
    title: str
    doc: str
    prices: Mapping[str, Price]
    source: str = ""
    position: int = 1000

    def price(self, kind: str, priced_as: str = "") -> Price:
        """Of an operator kind; where the list has none, that of another kind. Raises KeyError."""
        return self.prices[kind] if kind in self.prices else self.prices[priced_as]


def microseconds(record: int, output: int, control: int, origin: Origin, note: str = "", fitted_to: tuple[str, ...] = ()) -> Price:
    """A price whose parts are given in microseconds."""
    return Price(record * 1_000_000, output * 1_000_000, control * 1_000_000, origin, note, fitted_to)
