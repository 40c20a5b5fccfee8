"""Price lists: what one unit of counted work takes on a core of speed 1. All prices of the model stand here, each with its origin."""

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
    title: str
    doc: str
    prices: Mapping[str, Price]
    source: str = ""

    def price(self, kind: str, priced_as: str = "") -> Price:
        """Of an operator kind; where the list has none, that of another kind. Raises KeyError."""
        return self.prices[kind] if kind in self.prices else self.prices[priced_as]


def _microseconds(record: int, output: int, control: int, origin: Origin, note: str = "", fitted_to: tuple[str, ...] = ()) -> Price:
    return Price(record * 1_000_000, output * 1_000_000, control * 1_000_000, origin, note, fitted_to)


CHECKMATE_RATES = ("the rates of the authors' sample configurations: 1,000 to 1,500 records/s per worker",)


PRICE_LISTS: dict[str, PriceList] = {
    "reference": PriceList(
        "Reference",
        "Round numbers of the order of a JVM stream processor with serialisation between operators. Assumed, fitted to no figure.",
        {
            "source": _microseconds(10, 0, 5, "assumed", "read and deserialise"),
            "filter": _microseconds(4, 0, 5, "assumed"),
            "map": _microseconds(4, 0, 5, "assumed"),
            "project": _microseconds(2, 0, 5, "assumed"),
            "split": _microseconds(4, 0, 5, "assumed", "one predicate"),
            "union": _microseconds(1, 0, 5, "assumed"),
            "aggregate": _microseconds(20, 5, 5, "assumed", "one state access per pane"),
            "session_aggregate": _microseconds(25, 5, 5, "assumed", "one state access, and the session's place among the others"),
            "count_window_aggregate": _microseconds(20, 5, 5, "assumed", "one state access per window"),
            "join": _microseconds(30, 10, 5, "assumed", "store, then look up the other side"),
            "window_join": _microseconds(20, 10, 5, "assumed", "store; all pairs when the window ends"),
            "interval_join": _microseconds(30, 10, 5, "assumed", "store, then look up the other side"),
            "expiring_join": _microseconds(30, 10, 5, "assumed", "store, then look up the other side"),
            "path_join": _microseconds(30, 10, 5, "assumed", "store, then look up the other side"),
            "sink": _microseconds(10, 0, 5, "assumed", "serialise and write"),
        },
    ),
    "checkmate_2024": PriceList(
        "CheckMate 2024",
        "A Python engine on one core per worker: about 0.7 ms per record over all operators of Q1, 0.8 of Q12, 0.9 of Q8, 1.0 of Q3 with "
        "a join of 850 us, which gives the 1,000 to 1,500 records/s per worker of the authors' configurations.",
        {
            "source": _microseconds(150, 0, 100, "fitted", fitted_to=CHECKMATE_RATES),
            "filter": _microseconds(100, 0, 100, "fitted", fitted_to=CHECKMATE_RATES),
            "map": _microseconds(400, 0, 100, "fitted", fitted_to=CHECKMATE_RATES),
            "project": _microseconds(100, 0, 100, "assumed", "as filter"),
            "split": _microseconds(100, 0, 100, "assumed", "as filter"),
            "union": _microseconds(100, 0, 100, "assumed", "as filter"),
            "aggregate": _microseconds(500, 0, 100, "fitted", fitted_to=CHECKMATE_RATES),
            "session_aggregate": _microseconds(500, 0, 100, "assumed", "as aggregate"),
            "count_window_aggregate": _microseconds(500, 0, 100, "assumed", "as aggregate"),
            "join": _microseconds(550, 50, 100, "fitted", fitted_to=CHECKMATE_RATES),
            "window_join": _microseconds(550, 50, 100, "assumed", "as join"),
            "interval_join": _microseconds(550, 50, 100, "assumed", "as join"),
            "expiring_join": _microseconds(550, 50, 100, "assumed", "as join"),
            "path_join": _microseconds(550, 50, 100, "assumed", "as join"),
            "sink": _microseconds(150, 0, 100, "fitted", fitted_to=CHECKMATE_RATES),
        },
        source="Siachamis 2024, 3.5",
    ),
}


def price_of(name: str, kind: str) -> tuple[int, int, int]:
    """(record_ps, output_ps, control_ps) of an operator kind in a price list. Raises KeyError for an unknown list or kind."""
    price = PRICE_LISTS[name].prices[kind]
    return price.record_ps, price.output_ps, price.control_ps
