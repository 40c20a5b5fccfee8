"""From the units of the document to the integers of the engine; each number is rounded once, half up."""

from __future__ import annotations

import math
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any

from pydantic import Field, Strict

Integer = Annotated[int, Strict()]
"""A whole number; neither `true` nor `"4"` passes for one."""

Number = Annotated[float, Strict()]
"""A number, whole or not; neither `true` nor `"1.5"` passes for one."""


def quantity(default: Any = ..., *, unit: str, description: str, too_little: str = "", **constraints: Any) -> Any:
    """A pydantic field with a unit: `x-unit` in its JSON Schema, which forms print behind the input.

    too_little: what is said to somebody who gives less than the least, behind the limit.
    """
    extra: dict[str, Any] = {"x-unit": unit} | ({"x-too-little": too_little} if too_little else {})
    return Field(default, description=description, json_schema_extra=extra, **constraints)


def latency(default: Any = ..., *, description: str) -> Any:
    """The field of a latency between hosts, in ms. The least is a nanosecond, so that no effect is at the time of its cause."""
    least = "every hand-over takes at least 1 ns. The nearer hosts are, the slower the run; what is to be nearer belongs on one host"
    return quantity(default, unit="ms", ge=0.000001, le=1e8, title="Latency", description=description, too_little=least)


@lru_cache(maxsize=10_000)  # a run asks for the same few, frame by frame
def scaled(value: float, factor: int) -> int:
    """`value x factor` as an integer, half up.

    The decimal number that the document shows is scaled, not the binary fraction nearest to it, so 0.0015 s is 1,500,000 ns.
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
