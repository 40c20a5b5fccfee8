"""Numbers with units, as people write them in a search: `10s`, `500ms`, `5k/s`, `1.5GB`."""

from __future__ import annotations

import math
import re

from engine.spec.base.words import unit_of

NUMBER = re.compile(r"(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?P<unit>[a-zA-Zµ%]*(?:/s)?)")

COUNTS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}
SCALES: dict[str, dict[str, float]] = {
    "time": {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0},
    "rate": {f"{scale}{of}/s": factor for scale, factor in COUNTS.items() for of in ("", "rec")},
    "bytes": {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30},
    "byte rate": {"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9},
    "bit rate": {"kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9},
    "count": COUNTS | {"%": 0.01},
}
"""Units by dimension, each with its size."""

EXAMPLES = {"time": "500ms or 10s", "rate": "5k/s", "bytes": "20MB", "byte rate": "20MB/s", "bit rate": "100Mbit/s", "count": "5k"}


class BadQuantity(ValueError):
    """The text is no number with a fitting unit; the message says what would be one."""


STATISTICS = ("mean", "min", "max", "p50", "p95", "p99")
"""Last parts of metric names that leave the unit to the part before, as in `latency_ms.p99`."""


def unit_of_field(name: str) -> str:
    """The unit in which a field of a document or a summary is stored, by its name; '' for a plain number."""
    *_, before, last = ["", *re.split(r"[./]", name)]
    unit = unit_of(before if last in STATISTICS else last)
    return "/s" if unit == "records/s" else unit


def example_of(unit: str) -> str:
    """A number as people write it for a field in this unit."""
    return EXAMPLES[_dimension(unit)].split(" ")[0]


def quantity(name: str, text: str, unit: str) -> float:
    """The number in the unit of its field. A number without a unit is in it already. Raises BadQuantity.

    name: of the field, for the message.
    """
    dimension = _dimension(unit)
    example = EXAMPLES[dimension]
    read = NUMBER.fullmatch(text)
    if read is None:
        comma = "; write decimals with a point, and thousands without commas" if re.fullmatch(r"[-+]?[\d,.]+\D*", text) else ""
        raise BadQuantity(f"'{text}' is not a number{comma or f', such as {example}'}")
    number, given, units = float(read["number"]), read["unit"], SCALES[dimension]
    if not given:
        scaled = number
    elif given in units:
        scaled = number * units[given] / units[unit]
    elif given in COUNTS:  # 5k of whatever the field counts in
        scaled = number * COUNTS[given]
    else:
        own = f"{name} is in {unit}" if unit else f"{name} has no unit"
        known = ", ".join(one for one in units if one and "rec" not in one)
        raise BadQuantity(f"the unit '{given}' does not fit, because {own}; use one of {known}, as in {example}")
    if not math.isfinite(scaled):
        raise BadQuantity(f"'{text}' is too large for a number; write one below 1e308{unit}")
    return scaled


def _dimension(unit: str) -> str:
    return next((dimension for dimension, units in SCALES.items() if unit in units), "count")
