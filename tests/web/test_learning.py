"""Corpora and models made by workers: asked for, followed, cancelled, lost, deleted and had back; and what is refused."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from engine.corpus import corpora
from engine.corpus.corpora import write_card
from engine.costmodels.storage import PROGRESS, save
from webapp.lab import cost_models
from webapp.lab.models import Lab, LearningJob, RunState
from workers import caretaker, learning

from ..engine.learning import made_up
from ..support.untrained_models import FACTS, put_models, untrained
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
    (place / PROGRESS).write_text(json.dumps({"throughput-42": epochs}))
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
    answer: Any = client.get(f"{URL}/{path}/export")
    assert answer.status_code == 200

    async def content() -> bytes:
        return b"".join([chunk async for chunk in answer.streaming_content])

    found: bytes = async_to_sync(content)()
    assert answer["Content-Length"] == str(len(found))
    return found


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
    shipped = cost_models.folders(data)["dev"]
    for file in shipped.rglob("*.json"):
        assert (data / "models" / "copy" / file.relative_to(shipped)).read_bytes() == file.read_bytes()
    assert {one["name"]: one["promoted"] for one in listed(client)["models"]} == {"copy": True, "dev": False}
    told = brought(client, "models", content, "copy", 422)
    assert told["detail"] == "models 'copy' already exist; choose another name, or delete them"
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
    shipped = cost_models.folders(lab.home)["dev"] / "success-42"
    description, weights = (shipped / "model.json").read_bytes(), (shipped / "weights.npz").read_bytes()
    files = {"success-42/model.json": description, "success-42/weights.npz": weights[: len(weights) // 2]}
    assert "the model does not fit this version" in brought(client, "models", packed(files), status=422)["detail"]
    torn = {"corpus.json": (corpus / "corpus.json").read_bytes(), "part-00000.parquet": b"PAR1 and no end"}
    assert "part-00000.parquet is torn" in brought(client, "corpora", packed(torn, "corpus"), status=422)["detail"]
    told = brought(client, "corpora", packed({"corpus.json": b"[]"}, "corpus"), status=422)
    assert "corpus.json is missing or is not a valid corpus description" in told["detail"]


SHIPPED = Path(settings.BASE_DIR) / "fixtures" / "models" / "dev" / "success-42"


def model_files(**changes: Any) -> dict[str, bytes]:
    """An archive's files of one model, with another description."""
    description = json.loads((SHIPPED / "model.json").read_text()) | changes
    return {"success-42/model.json": json.dumps(description).encode(), "success-42/weights.npz": (SHIPPED / "weights.npz").read_bytes()}


def with_scales(**changes: Any) -> dict[str, Any]:
    """The encoder of a shipped model with other features of hosts."""
    encoder: dict[str, Any] = json.loads((SHIPPED / "model.json").read_text())["encoder"]
    encoder["scales"]["host"] |= changes
    return encoder


def with_bomb() -> bytes:
    """Weights in which one array claims to have 2^45 numbers."""
    made = io.BytesIO()
    with zipfile.ZipFile(SHIPPED / "weights.npz") as kept, zipfile.ZipFile(made, "w") as archive:
        for name in kept.namelist():
            content = kept.read(name)
            archive.writestr(name, content.replace(b"(1, 32)", f"({2**45},)".encode()))
    return made.getvalue()


MODELS_REFUSED: dict[str, tuple[dict[str, bytes], str]] = {
    "a report that is a number": (model_files() | {"report.json": b"5"}, "report.json: Input should be a valid array"),
    "a report of another cost": (
        model_files() | {"report.json": b'[{"metric": "price", "traces": {}, "off": {}}]'},
        "report.json at 0.metric: Input should be 'throughput'",
    ),
    "a report with no number": (
        model_files() | {"report.json": b'[{"metric": "flows", "traces": {}, "off": {"costream": {"q50": NaN}}}]'},
        "report.json at 0.off.costream.q50.float: Input should be a finite number",
    ),
    "facts of other types": (
        model_files(facts={"corpus": 5, "traces": "many"}),
        "success-42, facts at corpus: Input should be a valid string",
    ),
    "epochs that are numbers": (model_files(epochs=[1, 2]), "success-42, epochs at 0: Input should be a valid dictionary"),
    "another feature": (
        model_files(encoder=with_scales(gpu={"median": 0, "spread": 1, "least": 0, "most": 1})),
        "host has feature gpu; this version has bandwidth, cpu, latency, ram",
    ),
    "a description of brackets": (model_files() | {"success-42/model.json": b"[" * 200_000}, "model.json cannot be read"),
    "an array of 2^45 numbers": (model_files() | {"success-42/weights.npz": with_bomb()}, "has shape (35184372088832,)"),
    "too many weights": (
        model_files(architecture={"hidden": 4096, "classifies": True}),
        "the models have more than 134,217,728 weights",
    ),
}


@pytest.mark.parametrize("how", MODELS_REFUSED)
def test_models_that_would_break_the_page_are_refused(client: Client, lab: Lab, data: Path, how: str) -> None:
    files, says = MODELS_REFUSED[how]
    assert says in brought(client, "models", packed(files), status=422)["detail"]
    assert not list((data / "models").iterdir())


CARD: dict[str, Any] = {"draw": "training", "seed": 1, "traces": 120, "measured_by": "0" * 16, "per_part": 50}


def corpus_files(files: dict[str, bytes] = {}, **card: Any) -> bytes:  # noqa: B006 not changed
    return packed({"corpus.json": json.dumps(CARD | card).encode(), **files}, "corpus")


CORPORA_REFUSED: dict[str, tuple[bytes, str]] = {
    "no traces in a part": (corpus_files(per_part=0), "(corpus.json at per_part: Input should be greater than or equal to 1)"),
    "more on the card": (corpus_files(colour="red"), "(corpus.json at colour: Extra inputs are not permitted)"),
    "a card of brackets": (
        packed({"corpus.json": b"[" * 200_000}, "corpus"),
        "not a valid corpus description (corpus.json: Invalid JSON",
    ),
    "a balance that is a list": (corpus_files({"balance.json": b"[]"}), "balance.json: Input should be an object"),
    "no Parquet": (corpus_files({"part-00000.parquet": b"PAR1garbagePAR1"}), "part-00000.parquet is torn; export the corpus again"),
}


@pytest.mark.parametrize("how", CORPORA_REFUSED)
def test_corpora_that_would_break_the_page_are_refused(client: Client, lab: Lab, data: Path, how: str) -> None:
    content, says = CORPORA_REFUSED[how]
    assert says in brought(client, "corpora", content, status=422)["detail"]
    assert not list((data / "corpora").iterdir())


def test_parts_of_another_corpus_are_refused(client: Client, lab: Lab, corpus: Path) -> None:
    whole, last = ((corpus / f"part-0000{number}.parquet").read_bytes() for number in (0, 2))
    columns = io.BytesIO()
    parquet.write_table(pa.table({"index": list(range(50))}), columns)
    for files, says in (
        ({"part-00000.parquet": last}, "part-00000.parquet has 20 traces, not 50"),
        ({"part-00003.parquet": whole}, "part-00003.parquet has 50 traces, not 0"),
        ({"part-00000.parquet": columns.getvalue()}, "part-00000.parquet has other columns than corpora of this version"),
    ):
        assert says in brought(client, "corpora", corpus_files(files), status=422)["detail"]


def patched(content: bytes, at: int, new: bytes) -> bytes:
    """Other bytes in the first entry of the directory of a ZIP."""
    start = content.index(b"PK\1\2") + at
    return content[:start] + new + content[start + len(new) :]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (patched(packed({}), 6, b"\x63\0"), "the file is no archive of Millrace, or it is damaged (zip file version 9.9)"),
        (patched(packed({}), 8, b"\x20\0"), "the file is no archive of Millrace, or it is damaged (compressed patched data"),
        (patched(patched(packed({}), 8, b"\0\x08"), 46, b"\xff"), "the file is no archive of Millrace, or it is damaged ('utf-8' codec"),
        (packed({}, name="n" * (64 << 10)), "millrace.json has 65,"),
        (
            packed({"report.json": bytes(17 << 20)}, compression=zipfile.ZIP_DEFLATED),
            "report.json has 17,825,792 bytes",
        ),
    ],
    ids=["a later version", "patched data", "a name that is no text", "a long manifest", "a long report"],
)
def test_archives_that_python_does_not_read_are_refused(client: Client, lab: Lab, content: bytes, says: str) -> None:
    assert says in brought(client, "models", content, status=422)["detail"]


def test_archives_are_refused_under_names_that_are_taken(client: Client, lab: Lab, corpus: Path) -> None:
    shipped = exported(client, "models/dev")
    told = brought(client, "models", shipped, status=422)
    assert told["detail"] == "models 'dev' come with Millrace; choose another name"
    told = brought(client, "models", packed({}, kind="corpus"), "mine", 422)
    assert told["detail"] == "the file holds corpus of format 1, not models of format 1", "whatever name is given"
    ask(client, "models", name="mine", corpus="small")
    told = brought(client, "models", shipped, "mine", 422)
    assert told["detail"] == "a job for models 'mine' is in progress; choose another name, or cancel the job"


def test_what_imports_left_that_died_is_removed(client: Client, lab: Lab, data: Path) -> None:
    died, busy = (data / "models" / f".importing-{name}" for name in ("died", "busy"))
    for folder in (died, busy):
        (folder / "success-42").mkdir(parents=True)
    os.utime(died, (0, 0))
    brought(client, "models", packed(model_files()))
    assert not died.exists()
    assert busy.exists()


def test_folders_that_were_copied_here_never_break_the_list(client: Client, lab: Lab, data: Path, corpus: Path) -> None:
    put_models(data / "models" / "good", members=1)
    bad = data / "models" / "bad"
    shutil.copytree(data / "models" / "good", bad)
    (bad / "report.json").write_text("5")
    (bad / "progress.json").write_text('{"price-1": []}')
    description = json.loads((bad / "flows-0" / "model.json").read_text())
    (bad / "flows-0" / "model.json").write_text(json.dumps(description | {"facts": {"corpus": 5}, "epochs": [1, 2]}))
    (bad / "success-0" / "model.json").write_text("[]")
    (data / "models" / "promoted.json").write_text('{"name": 5}')
    (corpus / "balance.json").write_text("[]")
    shutil.copytree(corpus, corpus.parent / "wrong")
    (corpus.parent / "wrong" / "corpus.json").write_text(json.dumps(CARD | {"per_part": 0}))
    found = listed(client)
    assert {one["name"]: one["promoted"] for one in found["models"]} == {"bad": False, "dev": False, "good": True}
    assert [(one["name"], one["balance"]) for one in found["corpora"]] == [("small", None)]
    detail = client.get(f"{URL}/models/bad").json()
    assert (detail["report"], {one["metric"] for one in detail["training"]}) == ([], cost_models.METRICS.keys() - {"success"})
    assert "models 'bad' cannot be loaded: success-0: model.json" in client.post(f"{URL}/models/bad/promote").json()["detail"]
    assert client.delete(f"{URL}/models/bad").status_code == 204


def test_exports_are_sent_in_pieces_and_say_why_they_cannot(
    client: Client, lab: Lab, data: Path, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    place = data / "models" / "mine"
    save(place / "success-0", untrained("success", 0), FACTS, [])
    os.utime(place / "success-0" / "model.json", (0, 0))  # before 1980, where the times of the format begin
    assert brought(client, "models", exported(client, "models/mine"), "again") == {"name": "again"}
    answer: Any = client.get(f"{URL}/models/mine/export")
    assert answer.is_async, "else the whole file would be in memory"
    (place.parent / "empty").mkdir()
    assert client.get(f"{URL}/models/empty/export").json()["detail"] == "'empty' has no files to export yet"
    monkeypatch.setattr(zipfile.ZipFile, "write", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left on device")))
    answer = client.get(f"{URL}/models/mine/export")
    assert (answer.status_code, answer.json()["detail"]) == (409, "'mine' cannot be packed: No space left on device")
    settings.UPLOADS_DIR = tmp_path / "none"
    assert "No such file or directory" in client.get(f"{URL}/models/mine/export").json()["detail"]


def test_a_corpus_with_a_torn_part_is_measured_again(client: Client, lab: Lab, corpus: Path) -> None:
    (corpus / "part-00001.parquet").write_bytes(b"torn")
    assert ask(client, "corpora", name="small", traces=120, seed=1)["state"] == "queued"


def test_the_default_is_what_can_be_asked(client: Client, lab: Lab, data: Path) -> None:
    """Whatever was set as the default, advice asks it only if it can."""
    put_models(data / "models" / "a", members=1)
    put_models(data / "models" / "b", members=1)
    cost_models.promote(data, "b")
    assert cost_models.default(data) == "b"
    shutil.rmtree(data / "models" / "b" / "flows-0")
    assert cost_models.default(data) == "a"
    assert [one["name"] for one in listed(client)["models"] if one["promoted"]] == ["a"]
    assert "are not ready" in client.post(f"{URL}/models/b/promote").json()["detail"]
    for cost in ("throughput", "processing_latency", "end_to_end_latency"):
        shutil.rmtree(data / "models" / "a" / f"{cost}-0")
    assert cost_models.default(data) == "dev", "a has no cost"


def test_promoted_models_are_the_default(client: Client, lab: Lab, data: Path) -> None:
    content = exported(client, "models/dev")
    for name in ("a", "b"):
        brought(client, "models", content, name)
    assert next(iter(cost_models.folders(data))) == "a"
    assert client.post(f"{URL}/models/dev/promote").status_code == 204
    assert next(iter(cost_models.folders(data))) == "dev"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: cost_models.promote(data, "ab"[n % 2]), range(40)))
    assert cost_models.promoted(data) in ("a", "b")
    assert [one["promoted"] for one in listed(client)["models"]] == [True, False, False]
    assert not list((data / "models").glob(".promoted*")), "nothing is left of those that came too late"
    assert client.post(f"{URL}/models/none/promote").status_code == 404
    shutil.rmtree(data / "models" / cost_models.promoted(data))
    assert len(cost_models.folders(data)) == 2, "what was promoted may be gone"


def test_models_in_training_are_not_promoted(client: Client, lab: Lab, data: Path) -> None:
    (data / "models" / "half").mkdir(parents=True)
    assert "are not ready; wait until" in client.post(f"{URL}/models/half/promote").json()["detail"]
