"""Traces from columns of uploaded data sets: rates over time, and delays row by row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from numpy.typing import NDArray

from engine.spec.base.problems import Refusal, suggestion
from engine.spec.base.units import scaled
from engine.spec.experiment.delays.base import DELAY_MAX_MS
from engine.spec.experiment.delays.file import FileDelay
from engine.spec.experiment.rates.file import FileRate
from engine.spec.experiment.streams import DatasetInfo as DatasetSchema
from engine.spec.experiment.streams import FileStream, unknown_dataset
from engine.spec.rules.flow import Datasets

from .datasets import DatasetInfo
from .epochs import epoch_ns

RATE_ROWS_MAX, DELAY_ROWS_MAX = 200_000, 5_000_000
RATE_MAX = 1e9
SECONDS_MAX = 1e8


def known(name: str, datasets: Datasets) -> DatasetSchema:
    """Return the schema of a data set, whose file may be missing. Raises Refusal (at `dataset`)."""
    dataset = datasets(name)
    if dataset is None:
        raise unknown_dataset(name)
    return dataset


def file_of(name: str, datasets: Datasets) -> DatasetInfo:
    """Return a data set whose file is available. Raises Refusal (at `dataset`)."""
    dataset = known(name, datasets)
    assert isinstance(dataset, DatasetInfo), "the files of an experiment must be available to run it"
    return dataset


def numbers(dataset: DatasetInfo, name: str, column: str, at: str, *, or_times: bool = False) -> pa.ChunkedArray:
    """Return a column of numbers, or of timestamps if or_times. Raises Refusal (at the field that names the column)."""
    if column not in dataset.schema:
        message = f"data set '{name}' has no column '{column}'; choose one of its columns"
        raise Refusal(message, at=(at,), code="unknown_field", value=column, hint=suggestion(column, dataset.schema.names))
    type = dataset.schema.type_of(column)
    if type not in ("int", "float") and not (or_times and column in dataset.timestamps):
        raise Refusal(
            f"column '{column}' of data set '{name}' is of type {type}; choose a column of numbers",
            at=(at,),
            code="type_mismatch",
            value=column,
        )
    return _read(dataset, column)


def _read(dataset: DatasetInfo, column: str) -> pa.ChunkedArray:
    return parquet.read_table(dataset.path, columns=[column])[column]


def file_times(stream: FileStream, datasets: Datasets, zero_ns: int | None = None) -> NDArray[np.int64]:
    """Return the event times of a file's records, in ns since `zero_ns` (by default its first record), ascending. Raises Refusal (path
    below the stream)."""
    dataset = file_of(stream.dataset, datasets)
    stream.record_schema(dataset)
    own_ns = epoch_ns(_read(dataset, stream.timestamp), stream.timestamp)
    own_ns.sort()
    own_ns -= own_ns[0] if zero_ns is None else zero_ns
    return own_ns


def rate_trace(rate: FileRate, datasets: Datasets) -> tuple[list[int], list[int]]:
    """Return (times in ns of the file's clock, rates in micro-records per second), row by row. Raises Refusal (path below the rate)."""
    dataset = file_of(rate.dataset, datasets)
    _refuse_length(rate.dataset, dataset.rows, RATE_ROWS_MAX, "rates")
    column = numbers(dataset, rate.dataset, rate.time, "time", or_times=True)
    if rate.time in dataset.timestamps:
        own_ns = epoch_ns(column, rate.time)
        times_ns = (own_ns - own_ns[0]).tolist()
    else:
        times = column.to_pylist()
        for row, time in enumerate(times):
            if not 0 <= time <= SECONDS_MAX:
                raise _bad_row(rate.dataset, rate.time, row, time, "time", f"times must be from 0 to {SECONDS_MAX:g} s")
        times_ns = [scaled(time, 1_000_000_000) for time in times]
    for row in range(1, len(times_ns)):
        if times_ns[row] <= times_ns[row - 1]:
            value = column[row].as_py()
            why = f"which is not after the previous row ({column[row - 1].as_py()}); sort the file and keep one row per time"
            raise _bad_row(rate.dataset, rate.time, row, value, "time", why)
    values = numbers(dataset, rate.dataset, rate.rate, "rate").to_pylist()
    for row, value in enumerate(values):
        if not 0 <= value <= RATE_MAX:
            raise _bad_row(rate.dataset, rate.rate, row, value, "rate", f"rates must be from 0 to {RATE_MAX:g} records/s")
    return times_ns, [scaled(value, 1_000_000) for value in values]


def delay_trace(delay: FileDelay, datasets: Datasets) -> NDArray[np.int64]:
    """Return delays in ns, row by row. Raises Refusal (path below the delay). Shape (rows,)."""
    dataset = file_of(delay.dataset, datasets)
    _refuse_length(delay.dataset, dataset.rows, DELAY_ROWS_MAX, "delays")
    column = numbers(dataset, delay.dataset, delay.column, "column")
    values = column.to_numpy()
    bad = np.flatnonzero(~((values >= 0) & (values <= DELAY_MAX_MS)))
    if len(bad):
        row = int(bad[0])
        raise _bad_row(delay.dataset, delay.column, row, values[row], "column", f"delays must be from 0 to {DELAY_MAX_MS:g} ms")
    whole = values.astype(np.int64)
    delays_ns: NDArray[np.int64] = whole * 1_000_000 + np.floor((values - whole) * 1e6 + 0.5).astype(np.int64)
    return delays_ns


def _refuse_length(name: str, rows: int, most: int, what: str) -> None:
    if rows > most:
        message = f"data set '{name}' has {rows:,} rows; a trace of {what} may have at most {most:,}; upload a shorter one"
        raise Refusal(message, at=("dataset",), code="too_long", value=rows)


def _bad_row(name: str, column: str, row: int, value: object, at: str, why: str) -> Refusal:
    message = f"column '{column}' of data set '{name}' has {value} in row {row + 1}; {why}"
    return Refusal(message, at=(at,), code="bad_trace", value=str(value))
