"""Columns that can serve as event time: timestamps, and whole numbers of s, ms, us or ns since 1970."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
from numpy.typing import NDArray

from .dataseterror import DatasetError

TIMESTAMP = pa.timestamp("ns")
TIMESTAMPS_RIGHT = (
    "ISO texts such as 2026-01-31T12:00:00Z, Arrow timestamps, or whole numbers of s, ms, us or ns since 1970 (from 1980 to 2100)"
)
EPOCH_FIRST_S, EPOCH_LAST_S = 315_532_800, 4_102_444_800  # 1980 and 2100: in this range the four units cannot be confused
EPOCH_UNITS_NS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}


def epoch_ns(column: pa.ChunkedArray, name: str) -> NDArray[np.int64]:
    """Convert a timestamp column to ns since 1970; integers by their unit. Raises DatasetError. Shape (rows,)."""
    if pa.types.is_timestamp(column.type):
        values: NDArray[np.int64] = column.cast(TIMESTAMP).cast(pa.int64()).to_numpy().copy()
        return values
    unit = epoch_unit(column)
    if unit is None:
        raise DatasetError(f"column '{name}' is not a timestamp column; use {TIMESTAMPS_RIGHT}", column=name)
    values = column.to_numpy() * EPOCH_UNITS_NS[unit]
    return values


def epoch_unit(column: pa.ChunkedArray) -> str | None:
    """Return the unit in which all values of an integer column lie between 1980 and 2100, or None."""
    if not pa.types.is_integer(column.type) or not len(column):
        return None
    extremes = compute.min_max(column).as_py()
    return unit_of(extremes["min"], extremes["max"])


def unit_of(least: int, most: int) -> str | None:
    """Return the unit in which both numbers lie between 1980 and 2100, or None."""
    for unit, unit_ns in EPOCH_UNITS_NS.items():
        per_s = 1_000_000_000 // unit_ns
        if EPOCH_FIRST_S * per_s <= least and most < EPOCH_LAST_S * per_s:
            return unit
    return None
