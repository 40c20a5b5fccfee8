"""Figures carried out by workers: asked for, judged, cancelled, given back, lost. Catches: a worker that holds on to what nobody wants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from django.utils import timezone
from launcher.services import Service

from engine.learning.evaluations import file_of
from engine.learning.stock import Stock, keep
from engine.spec.figure.evaluations import Scored, Scores
from engine.spec.figure.figure import evaluation_at
from engine.spec.figure.files import FigureFiles
from webapp.lab import figures
from webapp.lab.models import FigureResult, Lab, Reproduction, Run, RunState, Study
from workers import caretaker, execution, studies
from workers import figures as worker

from .conftest import wait_for
from .figure_files import in_place_of_ours, write

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("working_here")]

PATH = "/api/figures/test/1/reproductions"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FigureFiles]:
    yield from in_place_of_ours(tmp_path, monkeypatch, {"test/1": "out == 2 * rate"})


def ask(client: Client, scale: str = "smoke", status: int = 201) -> Any:
    answer = client.post(PATH, {"scale": scale}, content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def carried_out(id: str) -> None:
    """What one worker would do, until nothing is queued."""
    worker.make(id)
    while True:
        study = Study.objects.filter(state=RunState.QUEUED).first()
        run = Run.objects.filter(state=RunState.QUEUED).order_by("number").first()
        waiting = Reproduction.objects.filter(state=RunState.QUEUED).first()
        if study is not None:
            studies.advance(study.pk)
        elif run is not None:
            execution.execute(str(run.pk))
            studies.after(run.pk)
        elif waiting is not None:
            worker.make(str(waiting.pk))
        else:
            return


def test_a_worker_carries_a_figure_out(client: Client, files: FigureFiles) -> None:
    asked = ask(client)
    assert (asked["state"], asked["progress"], asked["scale"]) == ("queued", 0, "smoke")
    assert ask(client, status=200)["id"] == asked["id"], "once is enough"
    carried_out(asked["id"])
    (done,) = client.get(PATH).json()
    assert (done["state"], done["progress"], done["error"]) == ("succeeded", 1, "")
    detail = client.get("/api/figures/test/1").json()
    assert (detail["status"], detail["scale"], detail["values"]["out"]["value"]) == ("reproduced", "smoke", 200)
    carried_out(asked["id"])
    assert FigureResult.objects.count() == 1, "what was delivered twice is done once"
    runs = detail["values"]["out"]["runs"]
    assert [detail["lab_runs"][key]["state"] for key in runs] == ["succeeded"], "the runs behind a value are the lab's"
    assert [item["name"] for item in client.get("/api/studies").json()["items"]] == ["test/1, one, smoke scale"]
    assert client.get("/api/experiments").json() == [], "a figure's experiment is no experiment of anybody's"
    assert ask(client)["id"] != asked["id"], "it may be asked for again"


def test_what_is_wrong_is_said(client: Client, files: FigureFiles) -> None:
    assert client.post(PATH, {"scale": "huge"}, content_type="application/json").status_code == 422
    assert client.post("/api/figures/test/2/reproductions", {"scale": "dev"}, content_type="application/json").status_code == 404
    missing = client.post(f"{PATH}/6b1a7f3e-0000-4000-8000-000000000000/cancel")
    assert (missing.status_code, "has no reproduction" in missing.json()["detail"]) == (404, True)
    asked = ask(client)
    write(files, "test/1", "out == rat")
    figures.read_again()
    worker.make(asked["id"])
    failed = Reproduction.objects.get()
    assert (failed.state, "there is no value 'rat'" in failed.error) == (RunState.FAILED, True)


def test_cancelling_ends_its_studies(client: Client, files: FigureFiles) -> None:
    asked = ask(client)
    worker.make(asked["id"])
    assert Reproduction.objects.get().state == RunState.RUNNING
    assert client.post(f"{PATH}/{asked['id']}/cancel").json()["state"] == "cancelled"
    assert Study.objects.get().state == RunState.CANCELLED
    carried_out(asked["id"])
    assert FigureResult.objects.count() == 0


def test_cancelling_while_its_studies_are_stored_ends_them_too(client: Client, files: FigureFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ask(client)
    begin = worker._begin

    def begun_and_cancelled(*arguments: Any) -> int:
        count = begin(*arguments)
        assert client.post(f"{PATH}/{asked['id']}/cancel").json()["cancel_requested"]
        return count

    monkeypatch.setattr(worker, "_begin", begun_and_cancelled)
    worker.make(asked["id"])
    assert (Reproduction.objects.get().state, Study.objects.get().state) == (RunState.CANCELLED, RunState.CANCELLED)


def test_a_study_that_somebody_stops_leaves_its_values_out(client: Client, files: FigureFiles) -> None:
    asked = ask(client)
    worker.make(asked["id"])
    client.post(f"/api/studies/{Study.objects.get().pk}/cancel")
    caretaker.sweep()
    carried_out(asked["id"])
    detail = client.get("/api/figures/test/1").json()
    assert (detail["status"], detail["assertions"][0]["state"]) == ("not evaluated", "not evaluated")
    assert "its run is missing" in detail["assertions"][0]["reason"]


def test_results_from_before_are_told_apart(lab: Lab) -> None:
    """Those that were kept as not reproduced though nothing could be judged."""
    common = {"lab": lab, "scale": "smoke", "hash": "0", "engine_version": "1", "seeds": [1], "runs": 1, "took_s": 1.0, "values": {}}
    open, failed = {"state": "not evaluated"}, {"state": "fails"}
    for figure, status, assertions in (
        ("test/1", "not reproduced", [open, open]),
        ("test/2", "not reproduced", [open, failed]),
        ("test/3", "partly", [open, {"state": "holds"}]),
    ):
        FigureResult.objects.create(**common, figure=figure, status=status, assertions=assertions)
    migration = import_module("migrations.lab.0020_not_evaluated")
    migration.tell_apart(apps, None)
    now = FigureResult.objects.order_by("figure").values_list("status", flat=True)
    assert list(now) == ["not evaluated", "not reproduced", "partly"]
    migration.put_back(apps, None)
    assert list(now.all()) == ["not reproduced", "not reproduced", "partly"]


def test_a_figure_that_is_changed_meanwhile_is_not_judged(client: Client, files: FigureFiles) -> None:
    asked = ask(client)
    worker.make(asked["id"])
    write(files, "test/1", "out == 2 * rate", scales={"smoke": {"changes": [{"fields": ["/experiment/workload/horizon_s"], "value": 3}]}})
    figures.read_again()
    carried_out(asked["id"])
    failed = Reproduction.objects.get()
    assert (failed.state, "was changed during" in failed.error) == (RunState.FAILED, True)


def test_what_a_dead_worker_had_is_queued_again(client: Client, lab: Lab, files: FigureFiles) -> None:
    asked = ask(client)
    assert Reproduction.objects.claim(asked["id"], "another machine:1:x")
    Reproduction.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    caretaker.sweep()
    row = Reproduction.objects.get()
    assert (row.state, row.losses) == (RunState.QUEUED, 1)
    carried_out(asked["id"])
    assert figures.known("test/1", lab).status == "reproduced"


@pytest.mark.slow
def test_a_real_worker_takes_it(client: Client, start_worker: Callable[[], Service]) -> None:
    start_worker()
    path = "/api/figures/benchmark/3.5/reproductions"
    assert client.post(path, {"scale": "smoke"}, content_type="application/json").status_code == 201
    wait_for(lambda: client.get(path).json()[0]["state"] not in ("queued", "running"), "the figure to be carried out")
    assert client.get(path).json()[0]["state"] == "succeeded"
    assert client.get("/api/figures/benchmark/3.5").json()["status"] == "reproduced"


EVALUATION = {"kind": "accuracy", "traces": 100, "metrics": ["throughput"], "predictors": ["constant"]}


def with_models(files: FigureFiles, evaluation: dict[str, Any]) -> None:
    """A figure that rests on learned models alone."""
    q50 = {"kind": "score", "evaluation": "errors", "score": "q50", "at": {"metric": "Throughput", "predictor": "constant"}}
    parts: dict[str, Any] = {
        "studies": {},
        "evaluations": {"errors": evaluation},
        "values": {"q50": q50},
        "assertions": [{"id": "M-1", "text": "Small", "check": "q50 <= 2"}],
        "drawing": {"panels": [{"series": [{"value": "q50", "mark": "bars"}]}]},
    }
    write(files, "test/1", "", **parts)
    figures.read_again()


@pytest.mark.slow
def test_a_figure_of_learned_models(client: Client, files: FigureFiles, settings: Any, tmp_path: Path) -> None:
    """What was found before is taken as it is, by a process that the worker starts."""
    settings.DATA_DIR = tmp_path / "data"
    with_models(files, EVALUATION)
    of = evaluation_at(files.outline("test/1"), "errors", "smoke", files.experiment)
    row = {"metric": "Throughput", "predictor": "constant", "case": "seen", "group": "all", "bin": "all"}
    found = Scores((Scored(dict(row), {"q50": 1.5}, {"q50": 1.4}, {"q50": 1.6}),), 100)
    keep(file_of(of, Stock(tmp_path / "data", 1)), found.as_json())
    carried_out(ask(client)["id"])
    (done,) = client.get(PATH).json()
    assert (done["state"], done["error"]) == ("succeeded", "")
    detail = client.get("/api/figures/test/1").json()
    assert detail["status"] == "reproduced"
    assert detail["values"]["q50"] == {"value": 1.5, "low": 1.4, "high": 1.6}
    assert (detail["results"][0]["runs"], detail["results"][0]["seeds"]) == (100, [])
    assert client.get("/api/figures/test/1/report").status_code == 200


@pytest.mark.deep
@pytest.mark.slow
def test_models_that_cannot_be_made_are_told(client: Client, files: FigureFiles, settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path / "data"
    with_models(files, EVALUATION | {"cases": {"one": {"tested_on": {"draw": "nowhere"}}}})
    carried_out(ask(client)["id"])
    (done,) = client.get(PATH).json()
    assert done["state"] == "failed"
    assert "the models of the figure cannot be made: draw is 'nowhere'; it must be one of training" in done["error"]


@pytest.mark.deep
@pytest.mark.slow
def test_an_evaluation_says_what_it_is_at_and_ends_when_cancelled(
    client: Client, files: FigureFiles, settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    with_models(files, EVALUATION)
    id = ask(client)["id"]

    def cancel_once_it_works() -> None:
        wait_for(lambda: "traces" in Reproduction.objects.get(pk=id).doing, "the corpus is under way", 120)
        client.post(f"{PATH}/{id}/cancel")

    with ThreadPoolExecutor(1) as other:
        cancelled = other.submit(cancel_once_it_works)
        carried_out(id)
        cancelled.result()
    (done,) = client.get(PATH).json()
    assert (done["state"], done["doing"]) == ("cancelled", "training: 0 of 100 traces")
    assert FigureResult.objects.count() == 0
