"""The text of a program that runs a query by itself: `python query.py` beside its input."""

from __future__ import annotations

from .query import SHIFT_NS, Sink, Source, SparkQuery, View

BATCHES = 8
"""Into which the input is cut where nobody says otherwise."""

HEAD = '''"""{name}, for Spark's Structured Streaming. Written by Millrace.

Run it with `pip install pyspark=={pyspark}` and Java 17 or newer: python query.py
It reads input/ as streams, one file after the other, and writes output/. Stopped and started again, it goes on where it was, from
checkpoints/.

Times are whole numbers of nanoseconds. A nanosecond is a microsecond of Spark's clock, its smallest unit, so that no record moves into
another window; both clocks are SHIFT_NS apart, since Spark takes times up to 0 for late. The last record of each stream is far in the
future: it lets the last windows end, and is dropped.
"""

import json
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

HERE = Path(__file__).resolve().parent
SHIFT_NS = {shift_ns}
END_NS = {end_ns}
"""Event time of the record that ends each stream."""
FILES_MAX = 1
"""Of each source in a micro-batch."""


def settings() -> dict[str, str]:
    return {{
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.caseSensitive": "true",
        "spark.sql.ansi.enabled": "false",  # ints wrap, as in the model
        "spark.sql.shuffle.partitions": "{partitions}",
        "spark.sql.streaming.numRecentProgressUpdates": "{batches}",  # progress.json tells all micro-batches
        # watermarks come from all records of a source, not only from those that a filter behind it leaves
        "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.PushDownPredicates",
    }}


def stream(spark: SparkSession, name: str, columns: str, lag_ns: int | None) -> None:
    """The files of a source as a view. lag_ns: how far behind the latest record others may be; None: it has no watermarks."""
    reader = spark.readStream.schema(f"{{columns}}, _event_ns BIGINT").option("maxFilesPerTrigger", FILES_MAX)
    files = reader.parquet(str(HERE / "input" / name))
    records = files.selectExpr("*", f"timestamp_micros(_event_ns + {{SHIFT_NS}}) AS _event").drop("_event_ns")
    if lag_ns is not None:
        records = records.withWatermark("_event", f"{{lag_ns}} microseconds")
    records = records.where(f"_event < timestamp_micros({{END_NS + SHIFT_NS}}L)")
    (records if lag_ns is not None else records.drop("_event")).createOrReplaceTempView(f"`{{name}}`")


def queries(spark: SparkSession) -> dict[str, DataFrame]:
    """The records of each sink."""
'''

TAIL = '''

def start(sink: str, records: DataFrame, interval: str = "") -> StreamingQuery:
    """Write the records of a sink as a stream, from where it was to the end of its input; with an interval, for ever."""
    trigger = {{"processingTime": interval}} if interval else {{"availableNow": True}}
    writer = records.writeStream.trigger(**trigger).option("checkpointLocation", str(HERE / "checkpoints" / sink))
    return writer.format("parquet").start(str(HERE / "output" / sink))


def check_checkpoints() -> None:
    """End the program if another one began the streams: its state and offsets would be taken for those of this query."""
    began, own = HERE / "checkpoints" / "query.py", Path(__file__).read_text()
    has_begun = began.exists() and any(path.is_dir() for path in began.parent.iterdir())
    if has_begun and began.read_text() != own:
        sys.exit(
            f"{{began.parent}} is of another program, kept there as query.py. Remove checkpoints/ and output/ to begin anew. If the change "
            "cannot matter to Spark's state, remove only that copy, and start again."
        )
    began.parent.mkdir(exist_ok=True)
    began.write_text(own)


def main() -> None:
    check_checkpoints()
    builder = SparkSession.builder.appName({app!r})
    for name, value in settings().items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    running = {{sink: start(sink, records) for sink, records in queries(spark).items()}}
    for query in running.values():
        query.awaitTermination()
    told = {{sink: [json.loads(batch.json) for batch in query.recentProgress] for sink, query in running.items()}}
    (HERE / "progress.json").write_text(json.dumps(told))
    for name in told:
        print(name, spark.read.parquet(str(HERE / "output" / name)).count(), "records")
    spark.stop()


if __name__ == "__main__":
    main()
'''


def text(query: SparkQuery, end_ns: int, pyspark: str, batches: int, partitions: int) -> str:
    """The program. end_ns: event time of the record that ends each stream. pyspark: version it was tried with. partitions: of state."""
    numbers = {"shift_ns": SHIFT_NS, "end_ns": end_ns, "partitions": partitions, "batches": batches + 4}
    head = HEAD.format(name=_in_docstring(query.name), pyspark=pyspark, **numbers)
    parts = [*map(_source, query.sources), *map(_view, query.views), "    return {\n", *map(_sink, query.sinks), "    }\n"]
    return head + "".join(parts) + TAIL.format(app=query.name)


def _source(source: Source) -> str:
    columns = ", ".join(f"`{name.replace('`', '``')}` {type}" for name, type in source.columns)
    return f"    stream(spark, {source.name!r}, {columns!r}, {source.lag_ns})\n"


def _view(view: View) -> str:
    return f"    spark.sql({_raw(view.sql)}).createOrReplaceTempView({view.name!r})\n"


def _sink(sink: Sink) -> str:
    columns = ", ".join(f"`{name.replace('`', '``')}`" for name in sink.columns)
    return f"        {sink.name!r}: spark.sql({_raw(f'SELECT {columns} FROM {sink.view}')}),\n"


def _raw(sql: str) -> str:
    """A literal of Python that is read as it is meant, over several lines where the SQL has some."""
    if "\n" not in sql:
        return repr(sql)
    escaped = sql.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return '"""\n' + "\n".join(f"        {line}" for line in escaped.splitlines()) + '\n    """'


def _in_docstring(name: str) -> str:
    return name.replace("\\", " ").replace('"', "'")
