"""Dates of timestamps: of uploaded files they are those of the file, wherever the records go; what is not known is refused."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.parquet as parquet
import pytest

import engine
from engine.spec import Context, validate
from engine.workloads import lookup

from ...support.agreement import DATASETS, ROOT, assert_agreement, template, traced

FLIGHTS = ROOT / "fixtures" / "data" / "flights.parquet"
DATES = {name: f"{name}(time)" for name in ("year", "month", "day", "weekday", "hour", "minute", "second")}


def flights(*operators: dict[str, Any], seconds: float = 1.0) -> dict[str, Any]:
    """The flights, through these operators in a row."""
    document = template("flights", horizon_s=seconds, drain=True)
    source = {"id": "flights", "kind": "source", "parallelism": 2}
    chain = [source, *operators, {"id": "sink", "kind": "sink"}]
    edges = [{"source": a["id"], "target": b["id"], "partitioning": {"kind": "rebalance"}} for a, b in itertools.pairwise(chain)]
    document["query"] = {"operators": chain, "edges": edges}
    return document


def computed(**fields: str) -> dict[str, Any]:
    return {"id": "dates", "kind": "map", "params": {"fields": [{"name": name, "expression": text} for name, text in fields.items()]}}


def test_dates_of_a_file_are_its_own() -> None:
    found = traced(flights(computed(time="time", **DATES), seconds=10)).outputs("sink")
    first = compute.min(parquet.read_table(FLIGHTS)["time"].cast(pa.int64())).as_py()
    times = compute.add(found["time"], first).cast(pa.timestamp("ns"))
    assert len(found) > 3000
    assert len(set(found["hour"].to_pylist())) > 5
    for name in DATES:
        expected = compute.day_of_week(times, count_from_zero=False) if name == "weekday" else getattr(compute, name)(times)
        assert found[name].to_pylist() == expected.to_pylist(), name


def test_dates_go_with_the_records() -> None:
    """Through a filter, a projection under another name, a map that moves them, and as ends of windows."""
    operators = (
        {"id": "morning", "kind": "filter", "params": {"predicate": "hour(time) < 12"}},
        {
            "id": "renamed",
            "kind": "project",
            "params": {"fields": [{"field": "time", "name": "left"}, {"field": "delay"}, {"field": "origin"}]},
        },
        {
            "id": "moved",
            "kind": "map",
            "params": {
                "fields": [
                    {"name": "later", "expression": "max(left, left + minutes(30)) if delay > 0 else left - minutes(30)"},
                    {"name": "origin", "expression": "origin"},
                ]
            },
        },
        {
            "id": "windows",
            "kind": "aggregate",
            "params": {
                "key": "origin",
                "window": {"kind": "tumbling", "size_s": 3600, "clock": "event"},
                "aggregates": [{"name": "last", "function": "max", "field": "later"}],
                "emit": "on_update",
            },
        },
        computed(opened="hour(window_start)", latest="hour(last) * 60 + minute(last)"),
    )
    document = flights(*operators, seconds=0.5)
    result = assert_agreement(document)
    assert len(result.outputs["sink"]) > 100


def problems(document: dict[str, Any], datasets: Any = DATASETS) -> list[tuple[str, str]]:
    return [(problem.code, problem.message) for problem in validate(document, Context(datasets=datasets))]


def test_where_the_date_is_not_known_it_is_refused(tmp_path: Path) -> None:
    window = {"kind": "tumbling", "size_s": 1, "clock": "processing"}
    count = {"key": "origin", "window": window, "aggregates": [{"name": "n", "function": "count"}], "emit": "on_update"}
    [(code, message)] = problems(flights({"id": "count", "kind": "aggregate", "params": count}, computed(hour="hour(window_start)")))
    assert code == "no_date"
    assert "hour() needs a date, but the date of 'window_start' is not known here" in message

    table = parquet.read_table(FLIGHTS)
    next_day = table.set_column(0, "time", compute.add(table["time"].cast(pa.int64()), 86_400 * 10**9).cast(pa.timestamp("ns")))
    for name, content in (("flights", table), ("later", next_day)):
        parquet.write_table(content.slice(0, 1000), tmp_path / f"{name}.parquet")
    document = flights(computed(day="day(time)"), seconds=10)
    source = document["workload"]["sources"]["flights"]
    source["stream"]["columns"] = ["time"]
    only_time = {"id": "times", "kind": "project", "params": {"fields": [{"field": "time"}]}}
    document["query"]["operators"] += [{"id": "others", "kind": "source", "parallelism": 2}, only_time]
    rebalance = {"kind": "rebalance"}
    document["query"]["edges"] += [
        {"source": a, "target": b, "partitioning": rebalance} for a, b in (("others", "times"), ("times", "dates"))
    ]
    generated = {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 10}}
    later = source | {"stream": source["stream"] | {"dataset": "later"}}
    for others, codes in ((source, []), (later, []), (generated, ["no_date"])):  # files have one zero, a generated stream has its own
        document["workload"]["sources"]["others"] = others
        assert [code for code, _ in problems(document, lookup([tmp_path]))] == codes


@pytest.mark.parametrize("text", ["hour(timestamp(delay))", "day(time + days(1))", "year(min(time, time - hours(1)))"])
def test_dates_that_are_computed(text: str) -> None:
    assert problems(flights(computed(date=text))) == []
    found = engine.run(flights(computed(date=text), seconds=0.05), datasets=DATASETS, keep_outputs=True).outputs("sink")
    assert len(found) > 10
