"""Columns that would be event time except for some value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute

from ..dataseterror import DatasetError
from ..epochs import EPOCH_FIRST_S, EPOCH_LAST_S, EPOCH_UNITS_NS, TIMESTAMPS_RIGHT, unit_of
from . import times
from .detection import HEAD_ROWS


def refuse_spoilt(
    columns: Sequence[str],
    batches: Iterable[pa.RecordBatch],
    cells: Callable[[pa.RecordBatch, int], pa.Array],
    line_of: Callable[[int], int | None] | None = None,
) -> None:
    """Refuse a file with a column whose first rows are mostly times, and name the first other value of the first such column.

    cells: the values of the column with this position in `columns`; missing ones are null. line_of: line of a row (from 1) in a file of
    text; None: rows are named. The file is read once, whatever the number of its columns.
    """
    searches = [Search() for _ in columns]
    for batch in batches:
        open_ones = [position for position, search in enumerate(searches) if not search.is_over]
        for position in open_ones:
            searches[position].see(cells(batch, position))
        if not open_ones:
            break
    for name, search in zip(columns, searches, strict=True):
        if search.found is not None:
            raise _spoilt(name, *search.found, line_of)


def _spoilt(name: str, row: int, value: Any, line_of: Callable[[int], int | None] | None) -> DatasetError:
    line = line_of(row + 1) if line_of else None
    why = "which is not a timestamp like the others"
    if isinstance(value, str) and "outside the years" in (reason := times.why_not(value, times.ISO, "UTC")):
        why = reason
    place = f"row {row + 1}" if line is None else f"line {line}"
    return DatasetError(f"column '{name}' has {value!r} in {place}, {why}; use {TIMESTAMPS_RIGHT}", line=line, column=name, value=value)


class Search:
    """For the first value that is no time in a column whose first rows are mostly times. Missing values are passed over.

    found: its row (from 0), and the value. is_over: no further rows are needed.
    """

    def __init__(self) -> None:
        self.found: tuple[int, Any] | None = None
        self.is_over = False
        self._rows = 0
        self._is_time: Callable[[pa.Array], pa.Array] | None = None

    def see(self, values: pa.Array) -> None:
        if len(values) and self._is_time is None:
            self._is_time = _rule(values.slice(0, HEAD_ROWS))
            self.is_over = self._is_time is None
        if self._is_time is None:
            return
        index = compute.index(self._is_time(values), False).as_py()
        if index >= 0:
            self.found, self.is_over = (self._rows + index, values[index].as_py()), True
        self._rows += len(values)


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
