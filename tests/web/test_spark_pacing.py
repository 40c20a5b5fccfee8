"""A real Spark that follows the logs. Catches: files that appear too early, or not in their order; time that goes on in a pause, or stands
still while nobody feeds; latencies that are not those of the records; a model whose latencies have nothing to do with its overheads."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from launcher.services import Service

from engine.export.calibration import Calibration
from engine.spec.rules.validation import Context, load
from webapp.lab import calibrations
from webapp.lab.models import Experiment, Lab, RunState, SparkRun
from workers import caretaker
from workers.spark import calibrating, pacing, predicting
from workers.spark.pacing import Pace
from workers.spark.session import SESSION

from ..support.agreement import template
from ..support.calibrated import MACHINE
from .conftest import new_experiment, wait_for
from .test_spark_runs import executed, post, windowed


@pytest.fixture
def coming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program's directory, with ten slices of 50 ms."""
    monkeypatch.setattr(pacing, "SLICE_NS", 50_000_000)
    for source in ("a", "b"):
        (tmp_path / "input" / source).mkdir(parents=True)
        (tmp_path / "coming" / source).mkdir(parents=True)
        for n in range(10):
            (tmp_path / "coming" / source / f"{n:05d}.parquet").write_text("")
    return tmp_path


def appeared(directory: Path) -> list[str]:
    return sorted(file.name for file in directory.glob("input/a/*"))


def test_a_file_appears_when_its_slice_has_ended(coming: Path) -> None:
    pace = Pace(coming)
    assert not pace.has_ended
    pace.start()
    seen: dict[int, float] = {}
    while not pace.has_ended:
        there = len(appeared(coming))
        seen.setdefault(there, pace.log_s(time.time()))  # looked at after it was counted, so never too early
    pace.stop()
    assert appeared(coming) == [f"{n:05d}.parquet" for n in range(10)]
    assert len(list(coming.glob("input/b/*"))) == 10
    assert all(at_s >= 0.05 * count for count, at_s in seen.items())


def test_time_goes_on_while_nobody_feeds_and_stands_still_in_a_pause(coming: Path) -> None:
    first = Pace(coming)
    first.start()
    wait_for(lambda: len(appeared(coming)) >= 2, "two files")
    first.stop()  # as a worker that dies
    known = len(appeared(coming))
    began_s = json.loads((coming / "pace.json").read_text())["began"][0][0]
    second = Pace(coming)
    wait_for(lambda: time.time() > began_s + 0.05 * (known + 3), "more slices to end")
    second.start()
    wait_for(lambda: len(appeared(coming)) >= known + 3, "what came meanwhile")
    assert second.log_s(began_s + 0.2) == pytest.approx(0.2), "one clock"
    second.stop()
    second.pause()
    paused_s = json.loads((coming / "pace.json").read_text())["paused_s"]
    stopped_s = time.time()
    wait_for(lambda: time.time() > stopped_s + 0.3, "a while to pass")
    third = Pace(coming)
    third.start()
    unix_s, log_s = json.loads((coming / "pace.json").read_text())["began"][-1]
    assert (log_s, unix_s > stopped_s + 0.3) == (paused_s, True)
    assert third.log_s(began_s + 0.2) == pytest.approx(0.2), "what was before the pause stays where it was"
    wait_for(lambda: third.has_ended, "the last file")
    third.stop()


def test_it_begins_with_a_multiple_of_the_trigger_interval(coming: Path) -> None:
    pace = Pace(coming, trigger_ms=400)
    pace.start()
    (((unix_s, log_s),),) = (json.loads((coming / "pace.json").read_text())["began"],)
    assert (round(unix_s * 1000) % 400, log_s) == (0, 0)
    assert pace.log_s(unix_s - 0.1) == 0, "before it has begun"
    assert pace.interval == "400 milliseconds"
    pace.stop()


def test_all_is_read_once_a_committed_micro_batch_has_the_last_file_of_each_stream(coming: Path) -> None:
    pace = Pace(coming)
    checkpoint = coming / "checkpoints" / "sink"

    def took(stream: int, batch: int, file: int) -> None:
        path = checkpoint / "sources" / str(stream) / str(batch)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("v1\n" + json.dumps({"path": f"file:///{file:05d}.parquet", "batchId": batch}))

    (checkpoint / "commits").mkdir(parents=True)
    assert not pace.is_read("sink")
    took(0, 3, 9)
    took(1, 2, 8)
    (checkpoint / "commits" / "3").write_text("v1")
    assert not pace.is_read("sink"), "the second stream has not"
    took(1, 4, 9)
    assert not pace.is_read("sink"), "not committed"
    (checkpoint / "commits" / "4").write_text("v1")
    assert pace.is_read("sink")


@pytest.mark.parametrize("trigger_ms", [0, 1000])
def test_the_model_is_late_by_its_overheads(trigger_ms: int) -> None:
    """A record waits for the end of a micro-batch and the whole of the next, at most; with an interval for the next trigger."""
    context = Context()
    query = load(template("nexmark_q1", horizon_s=6.0, warmup_s=2.0), context)
    speed, found = predicting.predict_paced(query, context, MACHINE, lambda _: None, trigger_ms)
    overheads_ms = 100 + 20 + 80
    assert overheads_ms < speed.batch_ms < 2 * overheads_ms
    longest_ms = speed.high_ms + max(trigger_ms, speed.high_ms)
    assert found["results"] > 0
    assert overheads_ms < found["p50_ms"] <= found["p95_ms"] <= found["p99_ms"] <= 1.2 * longest_ms  # type: ignore[operator]
    assert found["p50_ms"] == pytest.approx(overheads_ms + max(trigger_ms, overheads_ms) / 2, rel=0.3)
    slow = Calibration(**{**vars(MACHINE), "prices_us": {kind: {**price, "record_us": 200.0} for kind, price in MACHINE.prices_us.items()}})
    overloaded = predicting.predict_paced(query, context, slow, lambda _: None, trigger_ms)[1]
    assert overloaded["p50_ms"] is None or overloaded["p50_ms"] > 2 * found["p50_ms"], "it cannot keep up"  # type: ignore[operator]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("working_here")
def test_what_cannot_be_paced_is_refused_at_its_field(client: Client, experiment: Experiment) -> None:
    run = executed(client, experiment)
    of_run = f"/api/runs/{run.pk}/spark"
    for body, at, words in (
        ({"trigger_ms": 500}, "/trigger_ms", "trigger_ms is for paced input; set paced, or leave it out"),
        ({"paced": True, "trigger_ms": 60_001}, "/trigger_ms", "less than or equal to 60000"),
    ):
        (problem,) = post(client, of_run, 422, **body)["problems"]
        assert (problem["pointer"], words in problem["message"]) == (at, True), problem
    run.document["workload"]["horizon_s"] = 901
    type(run).objects.filter(pk=run.pk).update(document=run.document)
    (problem,) = post(client, of_run, 422, paced=True)["problems"]
    assert problem["pointer"] == "/paced"
    assert problem["message"].endswith("takes 901 s, and so would Spark; at most 900 s are followed: shorten the run")


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.one_database
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("working_here")
def test_latencies_are_measured_on_equal_records(client: Client, lab: Lab, start_analysis: Callable[..., Service]) -> None:
    """Of windows of a second with a lag of two: a result is later than its newest record by at least the lag."""
    MACHINE.write(calibrations.file())
    document = windowed(horizon_s=12.0)
    for operator in document["query"]["operators"]:
        if operator["kind"] == "aggregate":
            operator["params"]["window"]["size_s"] = 1.0
    run = executed(client, new_experiment(lab, document))
    start_analysis()
    path = f"/api/runs/{run.pk}/spark"
    path += "/" + post(client, path, 201, paced=True, trigger_ms=500)["id"]

    def ended() -> SparkRun | None:
        caretaker.sweep()
        return SparkRun.objects.exclude(state__in=("queued", "running")).first()

    row = wait_for(ended, "the comparison")
    assert (row.state, row.error, row.comparison["equal"]) == (RunState.SUCCEEDED, "", True)
    detail = client.get(path).json()
    assert (detail["paced"], detail["trigger_ms"]) == (True, 500)
    measured, predicted = detail["comparison"]["latency"]["sink"], detail["prediction"]["latency"]
    assert 0 < measured["results"] < detail["comparison"]["sinks"]["sink"]["of_spark"], "the last windows end with the logs"
    assert 2000 < measured["p50_ms"] <= measured["p95_ms"] <= measured["p99_ms"] < 12_000
    assert 2000 < predicted["p50_ms"] < 4500
    assert all(0 < point["t_s"] <= 12 for point in measured["points"])
    assert sorted(batch["batch"] for batch in detail["micro_batches"]) == list(range(row.batches)), "none is missing or twice"


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.deep
def test_a_prediction_of_latencies_and_what_came_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A join: each pair is as late as the later of its two records."""
    monkeypatch.setattr(SESSION, "close", lambda: None)  # other tests go on with it
    monkeypatch.setattr(calibrating, "warm_up", lambda *_: None)
    MACHINE.write(tmp_path / "calibration.json")
    document = template("nexmark_q3", horizon_s=10.0, warmup_s=4.0)
    for source in document["workload"]["sources"].values():
        source["rate"] = {"kind": "constant", "per_s": 1000}
    (tmp_path / "query.yaml").write_text(json.dumps(document))
    call_command("predict", str(tmp_path / "query.yaml"), "--paced", "--calibration", str(tmp_path / "calibration.json"), "--json")
    found = json.loads(capsys.readouterr().out)
    measured, predicted = found["measured"], found["predicted"]
    assert measured["results"] == pytest.approx(predicted["results"], rel=0.5)
    assert 0 < measured["p50_ms"] <= measured["p95_ms"] <= measured["p99_ms"] < 10_000
    assert found["ratios"]["p50_ms"] == pytest.approx(predicted["p50_ms"] / measured["p50_ms"], abs=0.01)
    assert any("the calibration is of another machine: 2 cores" in sentence for sentence in found["said"])
    assert np.isfinite(found["ratios"]["batch_ms"])
