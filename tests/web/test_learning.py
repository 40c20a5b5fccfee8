"""Corpora and models made by workers: asked for, followed, cancelled, lost, deleted and had back; and what is refused."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from engine.corpus import corpora
from engine.corpus.corpora import write_card
from webapp.lab import cost_models
from webapp.lab.models import Lab, LearningJob, RunState
from workers import caretaker, learning

from ..engine.learning import made_up
from ..support.untrained_models import put_models
from .conftest import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("working_here")]

URL = "/api/learning"


@pytest.fixture(autouse=True)
def data(settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path / "data"


@pytest.fixture
def corpus(data: Path) -> Path:
    """A whole one, with labels that are made up."""
    place = made_up.corpus(data / "corpora" / "small")
    write_card(place)
    return place


def ask(client: Client, path: str, status: int = 201, **body: Any) -> dict[str, Any]:
    said = client.post(f"{URL}/{path}", json.dumps(body), content_type="application/json")
    assert said.status_code == status, said.content
    told: dict[str, Any] = said.json()
    return told


def listed(client: Client) -> dict[str, Any]:
    told: dict[str, Any] = client.get(URL).json()
    return told


def test_what_comes_with_millrace_is_listed(client: Client, lab: Lab) -> None:
    found = listed(client)
    (shipped,) = found["models"]
    assert (shipped["name"], shipped["shipped"], shipped["traces"], shipped["hidden"]) == ("dev", True, 4000, 32)
    assert set(shipped["members"].values()) == {3}
    assert set(shipped["q50"]) == {"throughput", "processing_latency", "end_to_end_latency"}
    assert set(shipped["accuracy"]) == {"flows", "success"}
    assert (found["corpora"], found["jobs"]) == ([], [])
    detail = client.get(f"{URL}/models/dev").json()
    assert len(detail["training"]) == 15
    assert all(one["is_trained"] and one["epochs"] for one in detail["training"])
    assert {one["metric"] for one in detail["report"]} == set(shipped["members"])
    assert client.get(f"{URL}/models/none").status_code == 404
    assert client.delete(f"{URL}/models/dev").json()["detail"] == "models 'dev' come with Millrace and cannot be deleted"


@pytest.mark.slow
def test_models_are_trained_and_their_course_can_be_read(client: Client, lab: Lab, corpus: Path) -> None:
    (known,) = listed(client)["corpora"]
    assert (known["name"], known["traces"], known["done"], known["balance"]["succeeded"]) == ("small", 120, 120, 96)
    job = ask(client, "models", name="mine", corpus="small", hidden=8, members=1, epochs=2)
    assert (job["state"], job["kind"], job["name"], job["author"]) == ("queued", "models", "mine", "ada")
    learning.learn(job["id"])
    found = listed(client)
    assert [(one["state"], one["error"]) for one in found["jobs"]] == [("succeeded", "")]
    mine = next(one for one in found["models"] if one["name"] == "mine")
    assert (mine["shipped"], mine["corpus"], mine["hidden"], set(mine["members"].values())) == (False, "small", 8, {1})
    detail = client.get(f"{URL}/models/mine").json()
    assert all(len(one["epochs"]) == 2 for one in detail["training"])
    assert len(next(one for one in detail["report"] if one["metric"] == "throughput")["points"]) > 5
    assert "other" not in {one["name"] for one in found["models"]}
    wider = ask(client, "models", 409, name="mine", corpus="small", hidden=16)
    assert wider["detail"] == "models 'mine' are 8 wide, not 16; choose another name, or delete them"


def test_models_in_training_show_how_far_they_are(client: Client, lab: Lab, data: Path) -> None:
    place = data / "models" / "young"
    place.mkdir(parents=True)
    epochs = [{"number": 1, "loss": 2.0, "validation": 4.5, "best": True}]
    (place / cost_models.PROGRESS).write_text(json.dumps({"throughput-42": epochs}))
    (young,) = (one for one in listed(client)["models"] if one["name"] == "young")
    assert (young["corpus"], young["members"], young["q50"]) == ("", {"throughput": 0}, {})
    (member,) = client.get(f"{URL}/models/young").json()["training"]
    assert (member["epochs"], member["is_trained"]) == (epochs, False)


@pytest.mark.slow
def test_a_corpus_is_measured_until_somebody_cancels_and_goes_on(client: Client, lab: Lab, data: Path) -> None:
    job = ask(client, "corpora", name="new", traces=100, seed=3)
    busy = ask(client, "corpora", 409, name="new", traces=100, seed=3)
    assert busy["detail"] == "a job for 'new' is in progress; cancel it first, or wait until it has ended"

    def cancel_once_it_works() -> None:
        wait_for(lambda: "traces" in LearningJob.objects.get(pk=job["id"]).doing, "the corpus to be begun")
        assert client.delete(f"{URL}/corpora/new").status_code == 409
        assert client.post(f"{URL}/jobs/{job['id']}/cancel").status_code == 202

    with ThreadPoolExecutor(1) as other:
        cancelled = other.submit(cancel_once_it_works)
        learning.learn(job["id"])
        cancelled.result()
    (ended,) = listed(client)["jobs"]
    assert (ended["state"], ended["doing"]) == ("cancelled", "0 of 100 traces")
    (known,) = listed(client)["corpora"]
    assert (known["name"], known["balance"]) == ("new", None)
    other_size = ask(client, "corpora", 409, name="new", traces=200, seed=3)
    assert "has 100 traces of seed 3 (training); choose another name, or delete it" in other_size["detail"]
    assert ask(client, "models", 409, name="m", corpus="new")["detail"] == "corpus 'new' is not whole; have the rest of it measured first"
    assert ask(client, "corpora", name="new", traces=100, seed=3)["state"] == "queued", "it goes on"


def test_a_job_of_a_dead_worker_is_queued_again(client: Client, lab: Lab, corpus: Path) -> None:
    job = ask(client, "models", name="mine", corpus="small")
    assert LearningJob.objects.claim(job["id"], "a worker that died")
    LearningJob.objects.update(lease_until="2020-01-01T00:00Z")
    caretaker.sweep()
    assert LearningJob.objects.get(pk=job["id"]).state == RunState.QUEUED


@pytest.mark.deep
@pytest.mark.slow
def test_why_a_job_failed_is_told(client: Client, lab: Lab, corpus: Path) -> None:
    job = ask(client, "models", name="mine", corpus="small", hidden=8, members=1, epochs=1)
    (corpus / "part-00000.parquet").write_bytes(b"torn")
    learning.learn(job["id"])
    (ended,) = listed(client)["jobs"]
    assert ended["state"] == "failed"
    assert "part-00000.parquet of corpus 'small' is missing or torn" in ended["error"]


def test_files_are_deleted_and_had_back(client: Client, lab: Lab, corpus: Path, data: Path) -> None:
    put_models(data / "models" / "mine")
    for kind, name in (("corpora", "small"), ("models", "mine")):
        assert client.delete(f"{URL}/{kind}/{name}").status_code == 204
        assert name not in {one["name"] for one in listed(client)[kind]}
        assert client.delete(f"{URL}/{kind}/{name}").status_code == 404
        assert client.post(f"{URL}/{kind}/{name}/restore").status_code == 204
        assert name in {one["name"] for one in listed(client)[kind]}
        assert client.post(f"{URL}/{kind}/{name}/restore").status_code == 404
    shutil.rmtree(data / "corpora")
    assert client.delete(f"{URL}/corpora/small").status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("corpora", {"name": "Big One"}, "name"),
        ("corpora", {"name": "../up"}, "name"),
        ("corpora", {"name": "a", "traces": 3}, "traces"),
        ("corpora", {"name": "a", "seed": -1}, "seed"),
        ("models", {"name": "a"}, "corpus"),
        ("models", {"name": "a", "corpus": "small", "hidden": 0}, "hidden"),
        ("models", {"name": "a", "corpus": "small", "members": 0}, "members"),
        ("models", {"name": "a", "corpus": "small", "epochs": 0}, "epochs"),
    ],
)
def test_what_is_refused(client: Client, lab: Lab, path: str, body: dict[str, Any], words: str) -> None:
    said = ask(client, path, 422, **body)
    assert words in json.dumps(said["problems"])
    assert not LearningJob.objects.exists()


def test_a_corpus_that_is_not_there(client: Client, lab: Lab) -> None:
    assert ask(client, "models", 404, name="a", corpus="none")["detail"] == "there is no corpus 'none'"


def test_a_whole_corpus_is_not_measured_again(client: Client, lab: Lab, corpus: Path) -> None:
    assert ask(client, "corpora", 409, name="small", traces=120, seed=1)["detail"] == "corpus 'small' is whole already"


# -- taken elsewhere and brought back ------------------------------------------------------------------------------------------------


def exported(client: Client, path: str) -> bytes:
    answer = client.get(f"{URL}/{path}/export")
    assert answer.status_code == 200
    return b"".join(answer.streaming_content)  # type: ignore[attr-defined]


def brought(client: Client, kind: str, content: bytes, name: str = "", status: int = 201) -> dict[str, Any]:
    answer = client.post(f"{URL}/import/{kind}", {"file": SimpleUploadedFile("some.zip", content), "name": name})
    assert answer.status_code == status, answer.content
    told: dict[str, Any] = answer.json()
    return told


def packed(files: dict[str, bytes], kind: str = "models", name: str = "mine", compression: int = zipfile.ZIP_STORED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as archive:
        archive.writestr("millrace.json", json.dumps({"format": 1, "kind": kind, "name": name}))
        for path, content in files.items():
            archive.writestr(path, content)
    return made.getvalue()


def test_models_are_exported_and_imported_whole(client: Client, lab: Lab, data: Path) -> None:
    content = exported(client, "models/dev")
    assert brought(client, "models", content, "copy") == {"name": "copy"}
    shipped = cost_models.folders()["dev"]
    for file in shipped.rglob("*.json"):
        assert (data / "models" / "copy" / file.relative_to(shipped)).read_bytes() == file.read_bytes()
    assert {one["name"]: one["promoted"] for one in listed(client)["models"]} == {"copy": True, "dev": False}
    told = brought(client, "models", content, "copy", 422)
    assert told["detail"] == "there is already something of the name 'copy'; give another one, or delete it first"
    assert not list((data / "models").glob(".importing*"))


def test_a_corpus_is_exported_and_imported(client: Client, lab: Lab, data: Path, corpus: Path) -> None:
    content = exported(client, "corpora/small")
    (before,) = listed(client)["corpora"]
    assert brought(client, "corpora", content, "again") == {"name": "again"}
    found = {one["name"]: one for one in listed(client)["corpora"]}
    assert found["again"] == before | {"name": "again"}
    assert corpora.digest(data / "corpora" / "again") == corpora.digest(corpus)
    assert client.get(f"{URL}/corpora/none/export").status_code == 404


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"no zip", "the file is no archive of Millrace, or it is damaged"),
        (packed({"throughput-42/model.json": b"{}"}), "throughput-42: model.json is not of format 1"),
        (packed({}), "the archive holds no model"),
        (packed({"../../evil-1/model.json": b"{}"}), "the archive holds '../../evil-1/model.json', which is no part of models"),
        (packed({"throughput-42/code.py": b"print()"}), "the archive holds 'throughput-42/code.py', which is no part of models"),
        (packed({"throughput-42/model.json": b"{}"}, compression=zipfile.ZIP_BZIP2), "compressed in a way that is not read"),
        (packed({}, kind="corpus"), "the file holds corpus of format 1, not models of format 1"),
        (packed({}, name="No Name"), "name is 'No Name'; it must be lower-case letters"),
    ],
)
def test_archives_that_are_none_are_refused(client: Client, lab: Lab, data: Path, content: bytes, says: str) -> None:
    told = brought(client, "models", content, status=422)
    assert says in told["detail"]
    assert told["problems"][0]["pointer"] == "/file"
    assert not (data / "models").exists() or not list((data / "models").iterdir())


def test_models_with_broken_weights_and_torn_parts_are_refused(client: Client, lab: Lab, corpus: Path) -> None:
    shipped = cost_models.folders()["dev"] / "success-42"
    description, weights = (shipped / "model.json").read_bytes(), (shipped / "weights.npz").read_bytes()
    files = {"success-42/model.json": description, "success-42/weights.npz": weights[: len(weights) // 2]}
    assert "the model does not fit this version" in brought(client, "models", packed(files), status=422)["detail"]
    torn = {"corpus.json": (corpus / "corpus.json").read_bytes(), "part-00000.parquet": b"PAR1 and no end"}
    assert "part-00000.parquet is torn" in brought(client, "corpora", packed(torn, "corpus"), status=422)["detail"]
    assert "is no card" in brought(client, "corpora", packed({"corpus.json": b"[]"}, "corpus"), status=422)["detail"]


def test_promoted_models_are_asked_first(client: Client, lab: Lab, data: Path) -> None:
    content = exported(client, "models/dev")
    for name in ("a", "b"):
        brought(client, "models", content, name)
    assert next(iter(cost_models.folders())) == "a"
    assert client.post(f"{URL}/models/dev/promote").status_code == 204
    assert next(iter(cost_models.folders())) == "dev"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: cost_models.promote("ab"[n % 2], "ada"), range(40)))
    assert cost_models.promoted() in ("a", "b")
    assert [one["promoted"] for one in listed(client)["models"]] == [True, False, False]
    assert not list((data / "models").glob(".promoted*")), "nothing is left of those that came too late"
    assert client.post(f"{URL}/models/none/promote").status_code == 404
    shutil.rmtree(data / "models" / cost_models.promoted())
    assert len(cost_models.folders()) == 2, "what was promoted may be gone"


def test_models_in_training_are_not_promoted(client: Client, lab: Lab, data: Path) -> None:
    (data / "models" / "half").mkdir(parents=True)
    assert "cannot tell yet" in client.post(f"{URL}/models/half/promote").json()["detail"]
