"""Uploading files through the API. What makes a file unusable is tested in tests/workloads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from webapp.lab.models import Dataset, Lab

from .conftest import ROOT

pytestmark = pytest.mark.django_db

GOOD = b"time,user,amount\n2026-01-01T00:00:00Z,ann,1.5\n2026-01-01T00:00:01Z,bob,2\n"


def upload(client: Client, content: bytes, file_name: str = "payments.csv", **fields: str) -> Any:
    return client.post("/api/datasets", {"file": SimpleUploadedFile(file_name, content), **fields})


@pytest.fixture(autouse=True)
def nothing_is_left_behind(lab: Lab) -> Any:
    yield
    assert list(Path(settings.UPLOADS_DIR).iterdir()) == []


def test_a_csv_file_is_kept_and_described(client: Client, document: dict[str, Any]) -> None:
    answer = upload(client, GOOD)
    assert answer.status_code == 201
    made = answer.json()
    assert (made["name"], made["rows"], made["bytes"], made["timestamps"]) == ("payments", 2, len(GOOD), ["time"])
    assert [(column["name"], column["type"]) for column in made["columns"]] == [
        ("time", "timestamp"),
        ("user", "string"),
        ("amount", "float"),
    ]
    assert made["columns"][1]["sample"] == ["ann", "bob"]
    detail = client.get(f"/api/datasets/{made['id']}").json()
    assert detail["preview"][0]["user"] == "ann"
    assert detail["preview"][0]["time"].startswith("2026-01-01T00:00:00")
    assert [item["id"] for item in client.get("/api/datasets").json()] == [made["id"]]
    source = {"stream": {"kind": "file", "dataset": "payments", "timestamp": "time"}, "rate": {"kind": "recorded"}}
    document["workload"]["sources"]["bids"] = source
    body = client.post("/api/validate", {"document": document}, content_type="application/json").json()
    assert [field["name"] for field in body["schemas"]["bids.out"]["fields"]] == ["time", "user", "amount"]
    assert body["event_zero"] == "2026-01-01T00:00:00Z"


def test_a_real_parquet_file_is_kept_and_described(client: Client) -> None:
    content = (ROOT / "fixtures" / "data" / "flights.parquet").read_bytes()
    made = upload(client, content, "flights.parquet", name="My flights").json()
    assert (made["name"], made["rows"]) == ("My flights", 113_493)
    assert len(client.get(f"/api/datasets/{made['id']}").json()["preview"]) == 20


@pytest.mark.parametrize(
    ("content", "mentions"),
    [
        (b"", "empty"),
        (b"time,user\n", "no rows"),
        (b"time,user\n2026-01-01T00:00:00Z,ann,surplus\n", "line 2"),
        (b"time,time\n2026-01-01T00:00:00Z,2\n", "time"),
        (b"time,user\n2026-01-01T00:00:00Z,\xff\xfe\n", "UTF-8"),
        (b"user,city\nann,Rome\n", "timestamp"),
        (b"PAR1 cut off", "Parquet"),
    ],
)
def test_an_unusable_file_is_422_and_says_where(client: Client, content: bytes, mentions: str) -> None:
    answer = upload(client, content, "bad.csv")
    assert answer.status_code == 422
    body = answer.json()
    assert mentions in body["detail"]
    assert {"line", "column", "value"} <= set(body["problems"][0])
    assert Dataset.objects.count() == 0


ABROAD = b"Zeit;class;Preis\n31.01.2026 12:00:00;a;1,5\n31.01.2026 12:00:01;b;n/a\n31.01.2026 12:00:02;a;2,5\n"


def preview(client: Client, content: bytes, **fields: str) -> Any:
    return client.post("/api/datasets/preview", {"file": SimpleUploadedFile("rides.csv", content), **fields})


def test_a_preview_proposes_a_reading_and_stores_nothing(client: Client) -> None:
    answer = preview(client, ABROAD)
    assert answer.status_code == 200
    shown = answer.json()
    assert (shown["reading"]["delimiter"], shown["reading"]["decimal"], shown["rows"]) == (";", ",", 3)
    assert [column["type"] for column in shown["reading"]["columns"]] == ["timestamp", "string", "float"]
    assert shown["read"][0] == ["2026-01-31T12:00:00.000000000Z", "a", 1.5]
    assert shown["written"][1] == ["31.01.2026 12:00:01", "b", "n/a"]
    assert (shown["missing"], shown["bad"]) == ([0, 0, 1], [0, 0, 0])
    [problem] = shown["problems"]
    assert (problem["pointer"], problem["line"], problem["column"]) == ("/columns/2/type", 3, "Preis")
    assert {"pointer": "/columns/2/type", "text": "1 of 3 rows hold 'n/a'"} in shown["reasons"]
    assert Dataset.objects.count() == 0


def test_a_reading_is_applied_kept_and_shown(client: Client) -> None:
    choices = {"missing": "skip_row", "columns": [{"written": "Preis", "name": "price"}]}
    reading = preview(client, ABROAD, reading=json.dumps(choices)).json()["reading"]
    made = upload(client, ABROAD, "rides.csv", reading=json.dumps(reading))
    assert made.status_code == 201
    assert (made.json()["rows"], [column["name"] for column in made.json()["columns"]]) == (2, ["Zeit", "class", "price"])
    detail = client.get(f"/api/datasets/{made.json()['id']}").json()
    assert detail["reading"] == reading
    assert detail["counts"] == {"rows": 3, "rows_skipped": 1, "missing": {"price": 1}, "bad": {}}
    again = upload(client, ABROAD, "again.csv", reading=json.dumps(choices)).json()
    other = upload(client, ABROAD, "other.csv", reading=json.dumps({"missing": "skip_row"})).json()
    hashes = [client.get(f"/api/datasets/{one['id']}").json()["hash"] for one in (made.json(), again, other)]
    assert hashes[0] == hashes[1] != hashes[2]
    assert len(hashes[0]) == 64


def test_a_data_set_from_before_readings_has_none(client: Client) -> None:
    made = upload(client, GOOD).json()
    Dataset.objects.update(reading=None, counts=None, hash="")
    detail = client.get(f"/api/datasets/{made['id']}").json()
    assert (detail["reading"], detail["counts"], detail["hash"]) == (None, None, None)
    assert detail["preview"][0]["user"] == "ann"


@pytest.mark.parametrize(
    ("reading", "pointer", "mentions"),
    [
        ("{", "/reading", "reading is not valid JSON"),
        ("[" * 100_000, "/reading", "reading is nested too deeply; at most 64 levels are allowed"),
        ("9" * 5000, "/reading", "reading contains a number with too many digits; at most 4,300 are allowed"),
        ('{"nulls": ["\\u0000"]}', "/reading/nulls/0", "NUL"),
        ("[]", "/reading", "it must be a mapping"),
        ('{"decimal": "x"}', "/reading/decimal", "decimal is 'x'; it must be '.' or ','"),
        ('{"columns": [{"written": "nope"}]}', "/reading/columns/0/written", "the file has no column 'nope'"),
    ],
)
def test_a_reading_that_cannot_be_used_is_refused_by_its_field(client: Client, reading: str, pointer: str, mentions: str) -> None:
    for ask in (preview, upload):
        answer = ask(client, GOOD, reading=reading)
        assert answer.status_code == 422
        assert mentions in answer.json()["detail"]
        assert answer.json()["problems"][0]["pointer"] == pointer
    assert Dataset.objects.count() == 0


def test_a_contradicting_reading_is_shown_in_the_preview_and_refused_as_an_upload(client: Client) -> None:
    twice = json.dumps({"columns": [{"written": "user", "name": "time"}]})
    assert [problem["pointer"] for problem in preview(client, GOOD, reading=twice).json()["problems"]] == ["/columns/1/name"]
    answer = upload(client, GOOD, reading=twice)
    assert (answer.status_code, answer.json()["problems"][0]["pointer"]) == (422, "/reading/columns/1/name")


def test_a_preview_looks_at_the_first_megabyte_of_text(client: Client) -> None:
    rows = b"2026-01-01T00:00:00Z,ann,1.5\n" * 60_000
    shown = preview(client, b"time,user,amount\n" + rows + b"x", whole="false").json()
    assert (len(shown["written"]), shown["problems"]) == (50, [])
    assert 30_000 < shown["rows"] < 40_000
    for content, mentions in ((b"", "empty"), (b"PAR1", "Parquet"), (b"a,b\n1,\xff\n", "UTF-8"), (bytes(100), "not text")):
        answer = preview(client, content)
        assert (answer.status_code, mentions in answer.json()["detail"]) == (422, True), content


def test_a_parquet_file_takes_no_reading(client: Client) -> None:
    content = (ROOT / "fixtures" / "data" / "flights.parquet").read_bytes()
    answer = upload(client, content, "flights.parquet", reading="{}")
    assert (answer.status_code, "has types of its own" in answer.json()["detail"]) == (422, True)


def test_a_line_is_named_as_a_number_too(client: Client) -> None:
    problem = upload(client, GOOD + b"2026-01-01T00:00:02Z,cid\n").json()["problems"][0]
    assert problem["line"] == 4


@pytest.mark.parametrize("name", ["../up", "a/b", ".hidden", "a\\b", "n" * 101, "zero\x00", "é" * 100 + "x"])
def test_a_name_that_cannot_be_one_is_refused(client: Client, name: str) -> None:
    answer = upload(client, GOOD, name=name)
    assert answer.status_code == 422
    assert answer.json()["problems"][0]["pointer"] == "/name"
    assert Dataset.objects.count() == 0


def test_a_name_is_given_once(client: Client) -> None:
    assert upload(client, GOOD).status_code == 201
    again = upload(client, GOOD)
    assert again.status_code == 409
    assert "another name" in again.json()["detail"]


def test_a_form_without_a_file_is_refused(client: Client) -> None:
    assert client.post("/api/datasets", {"name": "x"}).status_code == 422
    assert client.post("/api/datasets", "{}", content_type="application/json").status_code in (400, 422)
    broken = client.post("/api/datasets", b"nothing", content_type="multipart/form-data; boundary=x")
    assert broken.status_code in (400, 422)
    assert client.post("/api/datasets", b"nothing", content_type="multipart/form-data").status_code in (400, 422)


def test_a_file_above_the_limit_is_refused(client: Client, settings: Any) -> None:
    settings.UPLOAD_BYTES_MAX = 50
    answer = upload(client, GOOD)
    assert answer.status_code == 422
    assert "50" in answer.json()["detail"]


def replaying(document: dict[str, Any], dataset: str) -> dict[str, Any]:
    source = {"stream": {"kind": "file", "dataset": dataset, "timestamp": "time"}, "rate": {"kind": "recorded"}}
    return {**document, "workload": {**document["workload"], "sources": {**document["workload"]["sources"], "bids": source}}}


def codes(client: Client, document: dict[str, Any]) -> set[str]:
    answer = client.post("/api/validate", {"document": document}, content_type="application/json").json()
    return {problem["code"] for problem in answer["problems"]}


def test_a_deleted_data_set_is_gone_for_documents_until_it_is_restored(client: Client, document: dict[str, Any]) -> None:
    made = upload(client, GOOD).json()
    address = f"/api/datasets/{made['id']}"
    replay = replaying(document, "payments")
    assert "unknown_dataset" not in codes(client, replay)
    assert client.delete(address).status_code == 204
    assert client.delete(address).status_code == 404
    assert client.get(address).status_code == 404
    assert client.get("/api/datasets").json() == []
    assert "unknown_dataset" in codes(client, replay)
    for _ in range(2):
        assert client.post(f"{address}/restore").status_code == 204
    assert client.get("/api/datasets").json() == [made]
    assert "unknown_dataset" not in codes(client, replay)


def test_a_name_is_free_again_after_a_deletion_and_then_not_to_be_had_back(client: Client) -> None:
    first = upload(client, GOOD).json()
    client.delete(f"/api/datasets/{first['id']}")
    second = upload(client, GOOD + b"2026-01-01T00:00:02Z,eve,3\n").json()
    answer = client.post(f"/api/datasets/{first['id']}/restore")
    assert answer.status_code == 409
    assert "another data set named 'payments'" in answer.json()["detail"]
    client.delete(f"/api/datasets/{second['id']}")
    assert client.post(f"/api/datasets/{first['id']}/restore").status_code == 204
    assert client.get(f"/api/datasets/{first['id']}").json()["rows"] == 2


def test_uses_counts_experiments_that_name_a_data_set(client: Client, document: dict[str, Any]) -> None:
    delays = {"kind": "file", "dataset": "gaps", "column": "ms"}
    source = {**replaying(document, "payments")["workload"]["sources"]["bids"], "disorder": delays}
    both = {**document, "workload": {"sources": {"bids": source, "more": source}}}
    for draft in (document, replaying(document, "payments"), both, {"workload": "none"}, {}):
        assert client.post("/api/experiments", {"document": draft}, content_type="application/json").status_code == 201
    assert client.get("/api/datasets/uses").json() == {"payments": 2, "gaps": 1}


def test_a_data_set_of_another_lab_cannot_be_deleted(client: Client) -> None:
    made = upload(client, GOOD).json()
    Dataset.objects.update(lab=Lab.objects.create(name="Elsewhere"))
    assert client.delete(f"/api/datasets/{made['id']}").status_code == 404
    assert client.post(f"/api/datasets/{made['id']}/restore").status_code == 404
