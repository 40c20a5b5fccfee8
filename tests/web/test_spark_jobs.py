"""Questions about many runs: asked, answered by a real analysis worker, refused with a sentence; and labs in which Spark cannot be had."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from launcher.services import Service

from engine.spec.experiment.spans import Span
from engine.telemetry.summaries import summarise
from webapp.lab.models import Experiment, Lab, Run, RunState, SparkJob
from webapp.lab.models.spark import stamp_of
from webapp.lib.redis_connection import connection
from webapp.messaging.heartbeats import spark_state, tell_spark_state
from webapp.messaging.queue import QUEUE
from webapp.reports.analysis import QUESTION
from webapp.reports.summary_store import Store
from workers import caretaker, execution
from workers.spark import jobs, summaries
from workers.spark.session import SESSION

from .conftest import new_experiment, small_document, spark_drivers, wait_for
from .executing import SparkHere

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("working_here")]

SUMMARIES = {"kind": "summaries"}


def executed(client: Client, experiment: Experiment, seed: int = 1) -> Run:
    """A run that succeeded."""
    answer = client.post(f"/api/experiments/{experiment.pk}/runs", {"seed": seed}, content_type="application/json")
    assert answer.status_code == 201, answer.content
    execution.execute(answer.json()["id"])
    run = Run.objects.get(pk=answer.json()["id"])
    assert run.state == RunState.SUCCEEDED
    return run


def post(client: Client, body: dict[str, Any], status: int = 201) -> dict[str, Any]:
    answer = client.post("/api/spark/jobs", json.dumps(body), content_type="application/json")
    assert answer.status_code == status, answer.content
    said: dict[str, Any] = answer.json()
    return said


def made_here(job_id: str) -> SparkJob:
    jobs.make(job_id)
    return SparkJob.objects.get(pk=job_id)


# --- asking -----------------------------------------------------------------------------------------------------------------------------


def test_a_job_waits_in_a_queue_of_its_own(client: Client, experiment: Experiment) -> None:
    executed(client, experiment)
    connection().flushall()
    job = post(client, SUMMARIES)
    assert (job["state"], job["kind"], job["runs"], job["read"]) == ("queued", "summaries", None, None)
    assert "no analysis worker" in job["note"]
    assert (connection().llen("spark"), connection().llen(QUEUE)) == (1, 0)
    connection().delete("spark")
    SparkJob.objects.update(enqueued_at="2020-01-01T00:00:00Z")
    caretaker.sweep()
    assert (connection().llen("spark"), connection().llen(QUEUE)) == (1, 0), "what the queue has lost is put there again"
    tell_spark_state("ready", "local[*]", "")
    page = client.get("/api/spark/jobs").json()
    assert (page["count"], page["items"][0]["id"], page["spark"]["state"]) == (1, job["id"], "ready")
    assert client.post(f"/api/spark/jobs/{job['id']}/cancel").json()["state"] == "cancelled"
    assert client.delete(f"/api/spark/jobs/{job['id']}").status_code == 204
    assert client.get("/api/spark/jobs").json()["count"] == 0
    assert client.post(f"/api/spark/jobs/{job['id']}/restore").status_code == 204
    assert client.get(f"/api/spark/jobs/{job['id']}").json()["answer"] is None


@pytest.mark.parametrize(
    ("body", "pointer", "message"),
    [
        ({"kind": "surfaces"}, "", "surfaces"),
        ({"kind": "summaries", "runs": {"search": "nothing_is_called_so"}}, "/runs", "no runs match"),
        ({"kind": "summaries", "runs": {"search": "p99>very"}}, "/runs/search", "not a number"),
        ({"kind": "summaries", "runs": {"ids": []}}, "/runs/ids", "at least 1"),
        ({"kind": "summaries", "span": {"from_s": 2, "to_s": 1}}, "/span", "must be later"),
        ({"kind": "summaries", "span": {"from_s": -1}}, "/span/from_s", "greater than or equal to 0"),
        ({"kind": "summaries", "span": {"factor": 1e400}}, "", "finite"),
        ({"kind": "statistics", "metrics": ["p99_m"]}, "/metrics/0", "did you mean 'p99_ms'"),
        ({"kind": "statistics", "by": "paralelism"}, "/by", "did you mean 'parallelism'"),
        ({"kind": "statistics", "by": "parallelism"}, "/by", "give the whole name of one"),
        ({"kind": "surface", "x": "seed_of", "y": "warmup_s"}, "/x", "no run has"),
        ({"kind": "surface", "x": "warmup_s", "y": "warmup_s"}, "/y", "choose two"),
        ({"kind": "comparison"}, "/against", "required"),
        ({"kind": "comparison", "against": {"tag": "x"}}, "/against", "no runs match"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_its_place(
    client: Client, experiment: Experiment, body: dict[str, Any], pointer: str, message: str
) -> None:
    executed(client, experiment)
    said = post(client, body, 422)
    assert message in said["detail"], said
    assert not pointer or [problem["pointer"] for problem in said["problems"]] == [pointer]
    assert not SparkJob.objects.exists()


# --- what a question would read ---------------------------------------------------------------------------------------------------------


def selection(client: Client, body: dict[str, Any], status: int = 200) -> dict[str, Any]:
    answer = client.post("/api/spark/selection", json.dumps(body), content_type="application/json")
    assert answer.status_code == status, answer.content
    said: dict[str, Any] = answer.json()
    return said


def test_what_would_be_read_is_told_before_it_is_asked_for(client: Client, lab: Lab, experiment: Experiment) -> None:
    other = new_experiment(lab, {**small_document(per_s=1000), "name": "Another"})
    known, fresh, third = executed(client, experiment, 1), executed(client, experiment, 2), executed(client, other, 1)
    for run, size in ((known, 1000), (fresh, 3000)):
        Run.objects.filter(pk=run.pk).update(stored_bytes=size)
    Run.objects.filter(pk=third.pk).update(stored_bytes=None)
    Store.of(lab.pk, Span()).add([{"run": str(known.pk), "stamp": stamp_of(known)}, {"run": str(fresh.pk), "stamp": "of other files"}])

    said = selection(client, {})["runs"]
    assert (said["all"], said["new"]) == ({"runs": 3, "bytes": 6000}, {"runs": 2, "bytes": 6000}), "unmeasured runs count as the mean"
    assert [(one["name"], one["runs"]) for one in said["experiments"]] == [("Small Q1", 2), ("Another", 1)]
    ends = [datetime.fromisoformat(said[name]) for name in ("first_at", "last_at")]
    assert [abs((end - run.finished_at).total_seconds()) < 0.001 for end, run in zip(ends, (known, third), strict=True)] == [True, True]
    assert selection(client, {"span": {"from_s": 1.0}})["runs"]["new"]["runs"] == 3, "another span has summaries of its own"

    of_one = {"experiment": str(experiment.pk)}
    both = selection(client, {"runs": of_one, "against": {"ids": [str(fresh.pk), str(third.pk)]}})
    assert (both["runs"]["all"]["runs"], both["against"]["all"]["runs"], both["common"], both["new"]["runs"]) == (2, 2, 1, 2)
    assert selection(client, {"runs": {"search": "nothing_is_called_so"}})["runs"]["all"] == {"runs": 0, "bytes": 0}
    (problem,) = selection(client, {"against": {"search": "p99>very"}}, 422)["problems"]
    assert problem["pointer"] == "/against/search"
    assert not SparkJob.objects.exists()


def test_runs_that_end_after_the_question_are_not_read(client: Client, experiment: Experiment) -> None:
    before = executed(client, experiment, 1)
    job = SparkJob.objects.get(pk=post(client, SUMMARIES)["id"])
    executed(client, experiment, 2)
    assert jobs.selected(job, QUESTION.validate_python(job.question).runs) == [before]


def test_progress_counts_runs_and_a_cancelled_job_keeps_what_it_has_read(
    client: Client, lab: Lab, experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [executed(client, experiment, seed) for seed in range(5)]
    monkeypatch.setattr(summaries, "BATCH_RUNS_MIN", 1)
    monkeypatch.setattr(SESSION, "get", SparkHere)
    selects, cancels = jobs.JobAttendant.selects, True
    seen: list[tuple[int, int, int]] = []

    def watched(monitor: jobs.JobAttendant, count: int, read: int) -> None:
        selects(monitor, count, read)
        monitor._report()
        row = SparkJob.objects.get(pk=monitor.work.pk)
        seen.append((row.runs, row.read, round(row.progress * read)))
        if cancels and len(seen) == 2:
            SparkJob.objects.request_cancel(row.pk)
            monitor._look()

    monkeypatch.setattr(jobs.JobAttendant, "selects", watched)
    cancelled = made_here(post(client, SUMMARIES)["id"])
    assert (cancelled.state, seen) == (RunState.CANCELLED, [(5, 5, 0), (5, 5, 0)]), "each row is that before the batch"
    assert Store.of(lab.pk, Span()).known({str(run.pk): stamp_of(run) for run in runs}) == {str(run.pk) for run in runs[:2]}

    cancels = False
    seen.clear()
    done = made_here(post(client, SUMMARIES)["id"])
    assert (done.state, done.runs, done.read, done.progress) == (RunState.SUCCEEDED, 5, 3, 1.0)
    assert [(count, read) for count, read, _ in seen] == [(5, 3)] * 3, "a batch of two, then one of the last run"


def test_batches_take_about_a_second_on_any_machine() -> None:
    assert [summaries.next_size(size, took_s) for size, took_s in ((4, 0.1), (64, 0.1), (8, 1.0), (8, 5.0), (1, 60.0))] == [8, 64, 8, 4, 1]


# --- labs in which Spark cannot be had ----------------------------------------------------------------------------------------------------


def test_without_java_jobs_fail_with_a_sentence_and_all_else_goes_on(
    client: Client, experiment: Experiment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    executed(client, experiment)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    job = made_here(post(client, SUMMARIES)["id"])
    assert job.state == RunState.FAILED
    assert f"Java is missing: JAVA_HOME is {tmp_path}" in job.error
    assert (SESSION.state, SESSION.message) == ("unavailable", job.error)
    executed(client, experiment, seed=2)
    assert client.get(f"/api/spark/jobs/{job.pk}").json()["error"] == job.error


def test_an_old_java_is_named(client: Client, experiment: Experiment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    executed(client, experiment)
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("""#!/bin/sh\necho 'openjdk version "1.8.0_392"' >&2\n""")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert re.search(r"Java 17 or newer is needed; .*java says 8", made_here(post(client, SUMMARIES)["id"]).error)


def test_an_unreachable_master_is_a_clear_failure_within_seconds(
    client: Client, experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    executed(client, experiment)
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("SPARK_MASTER", f"spark://127.0.0.1:{taken.getsockname()[1]}")
        job = made_here(post(client, SUMMARIES)["id"])
    assert job.state == RunState.FAILED
    assert "is unreachable" in job.error
    assert "SPARK_MASTER" in job.error
    executed(client, experiment, seed=2)


# --- answers ------------------------------------------------------------------------------------------------------------------------------


def answer_of(client: Client, body: dict[str, Any]) -> dict[str, Any]:
    """Ask, and wait for the answer of a worker."""
    id = post(client, body)["id"]
    wait_for(lambda: not SparkJob.objects.get(pk=id).active, "the answer", 300)
    said: dict[str, Any] = client.get(f"/api/spark/jobs/{id}").json()
    assert said["state"] == "succeeded", said["error"]
    return said


def same_as_files(row: dict[str, Any], run: Run, span: Span) -> bool:
    expected = summarise(jobs.of(run, run.document), span)
    return all(row[name] == expected[name] for name in ("p50_ms", "p99_low_ms", "max_high_ms", "in_per_s", "attribution_ns", "recoveries"))


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.one_database
def test_a_worker_answers_all_kinds_reads_only_what_is_new_and_survives_its_jvm(
    client: Client, lab: Lab, start_analysis: Callable[..., Service]
) -> None:
    start_analysis()
    of_rate: dict[int, list[Run]] = {}
    for per_s in (1000, 4000):
        document = {**small_document(per_s=per_s), "name": f"at {per_s}"}
        document["faults"] = [{"kind": "pause", "host": "w1", "for_ms": 200, "when": {"kind": "at", "at_s": 1.0}}]
        experiment = new_experiment(lab, document)
        of_rate[per_s] = [executed(client, experiment, seed) for seed in (1, 2, 3)]
    runs = {str(run.pk): run for made in of_rate.values() for run in made}
    wait_for(lambda: spark_state()["state"] == "asleep", "the analysis worker", 180)

    said = answer_of(client, SUMMARIES)
    assert (said["runs"], said["read"], said["count"], said["answer"]["left_out"]) == (6, 6, 6, [])
    assert all(same_as_files(row, runs[row["run"]], Span()) for row in said["answer"]["rows"])
    assert {row["recoveries"][0]["at_s"] for row in said["answer"]["rows"]} == {1.0}
    wait_for(lambda: spark_state()["state"] == "ready", "the session to be told of", 60)

    new = executed(client, experiment, 4)
    assert answer_of(client, SUMMARIES)["read"] == 1
    (row,) = answer_of(client, {**SUMMARIES, "runs": {"ids": [str(new.pk)]}, "span": {"from_s": 0.6, "to_s": 1.1}})["answer"]["rows"]
    assert row["cut_frames"] == 2
    assert same_as_files(row, new, Span(from_s=0.6, to_s=1.1))

    (pid,) = spark_drivers()
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: pid not in spark_drivers(), "the end of the JVM")

    slow, fast = ({"search": f"per_s={per_s}"} for per_s in of_rate)
    compared = answer_of(client, {"kind": "comparison", "runs": fast, "against": slow, "metrics": ["in_per_s", "records_in"]})
    by_name = {row["metric"]: row for row in compared["answer"]["rows"]}
    assert (compared["read"], by_name["in_per_s"]["base_runs"], by_name["in_per_s"]["runs"], by_name["in_per_s"]["greater"]) == (
        0,
        3,
        4,
        1.0,
    )
    assert by_name["records_in"]["difference"] == pytest.approx(6000, rel=0.1)

    executed(client, new_experiment(lab, small_document(per_s=1000, horizon_s=3.0)), 1)
    cells = answer_of(client, {"kind": "surface", "x": "per_s", "y": "horizon_s", "metric": "in_per_s"})
    assert [(row["x"], row["y"], row["count"]) for row in cells["answer"]["rows"]] == [(1000.0, 2.0, 3), (4000.0, 2.0, 4), (1000.0, 3.0, 1)]
    assert cells["read"] == 1

    groups = answer_of(client, {"kind": "statistics", "metrics": ["records_out"]})
    assert [(row["group"], row["count"]) for row in groups["answer"]["rows"]] == [("Small Q1", 1), ("at 1000", 3), ("at 4000", 4)]
    assert groups["answer"]["pooled"][1]["samples"] == sum(run.summary["records_out"] for run in of_rate[1000])

    Run.objects.filter(pk=new.pk).update(digest="another")
    for path in new.directory.glob("l*/*"):
        path.unlink()
    left_out = answer_of(client, SUMMARIES)["answer"]["left_out"]
    assert [one["number"] for one in left_out] == [new.number]


# --- a real cluster -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.one_database
@pytest.mark.deep
def test_the_same_job_on_a_standalone_master(
    client: Client, experiment: Experiment, cluster: str, start_analysis: Callable[..., Service]
) -> None:
    runs = {str(run.pk): run for run in (executed(client, experiment, seed) for seed in (1, 2, 3))}
    start_analysis(SPARK_MASTER=cluster, SPARK_EXECUTOR_MEMORY="512m")
    said = answer_of(client, SUMMARIES)
    assert (said["runs"], said["read"]) == (3, 3)
    assert all(same_as_files(row, runs[row["run"]], Span()) for row in said["answer"]["rows"])
    assert spark_state()["master"] == cluster
