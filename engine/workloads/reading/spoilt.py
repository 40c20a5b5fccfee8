"""Columns that would be event time except for some value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute

from ..dataseterror import DatasetError
from ..epochs import EPOCH_FIRST_S, EPOCH_LAST_S, EPOCH_UNITS_NS, TIMESTAMPS_RIGHT, unit_of
from . import times
from .detection import HEAD_ROWS


def refuse_spoilt(name: str, values: Iterable[pa.Array], line_of: Callable[[int], int | None] | None = None) -> None:
    """Refuse a column whose first rows are mostly times, and name its first other value. Does nothing for other columns.

    values: the column in parts; missing values are null. line_of: line of a row (from 1) in a file of text; None: rows are named.
    """
    found = first_other(values)
    if found is None:
        return
    row, value = found
    line = line_of(row + 1) if line_of else None
    why = "which is not a timestamp like the others"
    if isinstance(value, str) and "outside the years" in (reason := times.why_not(value, times.ISO, "UTC")):
        why = reason
    place = f"row {row + 1}" if line is None else f"line {line}"
    raise DatasetError(f"column '{name}' has {value!r} in {place}, {why}; use {TIMESTAMPS_RIGHT}", line=line, column=name, value=value)


def first_other(values: Iterable[pa.Array]) -> tuple[int, Any] | None:
    """Return row (from 0) and value of the first value that is no time in a column whose first rows are mostly times; None if there is
    none. Missing values are passed over."""
    row = 0
    is_time: Callable[[pa.Array], pa.Array] | None = None
    for part in values:
        if len(part) and is_time is None:
            is_time = _rule(part.slice(0, HEAD_ROWS))
            if is_time is None:
                return None
        index = compute.index(is_time(part), False).as_py() if is_time else -1
        if index >= 0:
            return row + index, part[index].as_py()
        row += len(part)
    return None


def _rule(head: pa.Array) -> Callable[[pa.Array], pa.Array] | None:
    """Return what the times of a column have in common: half of these texts look like ISO times with or without an offset, or the median of
    these integers is a time since 1970. None if neither is so."""
    head = head.drop_null()
    if pa.types.is_string(head.type) and len(head):
        for zoned in (False, True):
            if 2 * compute.sum(times.iso_shape(head, zoned)).as_py() >= len(head):
                return partial(times.iso_mask, zoned=zoned)
    if pa.types.is_integer(head.type) and len(head):
        median = int(np.sort(head.to_numpy())[len(head) // 2])
        unit = unit_of(median, median)
        if unit is not None:
            per_s = 1_000_000_000 // EPOCH_UNITS_NS[unit]
            return partial(_between, low=EPOCH_FIRST_S * per_s, high=EPOCH_LAST_S * per_s)
    return None


def _between(numbers: pa.Array, low: int, high: int) -> pa.Array:
    return compute.and_(compute.greater_equal(numbers, low), compute.less(numbers, high))
