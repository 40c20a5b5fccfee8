"""How late results of a real Spark are. Catches: results of the warm-up, or that only the end of the logs releases, among those that count;
a record taken for its equal of another micro-batch; files that Spark's collected logs repeat."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from engine.export import began_and_committed, files_read, latency_of, records_by_batch, write
from engine.spec.rules.validation import Context, load
from engine.workloads import Strings, build_feed

from ...support.agreement import template

SECOND_NS, MS_NS = 10**9, 10**6


def test_what_counts_came_behind_the_warm_up_and_before_the_logs_ended() -> None:
    ended_s = np.array([1.0, 2.5, 3.0, 3.5, 9.0, 10.0, 10.5])
    late_ms = np.array([900, 100, 300, 200, 400, 500, 9000])
    ended_ns = (ended_s * SECOND_NS).astype(np.int64)
    found = latency_of(ended_ns - late_ms * MS_NS, ended_ns, 2 * SECOND_NS, 10 * SECOND_NS)
    assert (found["results"], found["p50_ms"], found["p95_ms"], found["p99_ms"]) == (5, 300, 500, 500)
    assert [(point["t_s"], point["p50_ms"], point["p99_ms"]) for point in found["points"]] == [
        (1, 900, 900),
        (3, 300, 300),
        (4, 200, 200),
        (9, 400, 400),
        (10, 500, 500),
    ]


def test_without_a_result_that_counts_there_is_no_latency() -> None:
    none = np.zeros(0, np.int64)
    assert latency_of(none, none, 0, SECOND_NS) == {"results": 0, "p50_ms": None, "p95_ms": None, "p99_ms": None, "points": []}


def test_long_logs_have_points_of_more_than_a_second() -> None:
    ended_ns = np.arange(1, 901, dtype=np.int64) * SECOND_NS
    found = latency_of(ended_ns - MS_NS, ended_ns, 0, 900 * SECOND_NS)
    assert (len(found["points"]), found["points"][0]["t_s"], found["points"][-1]["t_s"]) == (300, 3, 900)


def test_equal_records_belong_together_in_their_order() -> None:
    """Sums differ in their last bits, and Spark wrote the records in another order."""
    ours = pa.table({
        "word": ["b", "a", "a", None],
        "sum": [0.1 + 0.2, 1.0, 1.0, 5.0],
        "_end_ns": pa.array([50, 70, 60, 80], pa.int64()),
        "_latency_ns": pa.array([10, 20, 30, 0], pa.int64()),
    })  # fmt: skip
    theirs = pa.table({"word": ["a", None, "a", "b"], "sum": [1.0, 5.0, 1.0, 0.3]})
    began, committed = began_and_committed(ours, theirs, np.array([4, 2, 3, 2]), {2: 200, 3: 300, 4: 400}, ["sum"])
    assert list(zip(began.tolist(), committed.tolist(), strict=True)) == [(30, 300), (50, 400), (40, 200), (80, 200)]


def spark_log(path: Path, entries: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["v1", *map(json.dumps, entries)]))


def test_each_record_has_the_micro_batch_that_wrote_it(tmp_path: Path) -> None:
    """The third log is a collected one, which repeats those before it. A file that is in no log is of a micro-batch that was killed."""
    output, schema = tmp_path / "output" / "sink", pa.schema({"n": pa.int64()})
    for n in range(4):
        output.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.table({"n": pa.array([n, n], pa.int64())}), output / f"part-{n}.parquet")
    entries = [{"path": f"file:///anywhere/part-{n}.parquet"} for n in range(3)]
    log = output / "_spark_metadata"
    spark_log(log / "0", entries[:1])
    spark_log(log / "1", [])
    spark_log(log / "2.compact", entries[:2])
    spark_log(log / "10", entries[2:])
    table, batches = records_by_batch(tmp_path, "sink", schema)
    assert list(zip(table["n"].to_pylist(), batches.tolist(), strict=True)) == [(0, 0), (0, 0), (1, 2), (1, 2), (2, 10), (2, 10)]


def test_files_are_read_by_the_micro_batch_that_took_them(tmp_path: Path) -> None:
    entries = [{"path": f"file:///x/{n:05d}.parquet", "batchId": n // 2} for n in range(6)]
    spark_log(tmp_path / "sources" / "0" / "1.compact", entries[:4])
    spark_log(tmp_path / "sources" / "0" / "2", entries[4:])
    spark_log(tmp_path / "sources" / "1" / "0", entries[:1])
    found = files_read(tmp_path)
    assert found[0] == {f"{n:05d}.parquet": n // 2 for n in range(6)}
    assert found[1] == {"00000.parquet": 0}


def test_slices_have_what_the_log_got_in_their_time(tmp_path: Path) -> None:
    context, slice_ns = Context(), 100 * MS_NS
    experiment = load(template("nexmark_q3", horizon_s=0.75, warmup_s=0, drain=True), context)
    write(experiment, tmp_path / "query", context, slice_ns=slice_ns)
    for n, source in enumerate(("persons", "auctions")):
        feed = build_feed(experiment, source, n, Strings(), context.datasets).chunk(0, 1 << 62)
        *files, end = sorted((tmp_path / "query" / "coming" / source).iterdir())
        rows = {int(file.stem): parquet.read_metadata(file).num_rows for file in files}
        numbers, counts = np.unique(feed.append_ns // slice_ns, return_counts=True)
        assert rows == dict(zip(numbers.tolist(), counts.tolist(), strict=True))
        assert np.array_equal(np.concatenate([parquet.read_table(file)["_event_ns"].to_numpy() for file in files]), feed.event_ns)
        assert (int(end.stem), parquet.read_metadata(end).num_rows) == (8, 1), "both streams end together, once the logs have"
        times_s = [file.stat().st_mtime for file in (*files, end)]
        assert times_s == pytest.approx([times_s[0] + int(file.stem) - int(files[0].stem) for file in (*files, end)])
        assert list((tmp_path / "query" / "input" / source).iterdir()) == []
