"""Windows and aggregates equal what Spark SQL computes over the same input, record for record (see `test_spark`).

Spark's times have microseconds, the engine's nanoseconds: Spark gets the numbers of nanoseconds as microseconds, so that its own `window`
and `session_window` see them exactly.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.tiers import only, spread

from ...support.agreement import template, with_params
from ...support.beside_spark import Case, out_of_order, window_start

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SECOND_NS = 1_000_000_000
EVALUATIONS = ("incremental", "at_firing")
CLOCKS = {"event": "event_ns", "processing": "served_ns"}
PAIRS = [(clock, evaluation) for clock in CLOCKS for evaluation in EVALUATIONS]
AGGREGATES = [
    {"name": "bids", "function": "count"},
    {"name": "auctions", "function": "count_distinct", "field": "auction"},
    {"name": "total", "function": "sum", "field": "price"},
    {"name": "least", "function": "min", "field": "price"},
    {"name": "most", "function": "max", "field": "price"},
    {"name": "mean", "function": "avg", "field": "price"},
]
COLUMNS = """COUNT(*) AS bids, COUNT(DISTINCT auction) AS auctions, SUM(price) AS total, MIN(price) AS least, MAX(price) AS most,
             CAST(SUM(price) AS DOUBLE) / CAST(COUNT(*) AS DOUBLE) AS mean"""


def bids_through(kind: str, horizon_s: float = 6.0, **params: Any) -> dict[str, Any]:
    """NexMark's bids, out of order, through this operator on four workers."""
    document = with_params(template("nexmark_q12", horizon_s=horizon_s, drain=True), "count", **params)
    operator = document["query"]["operators"][1]
    operator |= {"kind": kind, "params": params}
    if params.get("key") is None:
        operator["parallelism"] = 1
        document["query"]["edges"][0]["partitioning"] = document["query"]["edges"][1]["partitioning"] = {"kind": "rebalance"}
    return out_of_order(document)


def case_of(spark: Any, directory: Path, document: dict[str, Any], late: bool = False) -> Case:
    """Views: bids, and served with the time at which the operator began on each."""
    case = Case(spark, directory, document, late)
    case.view("bids", case.inputs["bids"])
    case.view("served", case.served_at("count"))
    return case


def ns(seconds: float) -> str:
    return f"{round(seconds * SECOND_NS)} microseconds"


def test_q5_hot_items(spark: Any, tmp_path: Path) -> None:
    case = Case(spark, tmp_path, template("nexmark_q5", horizon_s=21.0, drain=True))
    case.view("bids", case.inputs["bids"])
    case.assert_equal(
        f"""SELECT window, auction, bids, most FROM (
              SELECT *, MAX(bids) OVER (PARTITION BY window) AS most FROM (
                SELECT unix_micros(pane.start) AS window, auction, COUNT(*) AS bids FROM (
                  SELECT auction, window(timestamp_micros(event_ns), '{ns(10)}', '{ns(2)}') AS pane FROM bids)
                GROUP BY pane, auction))
            WHERE bids = most"""
    )


SESSIONS = """SELECT bidder, unix_micros(session.start) AS window_start, unix_micros(session.end) AS window_end, {columns}
              FROM (SELECT *, session_window(timestamp_micros({time}), '{gap}') AS session FROM bids JOIN served USING (trigger))
              GROUP BY bidder, session"""


@pytest.mark.parametrize(("clock", "evaluation"), only(PAIRS, ci=[("event", "incremental"), ("processing", "at_firing")]))
def test_q11_sessions_with_all_aggregates(spark: Any, tmp_path: Path, clock: str, evaluation: str) -> None:
    """A gap of 0.2 s cuts the bids of most bidders, who bid some times a second, into several sessions."""
    params = {"key": "bidder", "gap_s": 0.2, "clock": clock, "aggregates": AGGREGATES, "evaluation": evaluation}
    case = case_of(spark, tmp_path, bids_through("session_aggregate", **params))
    case.assert_equal(SESSIONS.format(columns=COLUMNS, time=CLOCKS[clock], gap=ns(0.2)))


def test_q11_as_it_ships_but_for_the_early_rows(spark: Any, tmp_path: Path) -> None:
    case = Case(spark, tmp_path, with_params(template("nexmark_q11", horizon_s=12.0, drain=True), "sessions", every=None))
    case.view("bids", case.inputs["bids"])
    case.view("served", case.served_at("sessions"))
    case.assert_equal(SESSIONS.format(columns="COUNT(*) AS bids", time="event_ns", gap=ns(10)))


def test_sessions_of_all_bids(spark: Any, tmp_path: Path) -> None:
    """Without a key: a bid every 50 us, 0 to 200 ms late, of which a session holds those that leave no gap of 100 us."""
    document = bids_through("session_aggregate", gap_s=0.0001, aggregates=[{"name": "bids"}])
    case = case_of(spark, tmp_path, document)
    case.assert_equal(
        f"""SELECT unix_micros(session.start) AS window_start, unix_micros(session.end) AS window_end, COUNT(*) AS bids
            FROM (SELECT session_window(timestamp_micros(event_ns), '{ns(0.0001)}') AS session FROM bids) GROUP BY session"""
    )


@pytest.mark.parametrize(("clock", "evaluation"), only(PAIRS, ci=[("event", "incremental")]))
def test_sliding_windows_with_all_aggregates(spark: Any, tmp_path: Path, clock: str, evaluation: str) -> None:
    window = {"kind": "sliding", "size_s": 0.5, "slide_s": 0.2, "origin_s": 0.03, "clock": clock}
    params = {"key": "bidder", "window": window, "aggregates": AGGREGATES, "emit": "on_close", "evaluation": evaluation}
    case = case_of(spark, tmp_path, bids_through("aggregate", **params))
    pane = f"window(timestamp_micros({CLOCKS[clock]}), '{ns(0.5)}', '{ns(0.2)}', '{ns(0.03)}')"
    case.assert_equal(
        f"""SELECT bidder, unix_micros(pane.start) AS window_start, unix_micros(pane.end) AS window_end, {COLUMNS}
            FROM (SELECT *, {pane} AS pane FROM bids JOIN served USING (trigger)) GROUP BY bidder, pane"""
    )


def test_a_global_aggregate_over_tumbling_windows(spark: Any, tmp_path: Path) -> None:
    """Without a key, at parallelism 1; its rows for 300 windows."""
    params = {"window": {"kind": "tumbling", "size_s": 0.02}, "aggregates": AGGREGATES, "emit": "on_close"}
    case = case_of(spark, tmp_path, bids_through("aggregate", **params))
    case.assert_equal(
        f"""SELECT unix_micros(pane.start) AS window_start, unix_micros(pane.end) AS window_end, {COLUMNS}
            FROM (SELECT *, window(timestamp_micros(event_ns), '{ns(0.02)}') AS pane FROM bids) GROUP BY pane"""
    )


@pytest.mark.parametrize("every", [1, 7])
def test_a_running_aggregate(spark: Any, tmp_path: Path, every: int) -> None:
    """Each bid, or every seventh of a bidder, gives the aggregate of all of his so far, in the order of service."""
    params = {"key": "bidder", "aggregates": AGGREGATES[:5], "every": every}
    case = case_of(spark, tmp_path, bids_through("aggregate", **params))
    so_far = "OVER (PARTITION BY bidder ORDER BY served_ns)"
    case.assert_equal(
        f"""SELECT * FROM (
              SELECT bidder, COUNT(*) {so_far} AS bids, CAST(SIZE(COLLECT_SET(auction) {so_far}) AS BIGINT) AS auctions,
                     SUM(price) {so_far} AS total, MIN(price) {so_far} AS least, MAX(price) {so_far} AS most
              FROM bids JOIN served USING (trigger))
            WHERE bids % {every} = 0"""
    )


@pytest.mark.parametrize(
    ("size", "slide", "evaluation"),
    spread([(*window, evaluation) for window in ((10, None), (10, 4), (3, 1)) for evaluation in EVALUATIONS], ci=3),
)
def test_windows_of_records(spark: Any, tmp_path: Path, size: int, slide: int | None, evaluation: str) -> None:
    """A bidder's last bids in the order of service; of the first windows what there is. Tumbling windows are those that begin anew."""
    params = {"key": "bidder", "size": size, "slide": slide, "aggregates": AGGREGATES[:5], "evaluation": evaluation}
    case = case_of(spark, tmp_path, bids_through("count_window_aggregate", **params))
    last = f"OVER (PARTITION BY bidder ORDER BY served_ns ROWS BETWEEN {size - 1} PRECEDING AND CURRENT ROW)"
    case.assert_equal(
        f"""SELECT bidder, bids, auctions, total, least, most FROM (
              SELECT bidder, ROW_NUMBER() OVER (PARTITION BY bidder ORDER BY served_ns) AS number,
                     COUNT(*) {last} AS bids, CAST(SIZE(COLLECT_SET(auction) {last}) AS BIGINT) AS auctions,
                     SUM(price) {last} AS total, MIN(price) {last} AS least, MAX(price) {last} AS most
              FROM bids JOIN served USING (trigger))
            WHERE number % {slide or size} = 0"""
    )


def test_late_bids_are_those_that_the_closed_windows_lack(spark: Any, tmp_path: Path) -> None:
    """Watermarks that wait for nobody, windows kept for 50 ms: the last row of each window and the late bids together have all bids."""
    window = {"kind": "tumbling", "size_s": 0.1, "origin_s": 0.03}
    params = {"key": "bidder", "window": window, "aggregates": AGGREGATES[:1], "emit": "on_close", "lateness_ms": 50}
    document = bids_through("aggregate", **params)
    document["workload"]["sources"]["bids"]["watermarks"]["lag_ms"] = 0
    document["query"]["operators"].append({"id": "late", "kind": "sink", "parallelism": 4})
    document["query"]["edges"].append({"source": "count", "source_port": "late", "target": "late", "partitioning": {"kind": "forward"}})
    case = case_of(spark, tmp_path, document, late=True)
    rows, late = case.simulation.outputs("sink"), case.simulation.outputs("late")
    assert late.num_rows == case.simulation.summary()["late"] > 1000
    assert rows.num_rows > case.spark.sql("SELECT DISTINCT bidder FROM bids").count()
    case.view("rows", rows)
    case.view("late", late)
    pane = window_start("{time}", 0.1, 0.03)
    found = case.spark.sql(
        f"""SELECT bidder, pane, SUM(bids) AS bids FROM (
              SELECT bidder, window_start AS pane, MAX(bids) AS bids FROM rows GROUP BY bidder, pane
              UNION ALL SELECT bidder, {pane.format(time="time")} AS pane, 1 AS bids FROM late)
            GROUP BY bidder, pane"""
    )
    wanted = case.spark.sql(f"SELECT bidder, {pane.format(time='event_ns')} AS pane, COUNT(*) AS bids FROM bids GROUP BY ALL")
    assert found.exceptAll(wanted).count() == wanted.exceptAll(found).count() == 0
