"""The benchmarks that the papers take their queries from, besides NexMark: the sinks' records equal Spark SQL's, record for record.

Averages of floats depend on the order of their values, which Spark does not keep, so they may differ in the last bits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ...support.agreement import template
from ...support.beside_spark import SECOND_NS, Case

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def panes(size_s: int, slide_s: int, origin_s: int = 0) -> str:
    """SQL for the windows that a record's event time falls into, a row for each."""
    spans = ", ".join(f"'{seconds * SECOND_NS} microseconds'" for seconds in (size_s, slide_s, origin_s))
    return f"window(timestamp_micros(event_ns), {spans}) AS pane"


BOUNDS = "unix_micros(pane.start) AS window_start, unix_micros(pane.end) AS window_end"


def test_yahoo_views_per_campaign(spark: Any, tmp_path: Path) -> None:
    case = Case(spark, tmp_path, template("yahoo", horizon_s=15.0, drain=True))
    case.view("events", case.inputs["events"])
    case.assert_equal(
        f"""SELECT campaign, {BOUNDS}, COUNT(*) AS views
            FROM (SELECT ad DIV 10 AS campaign, {panes(10, 10)} FROM events WHERE event_type = 'view') GROUP BY campaign, pane"""
    )


def test_taxi_rides_by_cell(spark: Any, tmp_path: Path) -> None:
    case = Case(spark, tmp_path, template("taxi_rides", horizon_s=6.0, drain=True))
    case.view("trips", case.inputs["trips"])
    case.assert_equal(
        f"""SELECT cell, {BOUNDS}, COUNT(*) AS trips, AVG(distance_miles) AS distance_miles, AVG(fare) AS fare
            FROM (SELECT FLOOR(pickup_longitude * 100) * 100000 + FLOOR(pickup_latitude * 100) AS cell, distance_miles, fare, {panes(2, 1)}
                  FROM trips WHERE distance_miles > 0 AND pickup_longitude <> 0)
            GROUP BY cell, pane""",
        close=("distance_miles", "fare"),
    )


def test_advertisements_clicked_and_shown(spark: Any, tmp_path: Path) -> None:
    case = Case(spark, tmp_path, template("advertisement", horizon_s=9.0, drain=True))
    for name in ("clicks", "impressions"):
        case.view(name, case.inputs[name])
    case.assert_equal(
        f"""SELECT c.ad, c.query, c.impression, i.impression AS right_impression, c.user, i.user AS right_user
            FROM (SELECT *, {panes(4, 4)} FROM clicks) c
            JOIN (SELECT *, {panes(4, 4)} FROM impressions) i ON c.key = i.key AND c.pane = i.pane
            WHERE NOT STARTSWITH(c.url, '---')"""
    )


@pytest.mark.deep
def test_spikes_of_means_over_500_readings(spark: Any, tmp_path: Path) -> None:
    case = Case(spark, tmp_path, template("spike_detection", horizon_s=40.0, drain=True))
    case.view("readings", case.inputs["readings"])
    case.view("served", case.served_at("means"))
    case.assert_equal(
        """SELECT mote, AVG(temperature) AS temperature
           FROM (SELECT mote, temperature, (ROW_NUMBER() OVER (PARTITION BY mote ORDER BY served_ns) - 1) DIV 500 AS number
                 FROM readings JOIN served USING (trigger))
           GROUP BY mote, number HAVING COUNT(*) = 500 AND AVG(temperature) > 27""",
        close=("temperature",),
    )


@pytest.mark.parametrize("name", ["smart_grid_global", "smart_grid_local"])
def test_smart_grid_loads(spark: Any, tmp_path: Path, name: str) -> None:
    case = Case(spark, tmp_path, template(name, horizon_s=14.0, drain=True))
    case.view("readings", case.inputs["readings"])
    key = "household, " if name == "smart_grid_local" else ""
    case.assert_equal(
        f"SELECT {key}{BOUNDS}, AVG(load) AS load FROM (SELECT household, load, {panes(6, 1)} FROM readings) GROUP BY {key}pane",
        close=("load",),
    )


@pytest.mark.deep
def test_linear_road_tolls(spark: Any, tmp_path: Path) -> None:
    """An accident within five segments, so that crowded and slow stretches behind it cost nothing."""
    document = template("linear_road", horizon_s=24.0, drain=True)
    document["workload"]["sources"]["reports"]["stream"] |= {"accident_every": 5, "jam_ratio": 0.6}
    case = Case(spark, tmp_path, document)
    case.view("reports", case.inputs["reports"])
    road = "xway * 2 + direction"
    spark.sql(
        f"""CREATE OR REPLACE TEMP VIEW accidents AS
            SELECT DISTINCT ({road}) * 1000 + IF(direction = 0, segment - ahead, segment + ahead) AS stretch, ends
            FROM (SELECT MIN(xway) AS xway, MIN(direction) AS direction, MIN(segment) AS segment, unix_micros(pane.end) AS ends
                  FROM (SELECT *, {panes(5, 3, 1)} FROM reports)
                  GROUP BY xway, direction, lane, position, pane
                  HAVING COUNT(DISTINCT vehicle) >= 2 AND COUNT(*) >= 4 * COUNT(DISTINCT vehicle))
            LATERAL VIEW EXPLODE(SEQUENCE(0, 4)) AS ahead"""
    )
    spark.sql(
        f"""CREATE OR REPLACE TEMP VIEW conditions AS
            SELECT stretch, unix_micros(pane.end) AS ends, COUNT(DISTINCT vehicle) AS cars, AVG(speed) AS speed
            FROM (SELECT ({road}) * 1000 + segment AS stretch, vehicle, speed, {panes(3, 3)} FROM reports) GROUP BY stretch, pane"""
    )
    spark.sql(
        f"""CREATE OR REPLACE TEMP VIEW tolls AS
            SELECT r.vehicle, r.pane, c.cars > 50 AND c.speed < 40 AS due, a.stretch IS NOT NULL AS accident,
                   IF(c.cars > 50 AND c.speed < 40 AND a.stretch IS NULL, 2 * (c.cars - 50) * (c.cars - 50), 0) AS toll
            FROM (SELECT vehicle, ({road}) * 1000 + segment AS stretch, {panes(1, 1)} FROM reports) r
            JOIN conditions c ON c.stretch = r.stretch AND c.ends = unix_micros(r.pane.end)
            LEFT JOIN accidents a ON a.stretch = c.stretch AND a.ends = c.ends"""
    )
    due = {
        (row.due, row.accident): row["count"]
        for row in spark.sql("SELECT due, accident FROM tolls").groupBy("due", "accident").count().collect()
    }
    assert min(due.get(kind, 0) for kind in ((True, True), (True, False), (False, False))) > 50
    case.assert_equal(f"SELECT vehicle, {BOUNDS}, SUM(toll) AS toll FROM tolls GROUP BY vehicle, pane")
