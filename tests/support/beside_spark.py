"""A run of the engine beside Spark SQL, which sees the same input; records are compared as multisets, floats bit by bit."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.parquet as parquet

from engine.workloads import Strings, build_feed

from .agreement import DATASETS, traced

INPUTS_MIN = 100_000
SECOND_NS = 1_000_000_000


class Case:
    """A drained, traced run of the engine beside Spark, which sees the same input."""

    def __init__(self, spark: Any, directory: Path, document: dict[str, Any], late: bool = False):
        self.spark, self.directory = spark, directory
        self.simulation = traced(document)
        self.experiment = self.simulation.experiment
        summary = self.simulation.summary()
        assert summary["drained"]
        assert summary["records_in"] >= INPUTS_MIN
        assert (summary["late"] > 0) == late
        strings = Strings()
        sources = [operator.id for operator in self.experiment.query.operators if operator.kind == "source"]
        self.inputs = {id: self._input(id, number, strings) for number, id in enumerate(sources)}

    def _input(self, source_id: str, source_number: int, strings: Strings) -> pa.Table:
        """The records of a source, decoded, with their identity."""
        feed = build_feed(self.experiment, source_id, source_number, strings, DATASETS)
        chunk = feed.chunk(0, 1 << 62)
        columns = {}
        for column, field in enumerate(feed.schema.fields):
            words = np.ascontiguousarray(chunk.words[:, column])
            if field.type == "string":
                columns[field.name] = pa.array(strings.texts(words))
            else:
                columns[field.name] = pa.array(words.view(np.float64) if field.type == "float" else words)
        return pa.table(columns | {"event_ns": chunk.event_ns, "trigger": chunk.trigger})

    def served_at(self, operator_id: str) -> pa.Table:
        """When the operator's instances started on each input record; every record exactly once."""
        first = 0
        for operator in self.experiment.query.operators:
            if operator.id == operator_id:
                break
            first += operator.parallelism
        rows = self.simulation.service_trace(with_trigger=True)
        rows = rows[(rows[:, 0] >= first) & (rows[:, 0] < first + operator.parallelism) & (rows[:, 3] == 0)]
        assert len(np.unique(rows[:, 4])) == len(rows)
        return pa.table({"trigger": rows[:, 4], "served_ns": rows[:, 1]})

    def view(self, name: str, table: pa.Table) -> None:
        """Show a table to Spark."""
        path = str(self.directory / f"{name}.parquet")
        parquet.write_table(table, path)
        self.spark.read.parquet(path).createOrReplaceTempView(name)

    def assert_equal(self, sql: str, sink: str = "sink", close: Sequence[str] = ()) -> None:
        """close: columns of floats that may differ in the last bits."""
        path = str(self.directory / "result")
        self.spark.sql(sql).write.mode("overwrite").parquet(path)
        expected = parquet.read_table(path)
        found = self.simulation.outputs(sink)
        found = found.select([name for name in found.column_names if not name.startswith("_")])
        assert expected.column_names == found.column_names
        assert expected.num_rows > 0
        order = [name for name in expected.column_names if name not in close]
        if close:
            expected, found = (table.sort_by([(name, "ascending") for name in [*order, *close]]) for table in (expected, found))
            assert expected.num_rows == found.num_rows
            for name in close:
                np.testing.assert_allclose(found[name].to_numpy(), expected[name].to_numpy(), rtol=1e-12, err_msg=name)
        assert_same_multiset(expected.select(order), found.select(order))


def assert_same_multiset(expected: pa.Table, found: pa.Table) -> None:
    assert expected.num_rows == found.num_rows, f"Spark has {expected.num_rows} records, the engine {found.num_rows}"
    expected, found = sorted_table(expected), sorted_table(found)
    for name in expected.column_names:
        a, b = expected[name].combine_chunks(), found[name].combine_chunks()
        if pa.types.is_floating(a.type):  # compared by their bits
            a, b = pa.array(a.to_numpy().view(np.int64)), pa.array(b.to_numpy().view(np.int64))
        assert a.type == b.type, f"column {name}: Spark has {a.type}, the engine {b.type}"
        if not a.equals(b):
            row = int(np.argmin(compute.equal(a, b).to_numpy(zero_copy_only=False)))
            raise AssertionError(f"row {row}: Spark {expected.slice(row, 1).to_pylist()}, engine {found.slice(row, 1).to_pylist()}")


def sorted_table(table: pa.Table) -> pa.Table:
    return table.sort_by([(name, "ascending") for name in table.column_names])


def window_start(time: str, size_s: float, origin_s: float) -> str:
    """SQL for the start of the tumbling window that a time falls into."""
    return f"({time} - pmod({time} - {round(origin_s * SECOND_NS)}, {round(size_s * SECOND_NS)}))"


WATERMARKED = {"disorder": {"kind": "uniform", "max_ms": 200}, "watermarks": {"kind": "bounded", "lag_ms": 200, "period_ms": 50}}


def out_of_order(document: dict[str, Any]) -> dict[str, Any]:
    """Event times up to 200 ms behind, and watermarks that wait for them, so that nothing is late."""
    for source in document["workload"]["sources"].values():
        source |= copy.deepcopy(WATERMARKED)  # tests change what they get
    return document
