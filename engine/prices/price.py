"""What a price and a price list are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from engine.spec.base.origins import Origin, check_origin

DEGREE = {"record_ps": 1, "read_ps": 1, "value_ps": 1, "output_ps": 1, "control_ps": 0}
"""How a price grows when one simulated record stands for s real ones: s to this power. Control elements are not scaled."""


@dataclass(frozen=True)
class Price:
    """Prices of an operator kind in picoseconds: per record and unit of work, per output record, per control element.

    read_ps: per stored record that a firing reads. None: as record_ps, for the kinds whose work that is (`Operator.reads_as_records`), else
    nothing.
    """

    record_ps: int
    output_ps: int
    control_ps: int
    origin: Origin
    note: str = ""
    fitted_to: tuple[str, ...] = ()  # of a fitted price: what it was fitted to; a figure among them is "calibrated", never "reproduced"
    read_ps: int | None = None

    def __post_init__(self) -> None:
        check_origin(self.origin, self.fitted_to)


@dataclass(frozen=True)
class ValuePrices:
    """What the values of a record cost in picoseconds, whatever the operator kind (docs/event-core.md, section 3.3).

    parsed_ps: per value that a source reads. sent_ps, received_ps: per value of a record that leaves for another host, and that comes from
    one. compared_ps: per value that an operator compares or folds (`Operator.compares`), by type.
    """

    parsed_ps: int = 0
    sent_ps: int = 0
    received_ps: int = 0
    compared_ps: Mapping[str, int] = field(default_factory=dict)
    origin: Origin = "assumed"
    fitted_to: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_origin(self.origin, self.fitted_to)


@dataclass(frozen=True)
class PriceList:
    """Prices by operator kind, and of values. name: by which documents choose it. position: among the lists, where they are offered."""

    name: str
    title: str
    doc: str
    prices: Mapping[str, Price]
    source: str = ""
    position: int = 1000
    values: ValuePrices = ValuePrices()

    def price(self, kind: str, priced_as: str | tuple[str, ...] = "") -> Price:
        """Of an operator kind; where the list has none, that of another kind. Raises KeyError."""
        names = (kind, priced_as) if isinstance(priced_as, str) else (kind, *priced_as)
        return self.prices[next((name for name in names if name in self.prices), names[-1])]

    @property
    def digest(self) -> str:
        """Hash of what is charged, without texts and origins."""
        texts = {"origin", "note", "fitted_to"}
        kinds = {kind: {name: of for name, of in asdict(price).items() if name not in texts} for kind, price in self.prices.items()}
        values = {name: of for name, of in asdict(self.values).items() if name not in texts}
        return hashlib.sha256(json.dumps([kinds, values], sort_keys=True).encode()).hexdigest()[:8]


def microseconds(
    record: float,
    output: float,
    control: float,
    origin: Origin,
    note: str = "",
    fitted_to: tuple[str, ...] = (),
    read: float | None = None,
) -> Price:
    """A price whose parts are given in microseconds."""
    record_ps, output_ps, control_ps = (round(us * 1_000_000) for us in (record, output, control))
    return Price(record_ps, output_ps, control_ps, origin, note, fitted_to, None if read is None else round(read * 1_000_000))
