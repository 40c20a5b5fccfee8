"""A directory with a program and its input."""

from __future__ import annotations

import json
import os
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
) -> SparkQuery:
    """Write `query.py` and `input/SOURCE/*.parquet` into an empty or new directory.

    batches: files per source, each of which is a micro-batch. partitions: of state. records_max: of all sources. Raises NotExported,
    TooManyRecords, FileExistsError for a directory with something in it, other OSErrors where it cannot be written.
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
    for name, table in tables.items():
        _write_stream(table, directory / "input" / name, batches, end_ns)
    (directory / "query.py").write_text(program.text(query, end_ns, PYSPARK, batches, partitions))
    return query


def records_written(directory: Path, sink: str, schema: pa.Schema) -> pa.Table:
    """The records that the program wrote, with these columns. Files of a micro-batch that was killed are in no log, and left out."""
    output, names = directory / "output" / sink, set[str]()
    for log in (output / "_spark_metadata").glob("[0-9]*"):
        names |= {Path(json.loads(line)["path"]).name for line in log.read_text().splitlines()[1:]}
    tables = [parquet.ParquetFile(output / name).read() for name in sorted(names)]
    return pa.concat_tables([schema.empty_table(), *(table.select(schema.names).cast(schema) for table in tables)])


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


def _write_stream(table: pa.Table, directory: Path, batches: int, end_ns: int) -> None:
    """Files in the order in which Spark takes them: that of their times. The last one ends the stream."""
    directory.mkdir(parents=True)
    bounds = np.linspace(0, table.num_rows, max(1, min(batches, table.num_rows)) + 1).astype(int)
    parts = [table.slice(first, last - first) for first, last in pairwise(bounds.tolist())]
    last = {field.name: pa.array([None], field.type) for field in table.schema} | {"_event_ns": pa.array([end_ns], pa.int64())}
    for n, part in enumerate([*parts, pa.table(last)]):
        path = directory / f"{n:05d}.parquet"
        parquet.write_table(part, path)
        os.utime(path, (1_000_000_000 + n, 1_000_000_000 + n))
