"""`manage.py predict --paced`. Catches: records of one micro-batch counted to another; a latency that begins before the record is there;
records of the settling time; files that appear too early, or not in their order."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest
from django.core.management import call_command

import engine
from engine.export import write
from engine.export.calibration import Calibration
from engine.spec.rules.validation import Context, load
from engine.workloads import Strings, build_feed
from workers.spark import calibrating, pacing
from workers.spark.pacing import SLICE_NS, Arrival, Batch, latency
from workers.spark.predicting import NotPredicted
from workers.spark.session import SESSION
from workers.spark.streaming import drained

from ..support.agreement import template
from ..support.calibrated import MACHINE

HORIZON_S = 6.0


def test_each_record_is_as_late_as_its_micro_batch_makes_it() -> None:
    """Two sources; the second slice of the first one is read by two micro-batches."""
    arrivals = {"a": [Arrival(3.1, 10), Arrival(3.2, 20)], "b": [Arrival(1.0, 1000), Arrival(3.0, 5)]}
    batches = [Batch(100, 3.25, {"a": 15, "b": 1000}), Batch(400, 3.6, {"a": 15, "b": 5}), Batch(50, 9.9, {"a": 1, "b": 1})]
    found = latency(batches, arrivals, HORIZON_S)
    ms = sorted([150.0] * 10 + [50.0] * 5 + [400.0] * 15 + [600.0] * 5)  # b's first slice is in the settling time
    assert (found.records, found.batches, found.batch_ms) == (35, 2, 250)
    assert (found.p50_ms, found.p95_ms, found.p99_ms) == pytest.approx((ms[17], ms[33], ms[34]))
    assert found.late_s == pytest.approx(0.4)
    with pytest.raises(NotPredicted, match="no records come in the last two thirds of 6 s"):
        latency(batches, {"b": arrivals["b"][:1]}, HORIZON_S)


def test_files_have_what_came_in_their_slices(tmp_path: Path) -> None:
    context = Context()
    whole = drained(load(template("nexmark_q3", horizon_s=0.5, warmup_s=0), context), context)
    write(whole, tmp_path / "query", context, slice_ns=SLICE_NS)
    for n, source in enumerate(("persons", "auctions")):
        append_ns = build_feed(whole, source, n, Strings(), context.datasets).chunk(0, 1 << 62).append_ns
        *files, end = sorted((tmp_path / "query" / "input" / source).iterdir())
        rows = {int(file.stem): parquet.read_metadata(file).num_rows for file in files}
        numbers, counts = np.unique(append_ns // SLICE_NS, return_counts=True)
        assert rows == dict(zip(numbers.tolist(), counts.tolist(), strict=True))
        assert (int(end.stem), parquet.read_metadata(end).num_rows) == (max(rows) + 1, 1)
        modified = [file.stat().st_mtime_ns for file in (*files, end)]
        assert all(before < after for before, after in pairwise(modified))


def test_the_model_is_late_by_its_overheads(tmp_path: Path) -> None:
    """Micro-batches follow one another: a record waits for the end of one and the whole of the next, at most."""
    context = Context()
    query = load(template("nexmark_q1", horizon_s=HORIZON_S, warmup_s=0), context)
    found = pacing.predict(query, context, MACHINE, lambda _: None)
    overheads_ms = 100 + 20 + 80
    assert overheads_ms < found.batch_ms < 1.5 * overheads_ms
    assert found.batch_ms - SLICE_NS / 1e6 < found.p50_ms < 2 * found.batch_ms
    assert found.p50_ms < found.p95_ms <= found.p99_ms <= 2.5 * found.batch_ms
    assert found.records == pytest.approx(2 / 3 * HORIZON_S * 20_000, rel=0.05)
    slow = Calibration(**{**vars(MACHINE), "prices_us": {kind: {**price, "record_us": 80.0} for kind, price in MACHINE.prices_us.items()}})
    assert pacing.predict(query, context, slow, lambda _: None).late_s > pacing.LATE_S, "it cannot keep up"


@pytest.mark.spark
@pytest.mark.slow
def test_spark_reads_at_the_pace_of_the_logs(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SESSION, "close", lambda: None)  # other tests go on with it
    monkeypatch.setattr(calibrating, "warm_up", lambda *_: None)
    MACHINE.write(tmp_path / "calibration.json")
    document = template("nexmark_q3", horizon_s=HORIZON_S, warmup_s=0)
    for source in document["workload"]["sources"].values():
        source["rate"] = {"kind": "constant", "per_s": 1000}
    (tmp_path / "query.yaml").write_text(json.dumps(document))
    call_command("predict", str(tmp_path / "query.yaml"), "--paced", "--calibration", str(tmp_path / "calibration.json"), "--json")
    found = json.loads(capsys.readouterr().out)
    measured, simulation = found["measured"], engine.Simulation(document)
    simulation.run_until(simulation.end_ns)
    assert measured["records"] == pytest.approx(2 / 3 * simulation.summary()["records_in"], rel=0.06)
    assert 0 < measured["p50_ms"] <= measured["p95_ms"] <= measured["p99_ms"]
    assert measured["batches"] >= 1
    assert found["ratios"]["p50_ms"] == pytest.approx(found["predicted"]["p50_ms"] / measured["p50_ms"], abs=0.01)
    assert any("the calibration is of another machine: 2 cores" in sentence for sentence in found["said"])
