"""Advice over the API: asked, answered by a process with the models, and refused with a sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from launcher.environment import PYTHON
from launcher.services import Service

from engine.corpus import corpora
from engine.corpus.experiments import experiment
from engine.corpus.traces import trace
from webapp.lab.cost_models import folders, loaded, promote
from webapp.lab.models import Lab
from webapp.messaging import advice
from workers import advice as worker
from workers.advice import NO_MODELS, Shelf, answer

from ..support.untrained_models import put_models
from .conftest import process_environment, small_document, wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis")]

EXAMPLE = Path(__file__).parents[2] / "fixtures" / "experiments" / "edge_to_cloud.yaml"
OF = next(of for index in range(100) if len((of := trace("tests", 1, index)).hosts) == 4)


def document() -> dict[str, Any]:
    return experiment(OF, seed=1, horizon_s=5)


def ask(client: Client, status: int = 200, **body: Any) -> dict[str, Any]:
    said = client.post("/api/advice", json.dumps({"document": document()} | body), content_type="application/json")
    assert said.status_code == status, said.content
    told: dict[str, Any] = said.json()
    return told


@pytest.fixture
def models(tmp_path: Path) -> Path:
    put_models(tmp_path / "models" / "small")
    return tmp_path / "models"


@pytest.fixture
def shelf(models: Path) -> Shelf:
    found = Shelf(lambda: {folder.name: folder for folder in sorted(models.iterdir())})
    found.look()
    return found


def question(lab: Lab, **changes: Any) -> dict[str, Any]:
    usual = {"document": document(), "goal": "processing_latency", "models": "", "pinned": {}, "forbidden": [], "lab": str(lab.pk)}
    return usual | changes


@pytest.fixture
def adviser(transactional_db: None, redis: object, tmp_path: Path) -> Iterator[Service]:
    """A real process, with models that nobody has trained."""
    place = Path(settings.DATA_DIR) / "models" / "small"
    put_models(place)
    process = Service("advice", [str(PYTHON), "-m", "workers.advice"], process_environment(), tmp_path / "advice.log")
    process.start()
    yield process
    process.ask_to_stop()
    process.stop(time.monotonic() + 5)
    shutil.rmtree(place.parent)
    print(process.log.read_text(errors="replace")[-3000:])


def test_a_process_with_the_models_answers(client: Client, adviser: Service) -> None:
    assert client.get("/api/advice").json()["reason"].startswith("the process that gives advice is not running")
    state = wait_for(lambda: (now := client.get("/api/advice").json())["available"] and now, "the models")
    small = next(one for one in state["models"] if one["name"] == "small")
    assert small == {
        "name": "small",
        "corpus": "tests",
        "traces": 20,
        "members": 3,
        "goals": ["throughput", "processing_latency", "end_to_end_latency"],
    }
    told = ask(client, models="small", goal="throughput", forbidden=["h1"])
    assert (told["models"], told["goal"], told["unit"]) == ("small", "throughput", "records/s")
    assert sorted(told["order"]) == list(range(len(told["candidates"])))
    first = told["candidates"][0]
    assert (first["origin"], first["members"]) == ("present", 3)
    assert first["spread"] == pytest.approx(max(first["costs"]["throughput"]) - min(first["costs"]["throughput"]))
    assert all("h1" not in one["hosts"].values() for one in told["candidates"] if one["origin"] != "present")
    os.kill(adviser.process.pid if adviser.process else 0, 9)
    wait_for(lambda: not client.get("/api/advice").json()["available"], "the state to be forgotten")
    assert "not running" in ask(client, 409)["detail"]


def test_neither_the_web_process_nor_advice_loads_torch() -> None:
    program = "import sys, webapp.asgi, workers.advice; print(sorted({'torch', 'lightgbm'} & sys.modules.keys()))"
    done = subprocess.run([str(PYTHON), "-c", program], env=process_environment(), capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nobody_is_asked_who_is_away(client: Client) -> None:
    assert ask(client, 409)["detail"].startswith("the process that gives advice is not running; it starts with scripts/up")
    advice.tell_state("", False, NO_MODELS, [])
    assert ask(client, 409)["detail"] == NO_MODELS


def test_a_question_without_an_answer_is_forgotten(client: Client, lab: Lab, shelf: Shelf) -> None:
    with pytest.raises(advice.NoAnswer, match=r"there was no answer within 0\.1 s; ask again"):
        advice.ask(question(lab), patience_s=0.1)
    seen: list[dict[str, Any]] = []
    assert advice.answer_next(lambda asked: seen.append(asked) or {})
    assert not seen, "nobody waits for it any more"


def test_too_many_questions_are_refused(client: Client, lab: Lab) -> None:
    for _ in range(advice.WAITING_MAX):
        advice.connection().rpush(advice.QUESTIONS, "{}")
    with pytest.raises(advice.NoAnswer, match="too many ask for advice right now"):
        advice.ask(question(lab))


def test_an_experiment_that_models_do_not_know_names_its_operators(lab: Lab, shelf: Shelf) -> None:
    told = answer(lambda lab: shelf, question(lab, document=small_document()))
    assert told["detail"] == "the models cannot predict this experiment; see problems"
    assert all(problem["pointer"].startswith("/query/operators/") for problem in told["problems"])
    assert any("models" in problem["message"] for problem in told["problems"])


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"models": "large"}, "there are no models 'large'; there are small"),
        ({"forbidden": ["h1", "h2", "h3", "h4"]}, "every host is forbidden; allow at least one"),
        ({"document": {"format": 1}}, "the experiment has errors; see problems"),
    ],
)
def test_what_cannot_be_answered_says_why(lab: Lab, shelf: Shelf, changes: dict[str, Any], detail: str) -> None:
    assert answer(lambda lab: shelf, question(lab, **changes))["detail"] == detail


def test_the_command_suggests_by_the_models_that_come_with_millrace(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    call_command("suggest", str(EXAMPLE), as_json=True, goal="throughput", forbid=["cloud-2"])
    told = json.loads(capsys.readouterr().out)
    assert told["goal"] == "throughput"
    assert all("cloud-2" not in one["hosts"].values() for one in told["candidates"] if one["origin"] != "present")
    call_command("suggest", str(EXAMPLE), pin=["sink=cloud-2"])
    assert capsys.readouterr().out.startswith("1. processing latency ")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"models": "large"}, "there are no models 'large'; there are dev"),
        ({"pin": ["sink=moon"]}, "sink is pinned to moon, which the cluster does not have"),
        ({"file": "none.yaml"}, "none.yaml"),
    ],
)
def test_the_command_says_why_there_is_nothing_to_suggest(capsys: pytest.CaptureFixture[str], options: dict[str, Any], error: str) -> None:
    with pytest.raises(SystemExit) as left:
        call_command("suggest", options.pop("file", str(EXAMPLE)), as_json=True, **options)
    assert left.value.code == 2
    assert error in json.loads(capsys.readouterr().out)["error"]


def test_corpora_are_listed_shown_and_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, settings: Any) -> None:
    settings.DATA_DIR = tmp_path
    call_command("corpus", "list", as_json=True)
    assert json.loads(capsys.readouterr().out) == []
    for arguments, error in (
        (("make", "Bad Name"), "name is 'Bad Name'; use lower-case letters, digits, _ and -"),
        (("make", "small", "--traces", "0"), "traces is 0; it must be from 1 to 10,000,000"),
        (("show", "small", "0"), "there is no corpus 'small'"),
    ):
        with pytest.raises(SystemExit) as left:
            call_command("corpus", *arguments)
        assert left.value.code == 2
        assert error in capsys.readouterr().err
    corpora.start(tmp_path / "corpora" / "small", corpora.Corpus.of("training", 1, 3))
    call_command("corpus", "list")
    assert capsys.readouterr().out == "small  3 traces, training, seed 1, unfinished\n"
    call_command("corpus", "show", "small", "2")
    assert json.loads(capsys.readouterr().out)["name"].startswith("Trace 2 of small: ")
    with pytest.raises(SystemExit):
        call_command("train", "none")
    assert "there is no corpus 'none'" in capsys.readouterr().err


def test_models_appear_and_go_with_their_files_and_broken_ones_are_left_out(models: Path) -> None:
    shelf = Shelf(lambda: {folder.name: folder for folder in sorted(models.iterdir())})
    shelf.look()
    assert list(shelf.models) == ["small"]
    put_models(models / "other", members=1)
    shelf.look()
    assert list(shelf.models) == ["other", "small"]
    (models / "other" / "success-0" / "weights.npz").write_bytes(b"torn")
    (models / "other" / "success-0" / "model.json").touch()
    shelf.look()
    assert list(shelf.models) == ["small"]
    shutil.rmtree(models / "small")
    shelf.look()
    assert not shelf.models


@pytest.fixture
def sets(tmp_path: Path, settings: Any) -> Path:
    """The folder of an installation with two sets of models."""
    settings.DATA_DIR = tmp_path / "data"
    for name in ("a", "b"):
        put_models(tmp_path / "data" / "models" / name, members=1)
    return tmp_path / "data" / "models"


def test_a_running_process_asks_the_models_that_are_set_as_the_default(lab: Lab, sets: Path) -> None:
    shelf = Shelf(partial(folders, Path(settings.DATA_DIR)))
    shelf.look()
    assert answer(lambda lab: shelf, question(lab))["advice"]["models"] == "a"
    loaded = shelf.models["a"]
    promote(Path(settings.DATA_DIR), "b")
    shelf.look()
    assert list(shelf.models) == ["b", "a", "dev"]
    assert answer(lambda lab: shelf, question(lab))["advice"]["models"] == "b"
    assert shelf.models["a"] is loaded, "only what changes is loaded again"


def test_models_with_facts_of_other_types_are_told_without_them(client: Client, sets: Path) -> None:
    file = sets / "a" / "end_to_end_latency-0" / "model.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"facts": {"corpus": 5, "traces": "many"}}))
    shelf = Shelf(partial(folders, Path(settings.DATA_DIR)))
    shelf.look()
    shelf.tell()
    told = next(one for one in client.get("/api/advice").json()["models"] if one["name"] == "a")
    assert (told["corpus"], told["traces"]) == ("", 0)


def test_the_state_is_told_again_after_an_error(client: Client, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter([PermissionError("the folder cannot be read"), None])
    ended = threading.Event()

    def found() -> dict[str, Path]:
        if error := next(looks):
            raise error
        ended.set()
        return {"small": models / "small"}

    monkeypatch.setattr(worker, "SIGN_S", 0.01)
    worker._keep_telling(Shelf(found), ended)
    assert [one["name"] for one in client.get("/api/advice").json()["models"]] == ["small"]


def test_questions_are_answered_while_models_are_loaded(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = Shelf(lambda: {folder.name: folder for folder in sorted(models.iterdir())})
    shelf.look()
    put_models(models / "other", members=1)
    meanwhile: list[list[str]] = []

    def loading(folder: Path) -> Any:
        meanwhile.append(list(shelf.models))
        return loaded(folder)

    monkeypatch.setattr(worker, "loaded", loading)
    shelf.look()
    assert (meanwhile, list(shelf.models)) == ([["small"]], ["other", "small"])


def test_the_command_skips_models_that_cannot_be_asked(sets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(sets / "a" / "flows-0")
    (sets / "b" / "flows-0" / "weights.npz").write_bytes(b"torn")
    call_command("suggest", str(EXAMPLE), as_json=True)
    assert json.loads(capsys.readouterr().out)["candidates"][0]["members"] == 3, "those that come with Millrace"
