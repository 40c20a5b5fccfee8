"""A directory with a program and its input."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from engine.spec import Experiment
from engine.spec.rules.validation import Context
from engine.workloads import Feed, Strings, build_feed

from . import program
from .query import SparkQuery, compiled

PYSPARK = "4.3.0"
FIRST_FILE_S = 1_000_000_000
"""Time of the first file; the others follow by seconds, since Spark takes them in the order of their times."""
AHEAD_NS = 10**15
"""How far the record that ends a stream is ahead of all others, and of all windows that hold them."""


class TooManyRecords(ValueError):
    """The sources make more records than were allowed."""


def write(
    experiment: Experiment,
    directory: Path,
    context: Context,
    batches: int = program.BATCHES,
    partitions: int = 4,
    records_max: int | None = None,
    slice_ns: int | None = None,
) -> SparkQuery:
    """Write `query.py` and `input/SOURCE/*.parquet` into an empty or new directory.

    batches: files per source, each of which is a micro-batch. partitions: of state. records_max: of all sources. slice_ns: in place of
    `batches`, file n has what the log got in the nth span of this length; all are in `coming/SOURCE`, for somebody who lets them appear in
    `input/SOURCE` when their time has come. Raises NotExported, TooManyRecords, FileExistsError for a directory with something in it,
    other OSErrors where it cannot be written.
    """
    query = compiled(experiment, context)
    strings = Strings()
    feeds = [build_feed(experiment, source.name, n, strings, context.datasets) for n, source in enumerate(query.sources)]
    count = sum(feed.count for feed in feeds)
    if records_max is not None and count > records_max:
        raise TooManyRecords(f"the sources make {count:,} records; at most {records_max:,} can be written here")
    directory.mkdir(parents=True, exist_ok=True)
    if any(directory.iterdir()):
        raise FileExistsError(f"{directory} is not empty; name a new directory")
    latest_ns = 0
    tables = {source.name: _records(feed, strings) for source, feed in zip(query.sources, feeds, strict=True)}
    for table in tables.values():
        if table.num_rows:
            latest_ns = max(latest_ns, int(table["_event_ns"].to_numpy().max()))
    end_ns = latest_ns + AHEAD_NS
    if slice_ns is None:
        for name, table in tables.items():
            _write_stream(table, directory / "input" / name, _in_parts(table.num_rows, batches), end_ns)
    else:
        slices = [_in_slices(feed, slice_ns) for feed in feeds]
        over = max([-(-experiment.workload.horizon_ns // slice_ns), *(n + 1 for of_source in slices for n, _, _ in of_source)])
        for (name, table), of_source in zip(tables.items(), slices, strict=True):
            (directory / "input" / name).mkdir(parents=True)
            _write_stream(table, directory / "coming" / name, of_source, end_ns, over)
    (directory / "query.py").write_text(program.text(query, end_ns, PYSPARK, batches, partitions))
    return query


def _records(feed: Feed, strings: Strings) -> pa.Table:
    """All records of a source in the order of its log, with their event times."""
    chunk = feed.chunk(0, 1 << 62)
    columns = {}
    for n, field in enumerate(feed.schema.fields):
        words = np.ascontiguousarray(chunk.words[:, n])
        match field.type:
            case "string":
                columns[field.name] = pa.array(strings.texts(words), pa.string())
            case "float":
                columns[field.name] = pa.array(words.view(np.float64))
            case "bool":
                columns[field.name] = pa.array(words != 0)
            case _:
                columns[field.name] = pa.array(words)
    return pa.table(columns | {"_event_ns": pa.array(chunk.event_ns)})


Part = tuple[int, int, int]
"""The number of a file, its first row, and the one after its last."""


def _in_parts(rows: int, parts: int) -> list[Part]:
    """Of equal size."""
    bounds = np.linspace(0, rows, max(1, min(parts, rows)) + 1).astype(int)
    return [(n, first, after) for n, (first, after) in enumerate(pairwise(bounds.tolist()))]


def _in_slices(feed: Feed, slice_ns: int) -> list[Part]:
    """By the time at which the log got the records. A slice without records has no file."""
    of_slices = feed.chunk(0, 1 << 62).append_ns // slice_ns
    numbers, firsts = np.unique(of_slices, return_index=True)
    return list(zip(numbers.tolist(), firsts.tolist(), [*firsts[1:].tolist(), len(of_slices)], strict=True))


def _write_stream(table: pa.Table, directory: Path, parts: Sequence[Part], end_ns: int, over: int | None = None) -> None:
    """Files in the order in which Spark takes them: that of their times. The last one, numbered `over`, ends the stream."""
    directory.mkdir(parents=True)
    last = {field.name: pa.array([None], field.type) for field in table.schema} | {"_event_ns": pa.array([end_ns], pa.int64())}
    files = [(n, table.slice(first, after - first)) for n, first, after in parts]
    for n, part in [*files, (len(files) if over is None else over, pa.table(last))]:
        path = directory / f"{n:05d}.parquet"
        parquet.write_table(part, path)
        os.utime(path, (FIRST_FILE_S + n, FIRST_FILE_S + n))
