"""Every kind of join gives the pairs that Spark SQL finds in the same input, record for record (see `test_spark`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.parquet as parquet
import pytest

from engine.workloads import lookup
from tests.support.tiers import only, spread

from ...support.agreement import template, traced, with_params
from ...support.beside_spark import Case, assert_same_multiset, out_of_order, window_start
from ..simulation.test_event_zero import NOON_NS, joined, stream, times, write

pytestmark = [pytest.mark.spark, pytest.mark.slow]

MILLISECOND_NS = 1_000_000


def q8(kind: str, horizon_s: float = 6.0, **params: Any) -> dict[str, Any]:
    """Q8's persons and auctions through another join."""
    document = template("nexmark_q8", horizon_s=horizon_s, drain=True)
    operator = next(operator for operator in document["query"]["operators"] if operator["id"] == "join")
    operator |= {"kind": kind, "params": {"left_key": "id", "right_key": "seller", "select": ["id", "name", "right_id"], **params}}
    return document


def panes(time: str, size_ms: int, slide_ms: int, origin_ms: int = 0) -> str:
    """SQL for all starts of the sliding panes that a time falls into, as rows; those before the time's own are cut by `IN_PANE`."""
    last = window_start(time, slide_ms / 1000, origin_ms / 1000)
    older_ns = (size_ms - 1) // slide_ms * slide_ms * MILLISECOND_NS
    return f"EXPLODE(SEQUENCE({last} - {older_ns}, {last}, {slide_ms * MILLISECOND_NS}))"


def paned(table: str, time: str, size_ms: int, slide_ms: int, origin_ms: int = 0, join: str = "") -> str:
    """SQL for a table with a row for each pane of each record."""
    of = f"SELECT *, {panes(time, size_ms, slide_ms, origin_ms)} AS pane FROM {table} {join}"
    return f"(SELECT * FROM ({of}) WHERE pane + {size_ms * MILLISECOND_NS} > {time})"


PAIRS = """SELECT p.id, p.name, a.id AS right_id{more} FROM {persons} p JOIN {auctions} a ON p.id = a.seller AND {where}"""


def views(case: Case, *names: str) -> None:
    for name in names:
        case.view(name, case.inputs[name])


@pytest.mark.parametrize("kind", only(["join", "window_join"], ci=["join"]))
def test_sliding_joins_by_the_event_clock(spark: Any, tmp_path: Path, kind: str) -> None:
    window = {"kind": "sliding", "size_s": 0.5, "slide_s": 0.2, "origin_s": 0.03, "clock": "event"}
    document = out_of_order(q8(kind, window=window, select=["id", "name", "right_id", "window_start", "window_end"]))
    case = Case(spark, tmp_path, document)
    views(case, "persons", "auctions")
    persons, auctions = (paned(name, "event_ns", 500, 200, 30) for name in ("persons", "auctions"))
    more = ", p.pane AS window_start, p.pane + 500000000 AS window_end"
    case.assert_equal(PAIRS.format(persons=persons, auctions=auctions, where="p.pane = a.pane", more=more))


@pytest.mark.parametrize("kind", only(["join", "window_join"], ci=["window_join"]))
def test_sliding_joins_by_the_processing_clock(spark: Any, tmp_path: Path, kind: str) -> None:
    window = {"kind": "sliding", "size_s": 0.5, "slide_s": 0.25, "origin_s": 0.1, "clock": "processing"}
    case = Case(spark, tmp_path, q8(kind, window=window))
    views(case, "persons", "auctions")
    case.view("served", case.served_at("join"))
    persons, auctions = (paned(name, "served_ns", 500, 250, 100, "JOIN served USING (trigger)") for name in ("persons", "auctions"))
    case.assert_equal(PAIRS.format(persons=persons, auctions=auctions, where="p.pane = a.pane", more=""))


def test_q8_at_the_windows_end(spark: Any, tmp_path: Path) -> None:
    """The example itself; its watermarks wait long enough here that nothing is late."""
    document = template("nexmark_q8_windows", horizon_s=12.0, drain=True)
    for source in document["workload"]["sources"].values():
        source["watermarks"]["lag_ms"] = 2000
    case = Case(spark, tmp_path, document)
    views(case, "persons", "auctions")
    persons, auctions = (paned(name, "event_ns", 10_000, 10_000) for name in ("persons", "auctions"))
    more = ", p.pane + 10000000000 AS window_end"
    case.assert_equal(PAIRS.format(persons=persons, auctions=auctions, where="p.pane = a.pane", more=more))


@pytest.mark.parametrize(("lower_s", "upper_s"), spread([(-0.05, 0.3), (0.0, 0.0), (0.1, 0.4), (-0.0015, -0.0002)], ci=2))
def test_interval_joins(spark: Any, tmp_path: Path, lower_s: float, upper_s: float) -> None:
    """Times of a regular grid, so that many fall on the bounds exactly."""
    document = q8("interval_join", lower_s=lower_s, upper_s=upper_s)
    for source in document["workload"]["sources"].values():
        source["watermarks"] = {"kind": "bounded", "lag_ms": 0, "period_ms": 50}
    document["workload"]["sources"]["auctions"]["rate"]["per_s"] = 15_000 if lower_s else 20_000
    case = Case(spark, tmp_path, document)
    views(case, "persons", "auctions")
    within = f"a.event_ns BETWEEN p.event_ns + {round(lower_s * 1e9)} AND p.event_ns + {round(upper_s * 1e9)}"
    case.assert_equal(PAIRS.format(persons="persons", auctions="auctions", where=within, more=""))


def test_an_interval_join_out_of_order(spark: Any, tmp_path: Path) -> None:
    case = Case(spark, tmp_path, out_of_order(q8("interval_join", lower_s=-0.05, upper_s=0.25)))
    views(case, "persons", "auctions")
    within = "a.event_ns BETWEEN p.event_ns - 50000000 AND p.event_ns + 250000000"
    case.assert_equal(PAIRS.format(persons="persons", auctions="auctions", where=within, more=""))


@pytest.mark.parametrize("ttl_s", only([0.2, 1.0], ci=[0.2]))
def test_a_join_with_expiry(spark: Any, tmp_path: Path, ttl_s: float) -> None:
    """Both sides keep all: pairs whose services at the join began less than `ttl_s` apart."""
    case = Case(spark, tmp_path, q8("expiring_join", ttl_s=ttl_s))
    views(case, "persons", "auctions")
    case.view("served", case.served_at("join"))
    near = f"ABS(p.served_ns - a.served_ns) < {round(ttl_s * 1e9)}"
    persons, auctions = (f"(SELECT * FROM {name} JOIN served USING (trigger))" for name in ("persons", "auctions"))
    case.assert_equal(PAIRS.format(persons=persons, auctions=auctions, where=near, more=""))


@pytest.mark.parametrize("keep_left", ["all", "unmatched"])
def test_q3_with_expiry(spark: Any, tmp_path: Path, keep_left: str) -> None:
    """An auction finds a stored person or waits for one; a person takes all that wait, and leaves with them if it is kept until a match."""
    document = with_params(template("nexmark_q3_ttl", horizon_s=6.0, drain=True), "join", ttl_s=0.2, keep_left=keep_left)
    case = Case(spark, tmp_path, document)
    views(case, "persons", "auctions")
    case.view("served", case.served_at("join"))
    near = "ABS(p.served_ns - a.served_ns) < 200000000"
    pairs = f"""SELECT p.name, p.city, p.state, a.id AS right_id, a.served_ns AS came_ns, a.served_ns < p.served_ns AS waited,
                       MIN(a.served_ns) OVER (PARTITION BY p.id) AS first_ns, p.served_ns AS person_ns
                FROM (SELECT * FROM persons JOIN served USING (trigger)) p JOIN (SELECT * FROM auctions JOIN served USING (trigger)) a
                ON p.id = a.seller AND {near} WHERE p.state IN ('OR', 'ID', 'CA')"""
    # until it has matched: the person is not stored if any auction waited, else it leaves with the first auction behind it
    kept = "WHERE waited OR (first_ns > person_ns AND came_ns = first_ns)" if keep_left == "unmatched" else ""
    case.assert_equal(f"SELECT name, city, state, right_id FROM ({pairs}) {kept}")


def test_three_streams_over_sliding_windows(spark: Any, tmp_path: Path) -> None:
    """Persons with auctions, then these pairs with bids by the same person, pane by pane."""
    window = {"kind": "sliding", "size_s": 0.4, "slide_s": 0.1, "clock": "event"}
    document = q8("window_join", horizon_s=5.0, window=window, select=["id", "right_id", "window_end"])
    second = {
        "left_key": "id",
        "right_key": "bidder",
        "window": window,
        "left_window_end": "window_end",
        "select": ["id", "right_id", "price", "window_end"],
    }
    document["query"]["operators"][-1:] = [
        {"id": "bids", "kind": "source", "parallelism": 4},
        {"id": "all", "kind": "join", "parallelism": 4, "params": second},
        {"id": "sink", "kind": "sink", "parallelism": 4},
    ]
    for edge in document["query"]["edges"][:2]:
        edge["partitioning"] = {"kind": "hash", "key": edge["partitioning"]["key"]}
    document["query"]["edges"][2:] = [
        {"source": "join", "target": "all", "target_port": "left", "partitioning": {"kind": "hash", "key": "id"}},
        {"source": "bids", "target": "all", "target_port": "right", "partitioning": {"kind": "hash", "key": "bidder"}},
        {"source": "all", "target": "sink", "partitioning": {"kind": "forward"}},
    ]
    document["workload"]["sources"]["bids"] = {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 6000}}
    case = Case(spark, tmp_path, out_of_order(document))
    views(case, "persons", "auctions", "bids")
    persons, auctions, bids = (paned(name, "event_ns", 400, 100) for name in ("persons", "auctions", "bids"))
    case.assert_equal(
        f"""SELECT p.id, a.id AS right_id, b.price, p.pane + 400000000 AS window_end
            FROM {persons} p JOIN {auctions} a ON p.id = a.seller AND p.pane = a.pane
            JOIN {bids} b ON p.id = b.bidder AND p.pane = b.pane"""
    )


def test_q7_highest_bids(spark: Any, tmp_path: Path) -> None:
    document = template("nexmark_q7", horizon_s=6.0, drain=True)
    window = {"kind": "tumbling", "size_s": 0.05}
    document = with_params(with_params(document, "highest", window=window), "join", window=window)
    case = Case(spark, tmp_path, document)
    views(case, "bids")
    bids = paned("bids", "event_ns", 50, 50)
    case.assert_equal(
        f"""SELECT auction, bidder, price, pane + 50000000 AS window_end
            FROM (SELECT *, MAX(price) OVER (PARTITION BY pane) AS highest FROM {bids}) WHERE price = highest"""
    )


CLOSED = """SELECT a.id, a.{by}, MAX(b.price) AS price
            FROM auctions a JOIN bids b ON a.id = b.auction AND b.event_ns BETWEEN a.event_ns AND a.expires GROUP BY a.id, a.{by}"""
OWNERS = "SELECT trigger, auction AS id FROM bids UNION ALL SELECT trigger, id FROM auctions"


@pytest.mark.parametrize(
    ("name", "by", "rows"), [("nexmark_q4", "category", ""), ("nexmark_q6", "seller", "ROWS BETWEEN 9 PRECEDING AND CURRENT ROW")]
)
def test_q4_and_q6_closing_prices(spark: Any, tmp_path: Path, name: str, by: str, rows: str) -> None:
    """Averages so far, and of a seller's last ten: in the order in which the closed auctions were served, everything else is Spark's."""
    document = template(name, horizon_s=20.0, drain=True)
    case = Case(spark, tmp_path, document)
    views(case, "auctions", "bids")
    case.view("served", case.served_at("average"))
    over = f"OVER (PARTITION BY {by} ORDER BY served_ns {rows or 'ROWS UNBOUNDED PRECEDING'})"
    average = f"CAST(SUM(price) {over} AS DOUBLE) / CAST(COUNT(*) {over} AS DOUBLE) AS average"
    more = f", COUNT(*) {over} AS auctions" if name == "nexmark_q4" else ""
    case.assert_equal(
        f"""SELECT {by}, {average}{more}
            FROM ({CLOSED.format(by=by)}) JOIN (SELECT id, served_ns FROM served JOIN ({OWNERS}) USING (trigger)) USING (id)"""
    )


def test_files_meet_at_the_times_that_stand_in_them(spark: Any, tmp_path: Path) -> None:
    """Spark reads the files themselves, which begin ten seconds apart, so nothing of the engine decides which records meet."""
    write(tmp_path, "early", [n / 7 for n in range(1000)])
    write(tmp_path, "late", [10 + n / 7 for n in range(0, 2000, 2)])
    found = traced(joined(stream("early"), stream("late")), datasets=lookup([tmp_path])).outputs("sink")
    for name in ("early", "late"):
        path = str(tmp_path / f"{name} for Spark.parquet")
        parquet.write_table(pa.table({"time": times(tmp_path, name), "number": list(range(1000))}), path)
        spark.read.parquet(path).createOrReplaceTempView(name)
    rows = spark.sql("SELECT e.time, e.number, l.time AS right_time, l.number AS right_number FROM early e JOIN late l ON e.time = l.time")
    rows.write.mode("overwrite").parquet(str(tmp_path / "result"))
    expected = parquet.read_table(str(tmp_path / "result"))
    assert expected.num_rows > 100
    since_1970 = {name: compute.add(found[name], NOON_NS) if "time" in name else found[name] for name in expected.column_names}
    assert_same_multiset(expected, pa.table(since_1970))
