"""The sinks' records equal what Spark SQL computes over the same input, record for record.

Generated input goes to Spark as the feeds make it; the flights are read by Spark from the data set itself. A processing-time window of a
record is defined by the start of its service at the windowed operator, so that time is taken from the traced run as a column of the
input; everything else is Spark's own work. Records are compared as multisets, floats bit by bit: both sides do the same IEEE operations.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.parquet as parquet
import pytest

from tests.support.tiers import only

from ...support.agreement import ROOT, template, with_params
from ...support.beside_spark import SECOND_NS, Case, out_of_order, window_start

pytestmark = [pytest.mark.spark, pytest.mark.slow]


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
