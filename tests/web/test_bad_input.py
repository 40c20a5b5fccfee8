"""Every bad request gets a status that fits, a sentence, and no stack trace. What is wrong inside documents is tested in tests/spec."""

from __future__ import annotations

import json
import re
import uuid
from typing import Annotated, Any, get_args, get_origin

import httpx
import pytest
from django.conf import settings
from django.test import Client
from pydantic import Strict

from webapp.api.parsing import Body
from webapp.lab.models import Experiment, Run

pytestmark = pytest.mark.django_db

UNKNOWN = uuid.UUID(int=7)


def post(client: Client, path: str, body: str | bytes) -> Any:
    return client.post(path, body, content_type="application/json")


def is_an_error(answer: Any, status: int) -> dict[str, Any]:
    """The answer's body, which has the one shape of errors."""
    assert answer.status_code == status, answer.content[:500]
    assert answer["Content-Type"].startswith("application/json")
    body: dict[str, Any] = answer.json()
    assert isinstance(body["detail"], str)
    assert len(body["detail"]) > 10
    assert isinstance(body["problems"], list)
    assert "Traceback" not in answer.content.decode()
    return body


@pytest.mark.parametrize(
    ("body", "status", "mentions"),
    [
        ("{", 400, "line 1"),
        ("", 422, "required"),
        (b"\xff\xfe", 400, "UTF-8"),
        ('{"document": ' + "[" * 100_000, 400, "nested"),
        ('{"document": {"a": ' + "[" * 200 + "]" * 200 + "}}", 422, "64 levels"),
        ('{"document": {"x": ' + "9" * 5000 + "}}", 400, "4,300"),
        ('{"document": {"workload": {"rate": NaN}}}', 422, "/workload/rate"),
        ('{"document": {"workload": {"rate": -Infinity}}}', 422, "/workload/rate"),
        ('{"document": {"a": 1e999}}', 422, "/a"),
        ('{"document": {"name": "zero \\u0000"}}', 422, "/name"),
        ('{"document": {"name": "half \\ud800"}}', 422, "/name"),
        ('{"document": {"key \\u0000": 1}}', 422, "key"),
        ("{}", 422, "/document"),
        ("[]", 422, "object"),
        ("null", 422, "is null"),
        ("3", 422, "a number"),
        ('{"document": []}', 422, "/document"),
        ('{"document": "text"}', 422, "/document"),
        ('{"document": null}', 422, "/document"),
        ('{"document": {}, "documnet": {}}', 422, "/documnet"),
    ],
)
@pytest.mark.parametrize("path", ["/api/experiments", "/api/validate"])
def test_a_bad_body_is_refused_with_its_place(client: Client, path: str, body: str | bytes, status: int, mentions: str) -> None:
    error = is_an_error(post(client, path, body), status)
    assert mentions in json.dumps(error, ensure_ascii=False)
    assert Experiment.objects.count() == 0


@pytest.mark.parametrize(
    "document", [{}, {"name": 5}, {"query": None}, {"format": 99}, {"workload": []}, {"format": 1, "query": {"operators": [3]}}]
)
def test_drafts_may_be_invalid_and_their_problems_come_back(client: Client, document: dict[str, Any]) -> None:
    answer = client.post("/api/experiments", {"document": document}, content_type="application/json")
    assert answer.status_code == 201
    made = answer.json()
    assert made["problems"]
    assert made["document"] == document
    refused = client.post(f"/api/experiments/{made['id']}/runs", {}, content_type="application/json")
    assert is_an_error(refused, 422)["problems"] == made["problems"]
    assert Run.objects.count() == 0


def test_5000_operators_are_told_what_is_allowed(client: Client, document: dict[str, Any]) -> None:
    document["query"]["operators"] = [{"id": f"o{n}", "kind": "map"} for n in range(5000)]
    body = client.post("/api/validate", {"document": document}, content_type="application/json").json()
    assert [(problem["pointer"], problem["code"]) for problem in body["problems"]] == [("/query/operators", "budget")]
    assert "5,000" in body["problems"][0]["message"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("get", f"/api/experiments/{UNKNOWN}"),
        ("delete", f"/api/experiments/{UNKNOWN}"),
        ("post", f"/api/experiments/{UNKNOWN}/runs"),
        ("get", f"/api/runs/{UNKNOWN}"),
        ("post", f"/api/runs/{UNKNOWN}/cancel"),
        ("post", f"/api/runs/{UNKNOWN}/rerun"),
        ("delete", f"/api/runs/{UNKNOWN}"),
        ("get", f"/api/runs/{UNKNOWN}/frames"),
        ("get", f"/api/datasets/{UNKNOWN}"),
        ("get", "/api/experiments/not-an-id"),
        ("get", "/api/runs/1"),
        ("get", "/api/nothing"),
    ],
)
def test_what_is_unknown_is_404(client: Client, method: str, path: str) -> None:
    is_an_error(getattr(client, method)(path, content_type="application/json"), 404)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("state=odd", "state"),
        ("experiment=odd", "experiment"),
        ("limit=0", "limit"),
        ("limit=100000", "limit"),
        ("limit=many", "limit"),
        ("offset=-1", "offset"),
        ("search=%00", "search"),
        ("search=" + "a" * 4001, "search"),
    ],
)
def test_a_bad_filter_names_its_field(client: Client, query: str, field: str) -> None:
    assert is_an_error(client.get(f"/api/runs?{query}"), 422)["problems"][0]["pointer"] == f"/{field}"


@pytest.mark.parametrize("query", ["after=x", "limit=x"])
def test_a_bad_page_of_frames_is_refused(client: Client, experiment: Experiment, query: str) -> None:
    is_an_error(client.get(f"/api/runs/{UNKNOWN}/frames?{query}"), 422)


@pytest.mark.parametrize(
    "body",
    [
        '{"seed": "x"}',
        '{"seed": 1.5}',
        '{"seed": true}',
        '{"seed": "7"}',
        '{"seed": 2.0}',
        '{"version": "x"}',
        '{"version": true}',
        '{"pace": true}',
        '{"pace": "2"}',
        "[1]",
        '{"sed": 1}',
    ],
)
def test_a_bad_start_is_refused(client: Client, experiment: Experiment, body: str) -> None:
    is_an_error(post(client, f"/api/experiments/{experiment.pk}/runs", body), 422)


def bodies(base: type[Body] = Body) -> list[type[Body]]:
    return [one for body in base.__subclasses__() for one in (body, *bodies(body))]


def scalars(annotation: Any, is_strict: bool = False) -> list[tuple[Any, bool]]:
    """The numbers and truths in an annotation, and whether each takes nothing else for one."""
    if get_origin(annotation) is Annotated:
        return scalars(annotation.__origin__, is_strict or any(isinstance(one, Strict) for one in annotation.__metadata__))
    if annotation in (int, float, bool):
        return [(annotation, is_strict)]
    return [found for one in get_args(annotation) for found in scalars(one)]


def test_numbers_and_truths_of_bodies_are_strict() -> None:
    """true is no seed, and neither are "7" and 2.0: whoever sends them means something else."""
    found = [
        (body.__name__, name, strict or any(isinstance(one, Strict) for one in field.metadata))
        for body in bodies()
        for name, field in body.model_fields.items()
        for _, strict in scalars(field.annotation)
    ]
    assert len(found) > 15
    assert [name for name in found if not name[2]] == []


@pytest.mark.parametrize("seed", [-1, 2**53, 10**30])
def test_a_seed_out_of_range_is_a_problem_of_the_document(client: Client, experiment: Experiment, seed: int) -> None:
    error = is_an_error(post(client, f"/api/experiments/{experiment.pk}/runs", json.dumps({"seed": seed})), 422)
    assert error["problems"][0]["pointer"] == "/workload/seed"


def test_a_method_that_is_not_there_is_405(client: Client) -> None:
    assert client.patch("/api/experiments").status_code == 405


def test_an_unknown_error_shows_an_id_that_the_log_explains(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("webapp.api.documents.registry.operators", lambda: 1 / 0)
    body = is_an_error(client.get("/api/registry"), 500)
    assert "division" not in json.dumps(body)
    id = re.fullmatch(r"server error ([0-9a-f]{8}); .*", body["detail"])[1]  # type: ignore[index]
    assert f"error {id}: GET /api/registry failed" in caplog.text
    assert "ZeroDivisionError" in caplog.text


# --- size: refused by the ASGI server's middleware before Django reads the body -----------------------------------------------------------


@pytest.fixture
def asgi() -> httpx.AsyncClient:
    from webapp.asgi import application

    return httpx.AsyncClient(transport=httpx.ASGITransport(application), base_url="http://127.0.0.1")


async def test_a_10_mb_document_is_413(asgi: httpx.AsyncClient, transactional_db: None) -> None:
    body = json.dumps({"document": {"description": "x" * 10_000_000}})
    answer = await asgi.post("/api/experiments", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 413
    assert f"{settings.DOCUMENT_BYTES_MAX:,}" in answer.json()["detail"]


async def test_a_large_body_without_a_length_is_413(asgi: httpx.AsyncClient, transactional_db: None) -> None:
    async def endless() -> Any:
        for _ in range(1000):
            yield b"x" * 65_536

    answer = await asgi.post("/api/validate", content=endless())
    assert answer.status_code == 413


async def test_an_upload_may_be_larger_than_a_document(asgi: httpx.AsyncClient, transactional_db: None) -> None:
    answer = await asgi.post("/api/datasets", files={"file": ("a.csv", b"x" * (settings.DOCUMENT_BYTES_MAX + 1000))})
    assert answer.status_code == 401


def test_behind_a_server_without_that_middleware_it_is_413_too(client: Client) -> None:
    is_an_error(post(client, "/api/validate", "x" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)), 413)
