"""A query written as a program of PySpark gives the engine's records, from the same input as streams cut into micro-batches."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from engine.export import difference, records_by_batch, write
from engine.spec.rules.validation import Context

from ...support.agreement import DATASETS, template, traced, with_params
from ...support.beside_spark import out_of_order
from ...support.tiers import only
from .test_spark_windows import AGGREGATES

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def program(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("query", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def streamed(spark: Any, directory: Path) -> dict[str, pa.Table]:
    """The records of each sink, made by the program's own streams in this session."""
    module = program(directory / "query.py")
    before = {name: spark.conf.get(name, None) for name in module.settings()}
    for name, value in module.settings().items():
        spark.conf.set(name, value)
    try:
        started = {name: module.start(name, records) for name, records in module.queries(spark).items()}
        for query in started.values():
            query.awaitTermination()
    finally:
        for name, value in before.items():
            spark.conf.unset(name) if value is None else spark.conf.set(name, value)
    return {name: written(directory / "output" / name) for name in started}


def written(directory: Path) -> pa.Table:
    return pa.concat_tables([parquet.ParquetFile(path).read() for path in sorted(directory.glob("*.parquet"))])


def assert_same_records(spark: Any, directory: Path, document: dict[str, Any], batches: int = 3) -> None:
    """Floats may differ in their last bits where they are sums: Spark adds in another order."""
    run = traced(document)
    summary = run.summary()
    assert summary["drained"]
    assert summary["late"] == 0
    write(run.experiment, directory / "program", Context(datasets=DATASETS), batches=batches, partitions=2)
    for sink, theirs in streamed(spark, directory / "program").items():
        ours = run.outputs(sink)
        ours = ours.select([name for name in ours.column_names if not name.startswith("_")])
        assert theirs.column_names == ours.column_names
        assert ours.num_rows > 0
        sums = any(operator.kind.endswith("aggregate") for operator in run.experiment.query.operators)
        floats = [field.name for field in ours.schema if sums and pa.types.is_floating(field.type)]
        found = difference(ours, theirs, floats)
        assert found.equal, found
        assert found.of_model == found.of_spark


def short(name: str, horizon_s: float) -> dict[str, Any]:
    document = template(name, horizon_s=horizon_s, drain=True)
    for source in document["workload"]["sources"].values():
        if source.get("watermarks", {}).get("kind") == "bounded":
            source["watermarks"]["lag_ms"] = 2000 if name != "flights" else 1e8
    return document


EXAMPLES = {
    "nexmark_q1": 1.0,
    "nexmark_q2": 1.0,
    "nexmark_q3": 2.0,
    "nexmark_q5": 6.0,
    "nexmark_q7": 6.0,
    "advertisement": 2.0,
    "yahoo": 3.0,
    "taxi_rides": 5.0,
    "smart_grid_local": 5.0,
    "flights": 5.0,
}


@pytest.mark.parametrize("name", only(list(EXAMPLES), ci=["nexmark_q2"]))
def test_an_example_gives_the_same_records(spark: Any, tmp_path: Path, name: str) -> None:
    assert_same_records(spark, tmp_path, short(name, EXAMPLES[name]))


WINDOWED = {
    "sliding windows": ("aggregate", {"window": {"kind": "sliding", "size_s": 0.5, "slide_s": 0.2, "origin_s": 0.03}}),
    "sessions": ("session_aggregate", {"gap_s": 0.05}),
}


@pytest.mark.parametrize("name", only(list(WINDOWED), ci=["sessions"]))
def test_windows_of_records_out_of_order(spark: Any, tmp_path: Path, name: str) -> None:
    """A filter before the windows: watermarks come from all records, or the last windows would stay open."""
    kind, params = WINDOWED[name]
    document = with_params(template("nexmark_q12", horizon_s=2.0, drain=True), "count")
    operator = document["query"]["operators"][1]
    operator |= {"kind": kind, "params": params | {"key": "bidder", "aggregates": AGGREGATES, "emit": "on_close"}}
    assert_same_records(spark, tmp_path, out_of_order(document))


JOINED: dict[str, tuple[str, dict[str, Any]]] = {
    "windows": ("window_join", {"window": {"kind": "sliding", "size_s": 0.5, "slide_s": 0.25, "origin_s": 0.1}}),
    "at once": ("join", {"window": {"kind": "tumbling", "size_s": 0.3, "origin_s": 0.1, "clock": "event"}}),
    "intervals": ("interval_join", {"lower_s": -0.05, "upper_s": 0.3}),
}


@pytest.mark.parametrize("name", only(list(JOINED), ci=[]))
def test_joins_out_of_order(spark: Any, tmp_path: Path, name: str) -> None:
    kind, params = JOINED[name]
    document = template("nexmark_q8", horizon_s=2.0, drain=True)
    operator = next(operator for operator in document["query"]["operators"] if operator["id"] == "join")
    keys = {name: operator["params"][name] for name in ("left_key", "right_key")}
    operator |= {"kind": kind, "params": keys | params}
    assert_same_records(spark, tmp_path, out_of_order(document))


@pytest.mark.deep
def test_a_program_that_is_killed_goes_on_in_a_fresh_process(tmp_path: Path) -> None:
    document = with_params(template("nexmark_q12", horizon_s=2.0, drain=True), "count")
    window = {"kind": "tumbling", "size_s": 0.2, "clock": "event"}
    document["query"]["operators"][1]["params"] = {"key": "bidder", "window": window, "emit": "on_close"}
    run = traced(out_of_order(document))
    made = tmp_path / "program"
    write(run.experiment, made, Context(datasets=DATASETS), batches=6, partitions=2)
    command = [sys.executable, str(made / "query.py")]
    with (tmp_path / "log").open("wb") as log:
        first = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        while not (made / "checkpoints" / "sink" / "commits" / "1").exists():  # its second micro-batch
            assert first.poll() is None, (tmp_path / "log").read_text()[-2000:]
            time.sleep(0.05)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    ours = run.outputs("sink")
    assert f"sink {ours.num_rows} records" in done.stdout, done.stderr[-2000:]
    ours = ours.select([name for name in ours.column_names if not name.startswith("_")])
    assert difference(ours, records_by_batch(made, "sink", ours.schema)[0]).equal


def test_checkpoints_of_another_query_are_refused_before_spark_starts(tmp_path: Path) -> None:
    context = Context(datasets=DATASETS)
    for name in ("nexmark_q1", "nexmark_q2"):
        write(traced(template(name, horizon_s=0.01, drain=True)).experiment, tmp_path / name, context)
    began, other = program(tmp_path / "nexmark_q1" / "query.py"), tmp_path / "nexmark_q2"
    began.check_checkpoints()
    (tmp_path / "nexmark_q1" / "checkpoints" / "sink").mkdir()  # as a stream does
    began.check_checkpoints()
    (tmp_path / "nexmark_q1" / "checkpoints").rename(other / "checkpoints")
    ended = subprocess.run([sys.executable, str(other / "query.py")], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1), ended.stderr
    assert ended.stderr.startswith(f"{other / 'checkpoints'} is of another program")
    assert "Remove checkpoints/ and output/ to begin anew" in ended.stderr
