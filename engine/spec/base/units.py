"""Conversion from the document's units to the engine's integers. Each number is rounded once, half up."""

from __future__ import annotations

import math
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any

from pydantic import Field, Strict
from pydantic.config import JsonDict

from .origins import Charge

Integer = Annotated[int, Strict()]
"""A whole number; `true` and `"4"` are rejected."""

Number = Annotated[float, Strict()]
"""A number, whole or not; `true` and `"1.5"` are rejected."""


ADVANCED: JsonDict = {"x-advanced": True}
"""Extra keyword of fields that few people change. Forms fold them together, until one of them has a problem."""


def quantity(
    default: Any = ...,
    *,
    unit: str | None = None,
    description: str,
    too_little: str = "",
    advanced: bool = False,
    charge: Charge | None = None,
    **constraints: Any,
) -> Any:
    """A pydantic field with a unit: `x-unit` in its JSON Schema, which forms show behind the input.

    too_little: explanation appended to the error for a value below the minimum. advanced: see `ADVANCED`. charge: origin of the default of
    a cost.
    """
    extra: dict[str, Any] = {} if unit is None else {"x-unit": unit}
    extra |= ({"x-too-little": too_little} if too_little else {}) | (ADVANCED if advanced else {})
    if charge is not None:
        extra |= charge.keyword
        description = f"{description} {charge.text}"
    return Field(default, description=description, json_schema_extra=extra, **constraints)


def latency(default: Any = ..., *, description: str) -> Any:
    """A field for a latency between hosts, in ms. The minimum is 1 ns, so that no effect coincides with its cause."""
    least = "every hand-over takes at least 1 ns. The lower the latency, the slower the run; for less, place both instances on one host"
    return quantity(default, unit="ms", ge=0.000001, le=1e8, title="Latency", description=description, too_little=least)


@lru_cache(maxsize=10_000)  # a run converts the same few values in every frame
def scaled(value: float, factor: int) -> int:
    """`value x factor` as an integer, rounded half up.

    Scales the decimal number in the document, not its nearest binary fraction, so 0.0015 s is exactly 1,500,000 ns.
    """
    return math.floor(Decimal(repr(value)) * factor + Decimal("0.5"))


def seconds_ns(seconds: float) -> int:
    return scaled(seconds, 1_000_000_000)


def milliseconds_ns(milliseconds: float) -> int:
    return scaled(milliseconds, 1_000_000)


def microseconds_ps(microseconds: float) -> int:
    return scaled(microseconds, 1_000_000)


def megabytes_bytes(megabytes: float) -> int:
    """One megabyte is 1,000,000 bytes."""
    return scaled(megabytes, 1_000_000)
