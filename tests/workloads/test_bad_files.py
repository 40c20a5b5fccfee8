"""What is wrong with the files that rates and delays come from is found before the run, and the problem leads to the very field."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from engine.spec import Context, validate
from engine.workloads import lookup, preview

from .documents import DATA, experiment

SOURCE = "/workload/sources/source"
RATE = {"kind": "file", "dataset": "trace", "time": "t", "rate": "r"}
DELAY = {"kind": "file", "dataset": "trace", "column": "ms"}
GOOD = {"t": [0, 1, 2], "r": [5.0, 0.0, 7.0], "ms": [1.0, 2.0, 3.0]}

CASES = {
    "decreasing times": ({"t": [0, 2, 1]}, {}, f"{SOURCE}/rate/time", "bad_trace", ["'t'", "has 1 in row 3", "sort the file"]),
    "a time twice": ({"t": [0, 1, 1]}, {}, f"{SOURCE}/rate/time", "bad_trace", ["'t'", "has 1 in row 3", "one row per time"]),
    "a time before the start": ({"t": [-1, 1, 2]}, {}, f"{SOURCE}/rate/time", "bad_trace", ["'t'", "has -1 in row 1", "from 0 to 1e+08 s"]),
    "a gap in the rates": (
        {"r": [5.0, None, 7.0]},
        {"disorder": {"kind": "none"}},
        f"{SOURCE}/rate/dataset",
        "bad_file",
        ["data set 'trace'", "'r'", "no value in 1 of 3 rows, first in row 2", "fill them in or remove these rows"],
    ),
    "a rate that is no number": (
        {"r": [5.0, float("nan"), 7.0]},
        {"disorder": {"kind": "none"}},
        f"{SOURCE}/rate/dataset",
        "bad_file",
        ["'r'", "nan in row 2", "only finite numbers"],
    ),
    "a gap in the delays": (
        {"ms": [1.0, None, 3.0]},
        {"rate": {"kind": "constant", "per_s": 10}},
        f"{SOURCE}/disorder/dataset",
        "bad_file",
        ["'ms'", "first in row 2", "fill them in"],
    ),
    "a gap in what is replayed": (
        {"ms": [1.0, None, 3.0]},
        {
            "stream": {"kind": "file", "dataset": "trace", "timestamp": "t"},
            "rate": {"kind": "constant", "per_s": 10},
            "disorder": {"kind": "none"},
        },
        f"{SOURCE}/stream/dataset",
        "bad_file",
        ["'ms'", "first in row 2", "fill them in"],
    ),
    "negative rate": ({"r": [5.0, -1.0, 7.0]}, {}, f"{SOURCE}/rate/rate", "bad_trace", ["'r'", "has -1.0 in row 2", "from 0 to 1e+09"]),
    "no such column": ({}, {"rate": {**RATE, "rate": "rr"}}, f"{SOURCE}/rate/rate", "unknown_field", ["no column 'rr'"]),
    "negative delay": ({"ms": [1.0, 2.0, -3.0]}, {}, f"{SOURCE}/disorder/column", "bad_trace", ["'ms'", "has -3.0 in row 3"]),
    "delays of texts": ({"ms": ["a", "b", "c"]}, {}, f"{SOURCE}/disorder/column", "type_mismatch", ["'ms'", "column of numbers"]),
    "zero rate everywhere": ({"r": [0, 0, 0]}, {}, f"{SOURCE}/rate", "no_records", ["no source has a record", "above 0"]),
}


def document(changes: dict) -> dict:
    source = {"stream": {"kind": "nexmark_bid"}, "rate": RATE, "disorder": DELAY} | changes
    written = experiment(source, horizon_s=10.0).model_dump(mode="json", by_alias=True)
    written["query"]["operators"].append({"id": "sink", "kind": "sink"})
    written["query"]["edges"].append({"source": "source", "target": "sink", "partitioning": {"kind": "rebalance"}})
    return written


@pytest.mark.parametrize("name", CASES)
def test_a_bad_file_is_found_before_the_run(tmp_path, name):
    columns, changes, pointer, code, words = CASES[name]
    parquet.write_table(pa.table(GOOD | columns), tmp_path / "trace.parquet")
    problems = validate(document(changes), Context(datasets=lookup([tmp_path])))
    assert [(problem.pointer, problem.code) for problem in problems] == [(pointer, code)], problems
    assert [word for word in words if word not in problems[0].message] == [], problems[0].message


def test_a_good_file_is_counted_for_the_budget_and_shown(tmp_path):
    parquet.write_table(pa.table(GOOD), tmp_path / "trace.parquet")
    assert validate(document({}), Context(datasets=lookup([tmp_path]))) == []
    source = experiment({"stream": {"kind": "nexmark_bid"}, "rate": RATE}).workload.sources["source"]
    shown = preview(source, 4 * 10**9, 4, lookup([tmp_path]))
    assert shown == [(0.5, 5.0), (1.5, 0.0), (2.5, 7.0), (3.5, 7.0)]
    parquet.write_table(pa.table(GOOD | {"r": [5.0, 0.0, 1e9]}), tmp_path / "trace.parquet")
    [problem] = validate(document({}), Context(datasets=lookup([tmp_path])))
    assert (problem.pointer, problem.code) == ("/workload/horizon_s", "budget")
    assert "8,000,000,005 records" in problem.message


def test_the_preview_of_recorded_times_counts_the_files_records():
    stream = {"kind": "file", "dataset": "flights", "timestamp": "time"}
    source = experiment({"stream": stream, "rate": {"kind": "recorded", "speed": 20_500.0}}).workload.sources["source"]
    shown = preview(source, 30 * 10**9, 10, lookup([DATA]))
    assert sum(per_s for _, per_s in shown) * 3 == pytest.approx(113_493, abs=1)
    constant = experiment({"stream": stream, "rate": {"kind": "constant", "per_s": 50_000.0}}).workload.sources["source"]
    assert [round(per_s) for _, per_s in preview(constant, 4 * 10**9, 4, lookup([DATA]))] == [50_000, 50_000, 13_493, 0]
