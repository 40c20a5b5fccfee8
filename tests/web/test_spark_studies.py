"""Studies whose runs Spark's executors make: the same rows, files and digests as from any worker, whatever dies meanwhile.

What this catches: runs that both queues take, or none; an executor that does not see the lab; studies that wait for ever for a Spark that
cannot be had.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.test import Client
from django.utils import timezone
from launcher.services import Service

from webapp.lab.models import Lab, Run, RunState, Study, Trial, TrialState
from webapp.lab.submission import submit
from webapp.lab.waiting_work import somebody_waits
from webapp.lib.redis_connection import connection
from webapp.messaging.heartbeats import tell_spark_state
from webapp.messaging.queue import QUEUE
from workers import caretaker, execution, studies
from workers.spark import runs as runs_for_spark
from workers.spark.executor import HandedOver, execute
from workers.spark.runs import Runs
from workers.spark.session import Session

from .conftest import ROOT, RedisProcess, new_experiment, processes_of_tests, wait_for
from .executing import misses_redis
from .study_examples import RUNS, assert_made_whole, finished, posted, results, rows_in_one_process, rows_of, sweep

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("working_here")]


def by_spark(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "executor": "spark"}


def handed_over(run: Run, **changes: Any) -> HandedOver:
    run.directory.mkdir(parents=True, exist_ok=True)
    here = {"directory": str(run.directory), "environment": {}, "host": socket.gethostname(), "one_machine": True}
    return HandedOver(str(run.pk), **{**here, **changes})


# --- without Spark ------------------------------------------------------------------------------------------------------------------------


def test_runs_for_spark_are_in_no_queue(client: Client, lab: Lab) -> None:
    study = posted(client, by_spark(sweep([500, 1000, 1500, 2000], [1, 2])))
    tell_spark_state("ready", "local[3]", "", 3)
    studies.advance(study.pk)
    connection().delete(QUEUE)
    waiting = Run.objects.for_spark()
    assert (waiting.count(), Run.objects.count(), Run.objects.queued().count()) == (6, 6, 0), "two for each core"
    caretaker.sweep()
    assert connection().llen(QUEUE) == 0
    assert not waiting.filter(enqueued_at__isnull=False).exists()
    assert client.get(f"/api/studies/{study.pk}").json()["document"]["executor"] == "spark"


def test_an_executor_takes_runs_as_any_worker_does(client: Client, lab: Lab) -> None:
    document = sweep([500, 1000], [1, 2])
    study = posted(client, by_spark(document))
    studies.advance(study.pk)
    while run := Run.objects.for_spark().order_by("number").first():
        assert execute(handed_over(run)) == ""
        assert execute(handed_over(run)) == "", "a second time there is nothing to do but others that wait"
    study.refresh_from_db()
    assert (study.state, study.error, study.trials_done) == (RunState.SUCCEEDED, "", 4)
    metrics = ("records_out", "latency_ms.p99")
    assert rows_of(results(client, study, *metrics)) == rows_in_one_process(document)
    again = finished(posted(client, document))
    assert (again.state, Run.objects.count()) == (RunState.SUCCEEDED, 4), "the lab's workers find the runs that Spark made"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"host": "elsewhere"}, "cannot use the lab's database, an SQLite file on elsewhere"),
        ({"directory": "/nowhere/runs/1"}, "cannot find the folder /nowhere/runs/1"),
    ],
)
def test_an_executor_that_does_not_see_the_lab_says_so(client: Client, lab: Lab, changes: dict[str, Any], sentence: str) -> None:
    studies.advance(posted(client, by_spark(sweep([500], [1]))).pk)
    run = Run.objects.get()
    assert sentence in execute(handed_over(run, **changes))
    run.refresh_from_db()
    assert (run.state, run.losses) == (RunState.QUEUED, 0)


@pytest.mark.skipif(os.geteuid() != 0, reason="to become another user needs root")
def test_an_executor_of_another_user_says_that_it_may_not_write(tmp_path: Path) -> None:
    """Whether it sees the folder or not: pytest's directories let nobody else in, as the data directory does."""
    folder = tmp_path / "runs" / "1"
    folder.mkdir(parents=True)
    program = (
        "import os, sys; from workers.spark.executor import HandedOver, execute; os.setgroups([]); os.setgid(65534); os.setuid(65534); "
        "print(execute(HandedOver('1', sys.argv[1], {}, 'here', False)))"
    )
    done = subprocess.run([sys.executable, "-c", program, str(folder)], cwd=ROOT, capture_output=True, text=True)
    assert f"(user 65534) cannot write to the folder {folder}; executors must run as the lab's user" in done.stdout, done.stderr


def test_a_run_that_no_executor_begins_is_not_tried_for_ever(client: Client, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_for_spark, "AGAIN_S", 0.0)
    study = posted(client, by_spark(sweep([500], [1])))
    studies.advance(study.pk)
    run, runs = Run.objects.get(), Runs(Session())
    for _ in range(runs_for_spark.TRIES_MAX):
        study.refresh_from_db()
        assert study.active
        runs.with_spark[run.pk] = 0
        runs._came_back(run.pk, "the executor on w1 cannot find the folder")
    study.refresh_from_db()
    assert (study.state, study.error) == (RunState.FAILED, "the executor on w1 cannot find the folder")


@pytest.mark.parametrize("missing", ["Java", "the master"])
def test_without_spark_a_study_says_why_and_can_be_gone_on_with(
    missing: str, client: Client, lab: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    document = sweep([500, 1000, 1500], [1])
    study, other = posted(client, by_spark(document)), posted(client, document)
    studies.advance(study.pk)
    studies.advance(other.pk)
    assert Trial.objects.filter(study=other, run__study=study).count() == 2, "another study waits for its runs"
    with monkeypatch.context() as without, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        if missing == "Java":
            without.setenv("JAVA_HOME", str(tmp_path))
        else:
            without.setenv("SPARK_MASTER", f"spark://127.0.0.1:{taken.getsockname()[1]}")
        assert not Runs(Session())._hand_over()
    study.refresh_from_db()
    assert study.state == RunState.FAILED
    assert ("Java is missing" if missing == "Java" else "is unreachable") in study.error
    assert not Run.objects.for_spark().exists()
    caretaker.sweep()
    assert finished(other).state == RunState.SUCCEEDED, "it makes its own"

    assert client.post(f"/api/studies/{study.pk}/retry").status_code == 202
    studies.advance(study.pk)
    study.refresh_from_db()
    assert (study.state, study.error, study.trials_done) == (RunState.SUCCEEDED, "", 3), "with the runs that there are by now"


def test_a_study_that_is_stopped_takes_its_runs_from_spark(client: Client, lab: Lab) -> None:
    study = posted(client, by_spark(sweep([500, 1000], [1])))
    studies.advance(study.pk)
    assert client.post(f"/api/studies/{study.pk}/cancel").json()["state"] == "cancelled"
    assert not Run.objects.for_spark().exists()
    assert not Runs(Session())._hand_over()


def test_a_paused_run_gives_its_core_to_runs_that_wait(client: Client, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "STANDING_S", 0.0)
    studies.advance(posted(client, by_spark(sweep([500, 1000], [1]))).pk)
    first, second = Run.objects.order_by("number")
    assert not somebody_waits("spark"), "they have only just come"
    Run.objects.filter(pk=second.pk).update(created_at=timezone.now() - timedelta(minutes=1))
    assert (somebody_waits("spark"), somebody_waits("workers")) == (True, False)
    Run.objects.filter(pk=first.pk).update(hold_at_frame=1)
    execution.execute(str(first.pk))
    first.refresh_from_db()
    assert (first.state, first.frames, first.lease_holder) == (RunState.PAUSED, 1, "")
    assert Run.objects.resume(first.pk)
    assert Run.objects.for_spark().filter(pk=first.pk).exists()


def test_the_form_of_a_study_asks_who_executes_it(client: Client) -> None:
    field = client.get("/api/studies/schema").json()["document"]["properties"]["executor"]
    assert (field["title"], field["enum"], field["default"]) == ("Executed by", ["workers", "spark"], "workers")
    assert "Spark" in field["description"]


# --- with Spark ---------------------------------------------------------------------------------------------------------------------------


def files_of(run: Run) -> dict[str, Any]:
    """What the files hold. A run that takes long is stored in more parts, so their rows stand one behind the other."""
    found: dict[str, Any] = {}
    for path in sorted(run.directory.rglob("*")):
        name = str(path.relative_to(run.directory))
        if path.match("part-*.parquet"):
            found.setdefault(str(path.parent.relative_to(run.directory)), []).extend(map(repr, pq.read_table(path).to_pylist()))
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.one_database
def test_local_executors_give_the_same_rows_files_and_digests(client: Client, lab: Lab, start_analysis: Callable[..., Service]) -> None:
    """Without any worker but theirs."""
    start_analysis()
    document = sweep([500, 1000], [1, 2])
    study = posted(client, by_spark(document))
    studies.advance(study.pk)
    wait_for(lambda: not Study.objects.get(pk=study.pk).active, "the end of the study", 240)
    study.refresh_from_db()
    assert (study.state, study.error, study.trials_done) == (RunState.SUCCEEDED, "", 4)
    assert rows_of(results(client, study, "records_out", "latency_ms.p99")) == rows_in_one_process(document)
    for made in list(Run.objects.all()):
        twin, _ = submit(new_experiment(lab, made.document), made.document, lab)
        execution.execute(str(twin.pk))
        twin.refresh_from_db()
        assert (made.digest, made.frames, made.engine_version) == (twin.digest, twin.frames, twin.engine_version)
        assert {**made.summary, "wall_s": 0} == {**twin.summary, "wall_s": 0}
        assert files_of(made) == files_of(twin)

    long = posted(client, by_spark(sweep([30_000, 40_000], [1, 2], horizon_s=450.0)))
    studies.advance(long.pk)
    wait_for(lambda: Run.objects.filter(study=long, state=RunState.RUNNING, t_ns__gt=0).count() == 2, "runs under way", 60)
    answer = client.post("/api/spark/jobs", {"kind": "summaries"}, content_type="application/json").json()
    assert client.post(f"/api/studies/{long.pk}/cancel").status_code == 202
    wait_for(lambda: not Run.objects.filter(study=long, state__in=["queued", "running"]).exists(), "the end of its runs", 10)
    said = wait_for(lambda: one if (one := client.get(f"/api/spark/jobs/{answer['id']}").json())["answer"] else None, "an analysis", 60)
    assert said["runs"] == 8


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.one_database
@pytest.mark.deep
def test_a_study_survives_its_executors_and_redis(
    client: Client,
    lab: Lab,
    redis: RedisProcess,
    cluster: str,
    start_worker: Callable[[], Service],
    start_analysis: Callable[..., Service],
) -> None:
    """On a standalone cluster, in the middle of 60 runs. The result is that of one process; no run is lost, and none is made twice."""
    worker = start_worker()
    start_analysis(SPARK_MASTER=cluster, SPARK_EXECUTOR_MEMORY="512m")
    document = sweep([300.0 + 40 * n for n in range(RUNS // 3)], [1, 2, 3], horizon_s=8.0)
    study = posted(client, by_spark(document))

    def done() -> int:
        return Trial.objects.filter(study=study, state=TrialState.DONE).count()

    wait_for(lambda: done() >= 10, "10 of 60 runs", 240)
    for pid in [*processes_of_tests("CoarseGrainedExecutorBackend"), *processes_of_tests("pyspark.daemon")]:
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: done() >= 25, "25 of 60 runs", 120)
    for pid in processes_of_tests("pyspark.daemon"):
        os.kill(pid, signal.SIGKILL)
    redis.stop()
    wait_for(lambda: misses_redis(worker), "the worker to miss Redis", 60)
    redis.start()
    assert done() < RUNS
    assert_made_whole(client, study, rows_in_one_process(document))
