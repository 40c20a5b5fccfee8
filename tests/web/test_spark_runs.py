"""A run's query on a real Spark: started, followed, killed, cancelled and continued; and what cannot be started."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
import yaml
from django.test import Client
from launcher.services import Service

from webapp.lab import calibrations
from webapp.lab.models import Experiment, Lab, Run, RunState, SparkRun
from webapp.lib.redis_connection import connection
from webapp.messaging.queue import QUEUE
from workers import caretaker, execution

from ..support.calibrated import MACHINE
from ..support.tiers import only
from .conftest import ROOT, new_experiment, processes_of_tests, small_document, spark_drivers, wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("working_here")]


def windowed(horizon_s: float = 4.0) -> dict[str, Any]:
    """A filter and windows of a second; the lag is longer than anything is late."""
    document: dict[str, Any] = yaml.safe_load((ROOT / "fixtures" / "experiments" / "yahoo.yaml").read_text())
    document["workload"] |= {"horizon_s": horizon_s, "warmup_s": 0.0}
    for source in document["workload"]["sources"].values():
        source["rate"] = {"kind": "constant", "per_s": 2000}
        source["watermarks"]["lag_ms"] = 2000
    return document


def executed(client: Client, experiment: Experiment) -> Run:
    answer = client.post(f"/api/experiments/{experiment.pk}/runs", {}, content_type="application/json")
    assert answer.status_code == 201, answer.content
    execution.execute(answer.json()["id"])
    return Run.objects.get(pk=answer.json()["id"], state=RunState.SUCCEEDED)


def post(client: Client, path: str, status: int, **body: Any) -> dict[str, Any]:
    answer = client.post(path, json.dumps(body), content_type="application/json")
    assert answer.status_code == status, answer.content
    said: dict[str, Any] = answer.json()
    return said


def test_it_waits_for_an_analysis_worker_and_is_cancelled_continued_and_deleted(client: Client, experiment: Experiment) -> None:
    run = executed(client, experiment)
    connection().flushall()
    of_run = f"/api/runs/{run.pk}/spark"
    said = post(client, of_run, 201, files=5)
    assert (said["state"], said["files"], said["batches"], said["equal"], said["author"]) == ("queued", 5, 0, None, "ada")
    assert "no analysis worker" in said["note"]
    assert (connection().llen("spark"), connection().llen(QUEUE)) == (1, 0)
    assert post(client, of_run, 200)["id"] == said["id"], "one at a time"
    path = f"{of_run}/{said['id']}"
    assert post(client, f"{path}/resume", 409)["detail"] == "it is queued; only a cancelled or failed execution can continue"
    assert post(client, f"{path}/cancel", 202)["state"] == "cancelled"
    assert post(client, f"{path}/resume", 202)["state"] == "queued"
    detail = client.get(path).json()
    assert (detail["micro_batches"], detail["comparison"]) == ([], None)
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404
    assert client.get(of_run).json() == []


def test_what_spark_has_no_equivalent_of_is_refused_with_its_place(client: Client, lab: Lab) -> None:
    document = small_document()
    document["policies"] = {"checkpointing": {"kind": "coordinated", "interval_s": 1}}
    run = executed(client, new_experiment(lab, document))
    said = post(client, f"/api/runs/{run.pk}/spark", 422)
    assert [problem["pointer"] for problem in said["problems"]] == ["/policies/checkpointing"]
    run.summary["records_in"] = 7_000_000
    Run.objects.filter(pk=run.pk).update(summary=run.summary, document=small_document())
    assert "7,000,000 input records; at most 5,000,000" in post(client, f"/api/runs/{run.pk}/spark", 422)["detail"]
    assert post(client, f"/api/runs/{run.pk}/spark", 422, files=0)["problems"][0]["pointer"] == "/files"


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.one_database
@pytest.mark.parametrize("killed", only([False, True], ci=[False]), ids=["", "killed"])
def test_records_are_equal(client: Client, lab: Lab, start_analysis: Callable[..., Service], killed: bool) -> None:
    """killed: first Java, then the worker, amid the stream."""
    files = 12 if killed else 3
    MACHINE.write(calibrations.file())
    run = executed(client, new_experiment(lab, windowed()))
    worker = start_analysis()
    path = f"/api/runs/{run.pk}/spark"
    path += "/" + post(client, path, 201, files=files)["id"]
    if killed:
        kill_java_then_worker(worker, lambda: len(client.get(path).json()["micro_batches"]))
        start_analysis()

    def ended() -> SparkRun | None:
        caretaker.sweep()  # as workers for runs do: it finds what lost its worker
        return SparkRun.objects.exclude(state__in=("queued", "running")).first()

    row = wait_for(ended, "the comparison")
    assert (row.state, row.error, row.comparison["equal"]) == (RunState.SUCCEEDED, "", True)
    detail = client.get(path).json()
    assert sorted(batch["batch"] for batch in detail["micro_batches"]) == list(range(row.batches)), "none is missing or twice"
    assert row.batches > files or killed, "Spark may put two files into the micro-batch after its death"
    assert detail["comparison"]["records_in"] == run.summary["records_in"]
    assert detail["prediction"]["predicted"]["batch_ms"] > 100, "planning alone takes as long"
    assert detail["prediction"]["measured"]["records_per_s"] > 0
    assert detail["prediction"]["said"][0].startswith("the calibration is of another machine: 2 cores; this one is")
    assert detail["comparison"]["sinks"]["sink"]["of_spark"] > 10
    watermarks_s = [batch["watermark_s"] for batch in detail["micro_batches"] if batch["watermark_s"] is not None]
    assert watermarks_s == sorted(watermarks_s)
    assert 0 < max(watermarks_s) <= 4
    wait_for(lambda: not row.program.exists(), "its input and output to be removed")


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.one_database
@pytest.mark.deep
@pytest.mark.parametrize("for_good", [False, True], ids=["", "for-good"])
def test_executors_are_killed(client: Client, lab: Lab, cluster: str, start_analysis: Callable[..., Service], for_good: bool) -> None:
    """On a standalone cluster, amid the stream. for_good: with the worker that would start another."""
    run = executed(client, new_experiment(lab, windowed()))
    start_analysis(SPARK_MASTER=cluster, SPARK_EXECUTOR_MEMORY="512m")
    path = f"/api/runs/{run.pk}/spark"
    path += "/" + post(client, path, 201, files=40)["id"]
    wait_for(lambda: len(client.get(path).json()["micro_batches"]) >= 3, "three micro-batches", 180)
    for word in (["deploy.worker.Worker"] if for_good else []) + ["CoarseGrainedExecutorBackend"]:
        for pid in processes_of_tests(word):
            os.kill(pid, signal.SIGKILL)
    (row,) = wait_for(lambda: SparkRun.objects.exclude(state__in=("queued", "running")), "the end", 240)
    if for_good:
        assert row.state == RunState.FAILED
        assert "provided no executor within 60 s" in row.error
        return
    assert (row.state, row.error, row.comparison["equal"]) == (RunState.SUCCEEDED, "", True)
    assert sorted(batch["batch"] for batch in client.get(path).json()["micro_batches"]) == list(range(row.batches))


def kill_java_then_worker(worker: Service, batches: Callable[[], int]) -> None:
    wait_for(lambda: batches() >= 3, "three micro-batches")
    kill_java()
    known = batches()
    wait_for(lambda: batches() >= known + 3, "Spark to go on in another process")
    worker.process.kill()
    kill_java()


def kill_java() -> None:
    for pid in spark_drivers():
        with suppress(ProcessLookupError):  # that of an earlier test may just be ending
            os.kill(pid, signal.SIGKILL)
