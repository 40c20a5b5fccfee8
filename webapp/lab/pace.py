"""Pace of a run: maximum virtual seconds per wall-clock second."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, Strict

PACE_MIN, PACE_MAX = 0.1, 1000.0
RANGE = f"{PACE_MIN:g} to {PACE_MAX:,.0f}"


def _in_range(pace: float | None) -> float | None:
    if pace is not None and not PACE_MIN <= pace <= PACE_MAX:
        raise ValueError(f"a pace of {pace:g} is out of range; give {RANGE} virtual seconds per second, or null for as fast as possible")
    return pace


Pace = Annotated[
    Annotated[float, Strict()] | None,
    AfterValidator(_in_range),
    Field(
        description=f"maximum virtual seconds per wall-clock second, {RANGE}; null: as fast as possible",
        json_schema_extra={"minimum": PACE_MIN, "maximum": PACE_MAX},
    ),
]
