"""The sinks' records equal what Spark SQL computes over the same input, record for record.

Generated input goes to Spark as the feeds make it; the flights are read by Spark from the data set itself. A processing-time window of a
record is defined by the start of its service at the windowed operator, so that time is taken from the traced run as a column of the
input; everything else is Spark's own work. Records are compared as multisets, floats bit by bit: both sides do the same IEEE operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.parquet as parquet
import pytest

from engine.workloads import Strings, build_feed
from tests.tiers import only

from .agreement import DATASETS, ROOT, template, traced, with_params

pytestmark = [pytest.mark.spark, pytest.mark.slow]

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
        source |= WATERMARKED
    return document


def test_q1_currency_conversion(spark: Any, tmp_path: Path) -> None:
    case = Case(spark, tmp_path, template("nexmark_q1", horizon_s=6.0, drain=True))
    case.view("bids", case.inputs["bids"])
    case.assert_equal("SELECT auction, bidder, CAST(price AS DOUBLE) * 0.82D AS price_eur, time FROM bids")


def test_q2_selection(spark: Any, tmp_path: Path) -> None:
    case = Case(spark, tmp_path, template("nexmark_q2", horizon_s=6.0, drain=True))
    case.view("bids", case.inputs["bids"])
    case.assert_equal("SELECT auction, price FROM bids WHERE auction % 123 = 0")


def test_q3_full_history_join(spark: Any, tmp_path: Path) -> None:
    case = Case(spark, tmp_path, template("nexmark_q3", horizon_s=6.0, drain=True))
    case.view("persons", case.inputs["persons"])
    case.view("auctions", case.inputs["auctions"])
    case.assert_equal(
        """SELECT p.name, p.city, p.state, a.id AS right_id FROM persons p JOIN auctions a ON p.id = a.seller
           WHERE p.state IN ('OR', 'ID', 'CA')"""
    )


Q8 = """SELECT p.id, p.name, a.id AS right_id
        FROM (SELECT *, {person_pane} AS pane FROM persons {join_person}) p
        JOIN (SELECT *, {auction_pane} AS pane FROM auctions {join_auction}) a ON p.id = a.seller AND p.pane = a.pane"""


@pytest.mark.parametrize(("size_s", "origin_s", "horizon_s"), only([(10.0, 5.0, 16.0), (0.25, 0.1, 6.0)], ci=[(0.25, 0.1, 6.0)]))
def test_q8_windowed_join_by_the_processing_clock(spark: Any, tmp_path: Path, size_s: float, origin_s: float, horizon_s: float) -> None:
    window = {"kind": "tumbling", "size_s": size_s, "origin_s": origin_s, "clock": "processing"}
    case = Case(spark, tmp_path, with_params(template("nexmark_q8", horizon_s=horizon_s, drain=True), "join", window=window))
    case.view("persons", case.inputs["persons"])
    case.view("auctions", case.inputs["auctions"])
    case.view("served", case.served_at("join"))
    pane, join = window_start("served_ns", size_s, origin_s), "JOIN served USING (trigger)"
    case.assert_equal(Q8.format(person_pane=pane, auction_pane=pane, join_person=join, join_auction=join))


def test_q8_windowed_join_by_the_event_clock(spark: Any, tmp_path: Path) -> None:
    window = {"kind": "tumbling", "size_s": 0.3, "origin_s": 0.1, "clock": "event"}
    case = Case(spark, tmp_path, out_of_order(with_params(template("nexmark_q8", horizon_s=6.0, drain=True), "join", window=window)))
    case.view("persons", case.inputs["persons"])
    case.view("auctions", case.inputs["auctions"])
    pane = window_start("event_ns", 0.3, 0.1)
    case.assert_equal(Q8.format(person_pane=pane, auction_pane=pane, join_person="", join_auction=""))


Q12 = """SELECT bidder, pane AS window_start, pane + {size_ns} AS window_end,
                CAST(ROW_NUMBER() OVER (PARTITION BY bidder, pane ORDER BY served_ns) AS BIGINT) AS bids
         FROM (SELECT *, {pane} AS pane FROM bids JOIN served USING (trigger))"""


@pytest.mark.parametrize(
    ("size_s", "origin_s", "clock", "horizon_s"),
    [(10.0, 5.0, "processing", 16.0), (0.25, 0.1, "processing", 6.0), (0.25, 0.1, "event", 6.0)],
)
def test_q12_running_count(spark: Any, tmp_path: Path, size_s: float, origin_s: float, clock: str, horizon_s: float) -> None:
    """Each bid gives the count so far; "so far" is the order of service, whichever clock the windows have."""
    window = {"kind": "tumbling", "size_s": size_s, "origin_s": origin_s, "clock": clock}
    document = with_params(template("nexmark_q12", horizon_s=horizon_s, drain=True), "count", window=window)
    case = Case(spark, tmp_path, out_of_order(document) if clock == "event" else document)
    case.view("bids", case.inputs["bids"])
    case.view("served", case.served_at("count"))
    time = "event_ns" if clock == "event" else "served_ns"
    case.assert_equal(Q12.format(size_ns=round(size_s * SECOND_NS), pane=window_start(time, size_s, origin_s)))


@pytest.mark.parametrize("clock", ["event", "processing"])
def test_q12_sliding_windows_with_all_aggregates(spark: Any, tmp_path: Path, clock: str) -> None:
    """Rows of closed panes of half a second, one every fifth of a second; prices are whole cents, so sums are exact."""
    functions = ("count", "sum", "min", "max", "avg")
    params = {
        "window": {"kind": "sliding", "size_s": 0.5, "slide_s": 0.2, "origin_s": 0.03, "clock": clock},
        "aggregates": [
            {"name": f"{function}_price", "function": function} | ({"field": "price"} if function != "count" else {})
            for function in functions
        ],
        "emit": "on_close",
    }
    case = Case(spark, tmp_path, out_of_order(with_params(template("nexmark_q12", horizon_s=6.0, drain=True), "count", **params)))
    case.view("bids", case.inputs["bids"])
    case.view("served", case.served_at("count"))
    time = "event_ns" if clock == "event" else "served_ns"
    last = window_start(time, 0.2, 0.03)
    case.assert_equal(
        f"""SELECT bidder, pane AS window_start, pane + 500000000 AS window_end, COUNT(*) AS count_price, SUM(price) AS sum_price,
                   MIN(price) AS min_price, MAX(price) AS max_price, CAST(SUM(price) AS DOUBLE) / CAST(COUNT(*) AS DOUBLE) AS avg_price
            FROM (SELECT *, EXPLODE(SEQUENCE({last} - 400000000, {last}, 200000000)) AS pane FROM bids JOIN served USING (trigger))
            WHERE pane + 500000000 > {time} GROUP BY bidder, pane"""
    )


def test_flights_average_delay_by_airport(spark: Any, tmp_path: Path) -> None:
    """Spark reads the data set itself; a time is in ns since the first flight."""
    case = Case(spark, tmp_path, template("flights"))
    table = parquet.read_table(ROOT / "fixtures" / "data" / "flights.parquet")
    own_ns = compute.cast(table["time"], pa.int64())
    size_s = case.experiment.operator("average").params["window"]["size_s"]
    case.view("flights", table.set_column(0, "event_ns", compute.subtract(own_ns, compute.min(own_ns))))
    case.assert_equal(
        f"""SELECT * FROM (
              SELECT origin, pane AS window_start, pane + {size_s * SECOND_NS} AS window_end, COUNT(*) AS flights,
                     CAST(SUM(delay) AS DOUBLE) / CAST(COUNT(*) AS DOUBLE) AS delay
              FROM (SELECT *, {window_start("event_ns", size_s, 0)} AS pane FROM flights) GROUP BY origin, pane)
            WHERE delay > 15"""
    )
