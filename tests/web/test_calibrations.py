"""Calibrating the machine from a page. Catches: a machine that others keep busy, measured without a word; a calibration that a cancelled or
failed one has replaced; two at a time; a file of something else that stops the page."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from engine.export.calibration import Calibration, read
from engine.spec.rules.validation import Context, load
from webapp.lab import calibrations
from webapp.lab.models import CalibrationJob, Lab, RunState
from webapp.lib.redis_connection import connection
from workers.spark import calibrating, predicting
from workers.spark import calibrations as work
from workers.spark.predicting import came_true, outlook
from workers.spark.session import Session

from ..support.agreement import template
from ..support.calibrated import MACHINE

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("working_here")]
PATH = "/api/spark/calibration"


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "calibration.json"
    monkeypatch.setattr(calibrations, "file", lambda: path)
    monkeypatch.setattr(calibrating, "LOOK_S", 0.0)
    monkeypatch.delenv("SPARK_MASTER", raising=False)
    return path


def post(client: Client, path: str, status: int, **body: Any) -> dict[str, Any]:
    answer = client.post(path, json.dumps(body), content_type="application/json")
    assert answer.status_code == status, answer.content
    said: dict[str, Any] = answer.json()
    return said


def test_it_waits_for_an_analysis_worker_and_is_cancelled(client: Client, lab: Lab) -> None:
    assert client.get(PATH).json() == {"machine": None, "problem": None, "job": None}
    connection().flushall()
    said = post(client, PATH, 201)
    assert (said["state"], said["author"], said["though_busy"]) == ("queued", "ada", False)
    assert "no analysis worker" in said["note"]
    assert connection().llen("spark") == 1
    assert post(client, PATH, 200, though_busy=True)["id"] == said["id"], "one at a time"
    assert post(client, f"{PATH}/{said['id']}/cancel", 202)["state"] == "cancelled"
    assert client.get(PATH).json()["job"]["state"] == "cancelled"
    assert post(client, PATH, 422, though_busy="yes")["problems"][0]["pointer"] == "/though_busy"


def test_what_was_measured_last_is_shown(client: Client, file: Path) -> None:
    MACHINE.write(file)
    machine = client.get(PATH).json()["machine"]
    assert (machine["machine"], machine["made"], machine["overheads_ms"]["plan_ms"]) == ("2 cores", "2026-12-02", 100)
    assert {"kind": "source", "record_us": 1.0, "output_us": 0.0, "control_us": 0.0} in machine["prices"]
    file.write_text('{"format": 1, "machine": "half a file"')
    said = client.get(PATH).json()
    assert (said["machine"], "is no calibration" in said["problem"]) == (None, True)


def made(lab: Lab, though_busy: bool = True) -> CalibrationJob:
    job = CalibrationJob.objects.create(lab=lab, though_busy=though_busy)
    work.make(str(job.pk))
    job.refresh_from_db()
    return job


def test_what_cannot_be_measured_says_why(lab: Lab, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrating, "busy_share", lambda since: 0.42)
    busy = made(lab, though_busy=False)
    assert busy.state == RunState.FAILED
    assert busy.error == "other processes use 42 % of the machine; wait until it is quiet, or choose to measure all the same"
    monkeypatch.setenv("SPARK_MASTER", "spark://elsewhere:7077")
    assert made(lab).error == "Spark is a cluster here (spark://elsewhere:7077), and a calibration measures one machine; unset SPARK_MASTER"
    monkeypatch.delenv("SPARK_MASTER")
    monkeypatch.setattr(work, "SESSION", Session())  # not one that other tests have started
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert "Java is missing" in made(lab).error
    assert not file.exists()


def test_a_prediction_says_why_there_is_none(file: Path) -> None:
    context = Context()

    def why_not(name: str, **workload: Any) -> str:
        return outlook(load(template(name, **workload), context), context, file, 20, lambda: None)["why_not"]

    assert why_not("nexmark_q1", horizon_s=0.5) == "this machine is not calibrated"
    MACHINE.write(file)
    assert "at least 1,000 are needed" in why_not("nexmark_q1", horizon_s=0.001, warmup_s=0)
    document = template("nexmark_q1", horizon_s=0.5, warmup_s=0)
    document["query"]["operators"].append({"id": "second", "kind": "sink"})
    document["query"]["edges"].append(
        {"source": document["query"]["edges"][-1]["source"], "target": "second", "partitioning": {"kind": "rebalance"}}
    )
    two = outlook(load(document, context), context, file, 20, lambda: None)
    assert two["why_not"].startswith("it has 2 sinks")
    assert came_true(two, [], file, 0.0) == two


def test_a_prediction_is_held_against_what_was_measured(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = Context()
    MACHINE.write(file)
    found = outlook(load(template("nexmark_q1", horizon_s=0.5, warmup_s=0), context), context, file, 5, lambda: None)
    assert found["predicted"] is not None
    assert (found["measured"], found["made"], found["why_not"]) == (None, "2026-12-02", "")
    monkeypatch.setattr(predicting, "machine", lambda: MACHINE.machine)
    batches: Any = [
        {"records_in": 1000, "took_ms": took_ms, "sink": "sink", "batch": n}
        for n, took_ms in enumerate([900, 900, 900, 900, 200, 300, 400])
    ]
    ended = came_true(found, batches, file, 0.3)
    assert ended["measured"] == {"batches": 3, "batch_ms": 300, "low_ms": 200, "high_ms": 400, "records_per_s": pytest.approx(3333.3)}
    assert ended["said"] == ["other processes used 30 % of the machine meanwhile"]
    Calibration(**{**vars(MACHINE), "piece_ms": 1e9}).write(file)
    assert came_true(found, batches, file, 0.0)["said"] == ["a core takes 0.00 times as long for the same work as when it was calibrated"]
    assert came_true(found, batches[:1], file, 0.0)["said"] == ["too few micro-batches with records: 1; a speed needs at least 2"]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.one_database
def test_a_calibration_is_measured_and_a_cancelled_one_changes_nothing(lab: Lab, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrating, "warm_up", lambda *_: None)
    monkeypatch.setattr(calibrating, "BATCHES", 4)
    monkeypatch.setattr(calibrating, "FIRST", 1)
    monkeypatch.setattr(calibrating, "queries", lambda cores: {"reading, few": (calibrating.reading(50), 2)})
    monkeypatch.setattr(calibrating, "derived", lambda found, cores: (MACHINE.overheads_ms, MACHINE.prices_us))
    job = made(lab)
    assert (job.state, job.error, job.progress, job.doing) == (RunState.SUCCEEDED, "", 1.0, "")
    assert (read(file).cores, read(file).overheads_ms) == (os.cpu_count(), MACHINE.overheads_ms)
    before = file.read_bytes()

    def cancelled_while_it_measures(cores: int) -> dict[str, Any]:
        CalibrationJob.objects.request_cancel(CalibrationJob.objects.latest("created_at").pk)
        return {f"reading {n}": (calibrating.reading(50), 2) for n in range(1000)}

    monkeypatch.setattr(calibrating, "steps", lambda: 1000)
    monkeypatch.setattr(calibrating, "queries", cancelled_while_it_measures)
    assert made(lab).state == RunState.CANCELLED
    assert file.read_bytes() == before
