"""Studies in the lab: carried out by workers, with the same answer as in one process, whatever happens to those who carry them out.

What this catches: runs that are lost or made twice, results that depend on the order of events, studies that never end, and those that
fill the queue.
"""

from __future__ import annotations

import copy
import signal
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db.models.signals import post_save
from django.test import Client
from launcher.services import Service

from engine.prices import PRICE_LISTS
from engine.simulation.local_study import run_study
from engine.spec.study.study import load_study
from engine.studies import Measured, best
from tests.support.corner_cases import a_cycle_that_stands_still
from webapp.api import studies as api_studies
from webapp.lab import studies as lab_studies
from webapp.lab.documents import check
from webapp.lab.models import Dataset, Experiment, Lab, Run, RunState, Study, Trial, TrialState
from webapp.lab.reuse import run_of_the_same, why_not_the_same
from webapp.lab.submission import submit
from workers import caretaker, execution, studies

from .conftest import RedisProcess, new_experiment, small_document, wait_for
from .executing import misses_redis
from .study_examples import RATE, RUNS, assert_made_whole, finished, posted, results, rows_in_one_process, rows_of, search, sweep

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("working_here")]


def test_a_sweep_gives_what_it_gives_in_one_process(client: Client, lab: Lab) -> None:
    document = sweep([500, 1000, 2000], [1, 2, 3])
    study = finished(posted(client, document))
    assert (study.state, study.trials_done, study.trials_left, study.error) == (RunState.SUCCEEDED, 9, 0, "")
    metrics = ("latency_ms.p99", "records_out", "throughput_out_per_s")
    found = results(client, study, *metrics)
    twin = run_study(load_study(document))
    assert rows_of(found) == [(row.point, row.seed, row.share, {name: row.metrics[name] for name in metrics}) for row in twin.rows]
    interval = twin.over_seeds("latency_ms.p99", 1)
    assert found["points"][1]["over_seeds"]["latency_ms.p99"] == vars(interval)
    assert [point["values"] for point in found["points"]] == [{"rate": 500}, {"rate": 1000}, {"rate": 2000}]
    assert Run.objects.count() == 9
    assert "latency_ms.p99" in client.get(f"/api/studies/{study.pk}").json()["metrics"]
    report = client.get(f"/api/studies/{study.pk}/report").content.decode()
    assert (report.count('<svg class="chart"'), "Means over 3 seeds" in report, "<script" in report) == (3, True, False)


@pytest.mark.slow
def test_a_search_gives_what_it_gives_in_one_process(client: Client, lab: Lab) -> None:
    study = finished(posted(client, search()))
    assert (study.state, study.error) == (RunState.SUCCEEDED, "")
    known: dict[str, Measured] = {}
    twin = run_study(load_study(search()), known=known)
    found = results(client, study, "records_out")
    assert [(one["point"], one["seed"], one["sustained"], one["failed"]) for one in found["found"]] == [
        (one.point, one.seed, one.bracket.sustained, one.bracket.failed) for one in twin.found
    ]
    assert [[(t["load"], t["sustained"], tuple(t["reasons"])) for t in one["tried"]] for one in found["found"]] == [
        list(one.tried) for one in twin.found
    ]
    assert 500 < twin.found[0].bracket.sustained < 60_000  # type: ignore[operator]
    assert rows_of(found) == [(row.point, row.seed, 0.5, {"records_out": row.metrics["records_out"]}) for row in twin.rows]
    assert Run.objects.count() == len(known) == study.trials_done
    assert "Largest sustained load" in client.get(f"/api/studies/{study.pk}/report").content.decode()


@pytest.mark.slow
def test_runs_at_shares_may_be_of_another_experiment(client: Client, lab: Lab) -> None:
    document = search()
    document["search"] |= {"shares": [1.0, 0.5], "changes_at_shares": [{"fields": ["/workload/horizon_s"], "value": 20.0}]}
    study = finished(posted(client, document))
    known: dict[str, Measured] = {}
    twin = run_study(load_study(document), known=known)
    found = results(client, study, "virtual_s")
    assert sorted(rows_of(found)) == sorted((row.point, row.seed, row.share, {"virtual_s": 20.0}) for row in twin.rows)
    assert len(twin.rows) == 4
    assert Run.objects.count() == len(known) == study.trials_done


@pytest.mark.parametrize("together", [1, 4, 6, 7, 100])
def test_results_come_in_parts_that_are_those_of_all(client: Client, lab: Lab, monkeypatch: pytest.MonkeyPatch, together: int) -> None:
    study = finished(posted(client, sweep([500, 1000, 2000, 3000], [1, 2, 3])))
    whole = results(client, study, "records_out")
    assert (len(whole["points"]), whole["next"], whole["count"]) == (4, None, 4)
    monkeypatch.setattr(api_studies, "TRIALS_MAX", together)
    parts, offset = [], 0
    while offset is not None:
        parts.append(client.get(f"/api/studies/{study.pk}/results?metric=records_out&limit=3&offset={offset}").json())
        offset = parts[-1]["next"]
    assert [point for part in parts for point in part["points"]] == whole["points"]
    assert max(len(part["points"]) for part in parts) == min(3, max(1, together // 3))


def test_a_study_that_is_cancelled_while_it_is_carried_on_ends_with_all_its_runs(client: Client, lab: Lab) -> None:
    """A worker that starts its runs just then looks seldom whether somebody wants it to stop, and ends before it does."""
    study = posted(client, sweep([1000.0, 2000.0, 3000.0], [1]))
    asked: list[int] = []

    def cancel_once(instance: Run, created: bool, **_: Any) -> None:
        if created and not asked:
            asked.append(instance.number)
            assert client.post(f"/api/studies/{study.pk}/cancel").status_code == 202

    post_save.connect(cancel_once, sender=Run)
    try:
        studies.advance(study.pk)
    finally:
        post_save.disconnect(cancel_once, sender=Run)
    study.refresh_from_db()
    assert asked
    assert study.state == RunState.CANCELLED
    assert study.finished_at is not None
    assert set(Run.objects.filter(study=study).values_list("state", flat=True)) == {RunState.CANCELLED}


def optimisation(**design: Any) -> dict[str, Any]:
    """The rate at which most of what comes in comes out, but with few records in the queues."""
    rate = {"name": "rate", "fields": [RATE], "values": {"kind": "between", "from": 200, "to": 60_000, "scale": "log"}}
    asked = {"objectives": [{"metric": "throughput_out_per_s", "direction": "maximise"}], "bounds": [{"metric": "backlog", "at_most": 50}]}
    usual = {"kind": "optimise", "trials": 13, "at_once": 3, **asked}
    return {**search(), "name": "Best", "search": {"kind": "none"}, "axes": [rate], "design": usual | design}


def test_an_optimisation_makes_the_trials_that_it_makes_in_one_process(client: Client, lab: Lab) -> None:
    document = optimisation()
    document["experiment"]["workload"]["horizon_s"] = 1.0
    study = posted(client, document)
    studies.advance(study.pk)
    assert Trial.objects.filter(study=study).count() == 6  # three points with two seeds each
    study.refresh_from_db()
    assert (study.trials_done, study.trials_left) == (0, 26)
    study = finished(study)
    assert (study.state, study.error, study.trials_done, study.trials_left) == (RunState.SUCCEEDED, "", 26, 0)
    valid = load_study(document)
    twin = run_study(valid)
    found = client.get(f"/api/studies/{study.pk}/optimisation").json()
    for trial, known in zip(found["trials"], twin.trials, strict=True):
        assert (trial["point"], trial["values"], trial["ended"], trial["failure"]) == (known.number, known.values, True, None)
        assert (tuple(trial["objectives"]), tuple(trial["bounds"])) == (known.objectives, known.bounds)
        assert trial["feasible"] == known.feasible(valid.design)  # type: ignore[arg-type]
    assert found["best"] == best(valid.design, twin.trials)  # type: ignore[arg-type]
    assert {trial["feasible"] for trial in found["trials"]} == {True, False}
    assert rows_of(results(client, study, "backlog")) == [
        (row.point, row.seed, None, {"backlog": row.metrics["backlog"]}) for row in twin.rows
    ]
    assert client.get(f"/api/studies/{study.pk}/results?limit=2&offset=12").json()["points"][0]["point"] == 12
    other = posted(client, sweep([500], [1]))
    answer = client.get(f"/api/studies/{other.pk}/optimisation")
    assert (answer.status_code, "design 'grid'" in answer.json()["detail"]) == (404, True)


def test_an_optimisation_goes_on_without_the_runs_that_failed(client: Client, lab: Lab) -> None:
    document = optimisation(trials=6, at_once=2, sampler="random")
    document["experiment"]["workload"]["horizon_s"] = 1.0
    document["seeds"] = [1]
    study = posted(client, document)
    studies.advance(study.pk)
    first = Trial.objects.filter(study=study).order_by("point")[0].run
    assert first is not None
    Run.objects.request_cancel(first.pk)
    study = finished(study)
    assert (study.state, study.trials_done, study.trials_failed) == (RunState.FAILED, 6, 1)
    trials = client.get(f"/api/studies/{study.pk}/optimisation").json()["trials"]
    assert [trial["failure"] for trial in trials] == [f"seed 1: run #{first.number} was cancelled"] + [None] * 5
    assert client.post(f"/api/studies/{study.pk}/retry").status_code == 202
    assert finished(study).state == RunState.SUCCEEDED


def test_a_run_that_the_lab_has_is_not_made_again(client: Client, lab: Lab) -> None:
    first = finished(posted(client, sweep([500, 1000], [1, 2])))
    again = finished(posted(client, {**sweep([1000, 500, 700], [2]), "name": "Others"}))
    assert Run.objects.count() == 5
    runs = [run for point in results(client, again)["points"] for run in point["runs"]]
    assert [run["reused"] for run in runs] == [True, True, False]
    assert again.trials_done == 3
    # A run that somebody else has under way is waited for, and one that they cancel is made again.
    document = sweep([900], [7])
    valid = copy.deepcopy(document["experiment"])
    valid["workload"]["sources"]["bids"]["rate"]["per_s"] = 900
    theirs, _ = submit(new_experiment(lab, valid), valid, lab, seed=7)
    waiting = posted(client, document)
    studies.advance(waiting.pk)
    assert Trial.objects.get(study=waiting).run_id == theirs.pk
    Run.objects.request_cancel(theirs.pk)
    caretaker.sweep()
    mine = Trial.objects.get(study=waiting).run
    assert mine is not None
    assert (mine.pk != theirs.pk, mine.study_id) == (True, waiting.pk)
    assert finished(waiting).state == RunState.SUCCEEDED
    assert first.state == RunState.SUCCEEDED


def test_runs_of_other_data_under_the_same_name_are_not_reused(client: Client, lab: Lab) -> None:
    document = small_document(1.0)
    run, _ = submit(new_experiment(lab, document), document, lab)
    execution.execute(str(run.pk))
    valid = check(document, lab).experiment
    assert valid is not None
    assert run_of_the_same(lab, valid) == run
    from_file = valid.model_copy(update={"canonical": {}})
    assert from_file is not None
    Dataset.objects.create(lab=lab, name="mine", file="x", rows=1, bytes=1, columns=[], timestamps=[])

    class WithData:
        hash, assertions, price_list = valid.hash, valid.assertions, valid.price_list
        canonical = {"sources": [{"stream": {"kind": "file", "dataset": "mine"}}]}

    assert run_of_the_same(lab, WithData()) is None  # type: ignore[arg-type]


def test_runs_of_another_version_or_other_prices_are_not_reused(client: Client, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    document = small_document(1.0)
    run, _ = submit(new_experiment(lab, document), document, lab)
    execution.execute(str(run.pk))
    run.refresh_from_db()
    valid = check(document, lab).experiment
    assert valid is not None
    assert run_of_the_same(lab, valid) == run
    reference = PRICE_LISTS["reference"]
    dear = replace(reference.prices["source"], record_ps=round(1.2 * reference.prices["source"].record_ps))
    monkeypatch.setitem(PRICE_LISTS, "reference", replace(reference, prices={**reference.prices, "source": dear}))
    assert run_of_the_same(lab, valid) is None
    assert "+reference." in why_not_the_same(run)
    again, _ = submit(new_experiment(lab, document), document, lab)
    execution.execute(str(again.pk))
    again.refresh_from_db()
    assert again.engine_version.startswith(f"{run.engine_version}+reference.")
    assert again.summary != run.summary
    assert run_of_the_same(lab, valid) == again
    monkeypatch.undo()
    assert run_of_the_same(lab, valid) == run
    Run.objects.filter(pk=run.pk).update(engine_version="1")
    assert run_of_the_same(lab, valid) is None


def test_runs_that_fail_are_named_and_can_be_made_again(client: Client, lab: Lab) -> None:
    study = posted(client, sweep([500, 1000], [1]))
    studies.advance(study.pk)
    stopped = Run.objects.order_by("number")[0]
    Run.objects.request_cancel(stopped.pk)
    study = finished(study)
    assert study.state == RunState.FAILED
    assert study.error == f"1 of 2 runs failed; the first: run #{stopped.number} was cancelled"
    found = results(client, study, "records_out")
    assert [point["runs"][0]["failure"] for point in found["points"]] == [f"run #{stopped.number} was cancelled", None]
    assert client.post(f"/api/studies/{study.pk}/retry").status_code == 202
    study = finished(study)
    assert (study.state, study.error, study.trials_failed) == (RunState.SUCCEEDED, "", 0)
    assert Run.objects.count() == 3
    answer = client.post(f"/api/studies/{study.pk}/retry")
    assert (answer.status_code, "nothing" in answer.json()["detail"]) == (409, True)


def test_a_run_that_ends_by_itself_before_its_end_is_a_result(client: Client, lab: Lab) -> None:
    """A deadlock is what the study wants to know."""
    experiment = {"name": "Circle"} | a_cycle_that_stands_still()
    study = finished(posted(client, {"experiment": experiment, "seeds": [1]}))
    assert (study.state, study.error) == (RunState.SUCCEEDED, "")
    (point,) = results(client, study, "records_in")["points"]
    assert point["runs"][0]["state"] == "failed"
    assert point["runs"][0]["metrics"]["records_in"] > 0


def test_cancelling_stops_its_runs_but_not_those_of_others(client: Client, lab: Lab) -> None:
    one, other = posted(client, sweep([500, 1000], [1])), posted(client, sweep([1000], [1]))
    studies.advance(one.pk)
    studies.advance(other.pk)
    answer = client.post(f"/api/studies/{one.pk}/cancel")
    assert (answer.status_code, answer.json()["state"]) == (202, "cancelled")
    states = {run.document["workload"]["sources"]["bids"]["rate"]["per_s"]: run.state for run in Run.objects.all()}
    assert states == {500: "cancelled", 1000: "queued"}
    assert finished(other).state == RunState.SUCCEEDED
    one.refresh_from_db()
    assert (one.state, one.active) == (RunState.CANCELLED, False)
    assert client.post(f"/api/studies/{one.pk}/retry").status_code == 202
    assert finished(one).state == RunState.SUCCEEDED
    assert Run.objects.count() == 3
    assert client.delete(f"/api/studies/{one.pk}").status_code == 204
    assert [item["id"] for item in client.get("/api/studies").json()["items"]] == [str(other.pk)]
    assert client.post(f"/api/studies/{one.pk}/restore").status_code == 204
    assert client.get("/api/studies").json()["count"] == 2


def test_bad_studies_are_refused_with_reasons(client: Client, lab: Lab) -> None:
    def problems(document: dict[str, Any]) -> str:
        answer = client.post("/api/studies", {"document": document}, content_type="application/json")
        assert answer.status_code == 422
        checked = client.post("/api/studies/validate", {"document": document}, content_type="application/json")
        assert (checked.status_code, checked.json()["problems"]) == (200, answer.json()["problems"])
        return "; ".join(f"{one['pointer']}: {one['message']}" for one in answer.json()["problems"])

    good = sweep([500], [1])
    misled = copy.deepcopy(good)
    misled["axes"][0]["fields"] = ["/workload/sources/bidz/rate/per_s"]
    assert "bidz" in problems(misled)
    wrong = copy.deepcopy(good)
    wrong["axes"][0]["values"]["of"] = ["fast"]
    assert "rate" in problems(wrong)
    large = {**good, "design": {"kind": "grid"}, "axes": [
        {"name": f"a{n}", "fields": [RATE], "values": {"kind": "linear", "from": 1, "to": 10, "count": 216}} for n in range(3)
    ]}  # fmt: skip
    assert "10,077,696 runs" in problems(large)
    assert problems({**good, "experiment": {}}) != ""
    assert not Study.objects.exists()
    assert client.get("/api/studies/1b7c7a0e-5b5c-4a55-9d9b-1a2b3c4d5e6f").status_code == 404
    fine = client.post("/api/studies/validate", {"document": good}, content_type="application/json").json()
    assert (fine["points"], fine["runs"], fine["first"]) == (1, 1, [{"rate": 500}])


def test_runs_of_studies_stand_apart(client: Client, lab: Lab, redis: RedisProcess) -> None:
    study = finished(posted(client, sweep([500, 1000], [1])))
    document = small_document(1.0)
    own, _ = submit(new_experiment(lab, document), document, lab)

    def numbers(**query: Any) -> list[int]:
        return [run["number"] for run in client.get("/api/runs", query).json()["items"]]

    assert numbers() == [own.number]
    assert numbers(of_studies="true") == [3, 2, 1]
    assert numbers(study=str(study.pk)) == [2, 1]


# Workers that die, a Redis that restarts


@pytest.fixture(scope="module")
def expected() -> Any:
    return rows_in_one_process(large_sweep())


def large_sweep() -> dict[str, Any]:
    return sweep([300.0 + 40 * n for n in range(RUNS // 3)], [1, 2, 3], horizon_s=20.0)


@pytest.mark.slow
@pytest.mark.parametrize("trouble", ["a worker is killed", pytest.param("Redis is restarted", marks=pytest.mark.deep)])
def test_a_study_survives(
    trouble: str, client: Client, lab: Lab, redis: RedisProcess, start_worker: Callable[[], Service], expected: Any
) -> None:
    """In the middle of the study. The result is that of one process; no run is lost, and none is made twice."""
    first, second = start_worker(), start_worker()
    study = posted(client, large_sweep())

    def done() -> int:
        return Trial.objects.filter(study=study, state=TrialState.DONE).count()

    wait_for(lambda: done() >= 10, "10 runs", 60)
    if trouble == "a worker is killed":
        assert first.process is not None
        first.process.send_signal(signal.SIGKILL)
        start_worker()
    else:
        redis.stop()
        wait_for(lambda: misses_redis(first) and misses_redis(second), "both workers to miss Redis", 60)
        redis.start()
    assert done() < RUNS
    assert_made_whole(client, study, expected)
    if trouble == "Redis is restarted":
        for worker in (first, second):
            assert_an_outage_is_two_lines(worker.log.read_text())


def assert_an_outage_is_two_lines(log: str) -> None:
    """Without Celery's tracebacks, its attempts to connect, and its warnings."""
    assert (log.count("Redis cannot be reached"), log.count("Redis is back")) == (1, 1), log
    assert not [word for word in ("Traceback", "Trying again", "Deprecation") if word in log], log


@pytest.mark.slow
@pytest.mark.deep
def test_an_optimisation_survives(client: Client, lab: Lab, redis: RedisProcess, start_worker: Callable[[], Service]) -> None:
    """A worker is killed in the middle; the trials are those of one process, each made once."""
    document = optimisation(at_once=4)
    document["experiment"]["workload"]["horizon_s"] = 4.0
    first = start_worker()
    start_worker()
    study = posted(client, document)
    wait_for(lambda: Trial.objects.filter(study=study, state=TrialState.DONE).count() >= 8, "8 of 26 runs", 120)
    assert first.process is not None
    first.process.send_signal(signal.SIGKILL)
    wait_for(lambda: not Study.objects.get(pk=study.pk).active, "the end of the study", 120)
    study.refresh_from_db()
    assert (study.state, study.error, study.trials_done) == (RunState.SUCCEEDED, "", 26)
    trials = client.get(f"/api/studies/{study.pk}/optimisation").json()["trials"]
    assert [(trial["values"], tuple(trial["objectives"])) for trial in trials] == [
        (trial.values, trial.objectives) for trial in run_study(load_study(document)).trials
    ]
    assert Run.objects.count() == 26


def test_a_study_can_be_made_of_an_experiment(client: Client, lab: Lab) -> None:
    experiment = new_experiment(lab, small_document(1.0))
    body = {"document": sweep([500], [1]), "experiment": str(experiment.pk)}
    answer = client.post("/api/studies", body, content_type="application/json").json()
    assert answer["experiment"] == str(experiment.pk)
    study = finished(Study.objects.get(pk=answer["id"]))
    assert Run.objects.get(study=study).experiment_id == experiment.pk
    assert Experiment.objects.count() == 1
    assert lab_studies.metric_names(study)


def test_forms_are_drawn_from_the_schema(client: Client) -> None:
    schema = client.get("/api/studies/schema").json()
    assert schema["document"]["properties"]["seeds"]["x-editor"] == "numbers"
    assert [kind["kind"] for kind in schema["values"]] == ["list", "linear", "log", "between"]
    assert [kind["title"] for kind in schema["designs"]] == ["Grid", "Zip", "Random", "Latin hypercube", "Optimisation"]
    assert set(schema["searches"][1]["schema"]["properties"]) == {
        "load", "start", "step_down", "precision", "shares", "changes_at_shares", "sustained",
    }  # fmt: skip


def test_predictions_stay_with_a_study(client: Client, lab: Lab) -> None:
    """One for each point, or none: predictions of other points would be compared with the wrong runs."""
    document = sweep([500, 1000], [1])
    points = [{"processing_latency": [9.5, 10.5]}, {"processing_latency": [20.0, 21.0]}]
    body = {"document": document, "predictions": {"models": "dev", "points": points}}
    made = client.post("/api/studies", body, content_type="application/json")
    assert made.status_code == 201, made.content
    detail = client.get(f"/api/studies/{made.json()['id']}").json()
    assert detail["predictions"] == body["predictions"]
    assert client.get(f"/api/studies/{posted(client, document).pk}").json()["predictions"] is None
    for wrong, words in (
        ({"models": "dev", "points": points[:1]}, "there are predictions of 1 points, but the study has 2; give one for each, or none"),
        ({"models": "dev", "points": [1, 2]}, "points/0"),
        ({"points": points}, "models"),
    ):
        said = client.post("/api/studies", {"document": document, "predictions": wrong}, content_type="application/json")
        assert said.status_code == 422
        assert words in said.content.decode()
