"""Experiments through the API."""

from __future__ import annotations

import threading
from typing import Any
from unittest import mock

import pytest
from django.db import connections
from django.test import Client

from engine.operators import OPERATORS, register
from tests.newcomers.operator import Distinct
from tests.support.similarity_examples import worksets
from webapp.lab import fixtures
from webapp.lab.models import Experiment, Lab, Run

from .conftest import new_experiment, new_run

pytestmark = pytest.mark.django_db


def send(client: Client, method: str, path: str, body: dict[str, Any]) -> Any:
    return getattr(client, method)(path, body, content_type="application/json")


def test_create_read_list(client: Client, document: dict[str, Any]) -> None:
    made = send(client, "post", "/api/experiments", {"document": document})
    assert made.status_code == 201
    experiment = made.json()
    assert (experiment["version"], experiment["document"], experiment["problems"]) == (1, document, [])
    assert client.get(f"/api/experiments/{experiment['id']}").json() == experiment
    (line,) = client.get("/api/experiments").json()
    assert (line["id"], line["name"], line["runs"]) == (experiment["id"], "Small Q1", 0)


def test_an_experiment_without_a_name_is_listed_nevertheless(client: Client) -> None:
    for document in ({}, {"name": "   "}, {"name": None}):
        send(client, "post", "/api/experiments", {"document": document})
    assert {line["name"] for line in client.get("/api/experiments").json()} == {"Untitled experiment"}


def test_autosave_counts_versions_and_refuses_an_old_one(client: Client, experiment: Experiment, document: dict[str, Any]) -> None:
    path = f"/api/experiments/{experiment.pk}"
    document["name"] = "Mine"
    saved = send(client, "put", path, {"version": 1, "document": document})
    assert (saved.status_code, saved.json()["version"]) == (200, 2)
    theirs = {**document, "name": "Theirs"}
    conflict = send(client, "put", path, {"version": 1, "document": theirs})
    assert conflict.status_code == 409
    assert (conflict.json()["version"], conflict.json()["document"]["name"]) == (2, "Mine")
    assert client.get(path).json()["document"]["name"] == "Mine"


@pytest.mark.django_db(transaction=True)
def test_of_two_who_save_at_once_one_wins(experiment: Experiment) -> None:
    results = []
    start = threading.Barrier(2)

    def save(name: str) -> None:
        mine = Experiment.objects.get(pk=experiment.pk)
        start.wait()
        results.append(mine.save_version(1, {"name": name}, ""))
        connections.close_all()

    threads = [threading.Thread(target=save, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [False, True]
    experiment.refresh_from_db()
    assert experiment.version == 2


def test_deleting_keeps_the_runs(client: Client, experiment: Experiment) -> None:
    run = new_run(experiment)
    assert client.delete(f"/api/experiments/{experiment.pk}").status_code == 204
    assert client.get("/api/experiments").json() == []
    assert client.get(f"/api/experiments/{experiment.pk}").status_code == 404
    assert client.get(f"/api/runs/{run.pk}").json()["experiment"]["name"] == "Small Q1"


def test_a_deleted_experiment_can_be_restored(client: Client, experiment: Experiment) -> None:
    client.delete(f"/api/experiments/{experiment.pk}")
    assert client.post(f"/api/experiments/{experiment.pk}/restore").status_code == 204
    assert [line["name"] for line in client.get("/api/experiments").json()] == ["Small Q1"]
    assert client.post("/api/experiments/00000000-0000-0000-0000-000000000000/restore").status_code == 404


def test_templates_are_as_they_came_and_examples_are_no_longer_called_so_once_somebody_works_on_them(client: Client, lab: Lab) -> None:
    fixtures.load(lab)
    templates = client.get("/api/templates").json()
    assert {"nexmark_q3", "taxi_rides"} <= {template["id"] for template in templates}
    assert all(line["example"] for line in client.get("/api/experiments").json())
    q3 = Experiment.objects.get(fixture="nexmark_q3")
    send(client, "put", f"/api/experiments/{q3.pk}", {"version": 1, "document": {**q3.document, "name": "mine"}})
    assert [line["name"] for line in client.get("/api/experiments").json() if not line["example"]] == ["mine"]
    assert client.get("/api/templates").json() == templates


def test_a_run_pins_the_version_that_the_person_saw(client: Client, experiment: Experiment, redis: Any) -> None:
    path = f"/api/experiments/{experiment.pk}/runs"
    refused = send(client, "post", path, {"version": 7})
    assert (refused.status_code, refused.json()["version"]) == (409, 1)
    run = send(client, "post", path, {"version": 1, "seed": 42})
    assert run.status_code == 201
    body = run.json()
    assert (body["state"], body["number"], body["seed"], body["note"]) == ("queued", 1, 42, None)
    assert body["document"]["workload"]["seed"] == 42
    assert client.get("/api/experiments").json()[0]["runs"] == 1


def test_a_run_may_be_started_without_a_body(client: Client, experiment: Experiment, redis: Any) -> None:
    assert client.post(f"/api/experiments/{experiment.pk}/runs", content_type="application/json", data="").status_code == 201


def test_the_hash_names_what_runs(client: Client, experiment: Experiment, redis: Any) -> None:
    path = f"/api/experiments/{experiment.pk}/runs"
    first, again, other = (send(client, "post", path, {"seed": seed}).json() for seed in (5, 5, 6))
    assert first["hash"] == again["hash"] != other["hash"]


def test_validation_shows_schemas_and_placement(client: Client, document: dict[str, Any]) -> None:
    body = send(client, "post", "/api/validate", {"document": document}).json()
    assert body["problems"] == []
    assert len(body["hash"]) == 64
    assert body["placement"]["euros"] == ["w1", "w2", "w3", "w4"]
    fields = {field["name"]: field["type"] for field in body["schemas"]["euros.out"]["fields"]}
    assert fields["price_eur"] == "float"
    assert body["event_zero"] is None
    document["query"]["operators"][1]["params"]["fields"][0]["expression"] = "nothing"
    body = send(client, "post", "/api/validate", {"document": document}).json()
    assert body["hash"] is None
    assert body["problems"][0]["pointer"].startswith("/query/operators/1/params")


def test_the_rates_of_a_document_can_be_seen_before_it_runs(client: Client, document: dict[str, Any]) -> None:
    ramp = {"kind": "ramp", "from_per_s": 0, "to_per_s": 1000, "start_s": 0, "end_s": 2}
    document["workload"]["sources"]["bids"].update(rate=ramp, arrivals={"kind": "poisson"})
    document["workload"]["sources"]["broken"] = {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": -1}}
    document["query"] = "anything"
    body = send(client, "post", "/api/preview", {"document": document, "points": 4}).json()
    assert body == {"sources": {"bids": [[0.25, 125.0], [0.75, 375.0], [1.25, 625.0], [1.75, 875.0]]}}
    for path, value in (("format", 99), ("workload", None)):
        assert send(client, "post", "/api/preview", {"document": {**document, path: value}}).json() == {"sources": {}}
    assert send(client, "post", "/api/preview", {"document": document, "points": 0}).status_code == 422


def test_a_threshold_is_found_for_a_target_selectivity(client: Client) -> None:
    document = worksets(per_s=20_000.0)
    body = send(client, "post", "/api/threshold", {"document": document, "operator": "join", "selectivity": 0.01}).json()
    assert body["share"] == pytest.approx(0.01, rel=0.01)
    assert 0.008 < body["threshold"] < 0.012
    assert (body["pairs"], body["sources"]) == (1_000_000, {"left": "left", "right": "right"})
    for about, says in [
        ({"operator": "sink"}, "operator is 'sink', which is no similarity join"),
        ({"selectivity": 1e-7}, "selectivity is 1e-07, of which a sample has 0 of 1,000,000 pairs; use at least 1e-05"),
        ({"selectivity": 0}, "selectivity"),
        ({"document": {}}, "the experiment has errors"),
    ]:
        asked = {"document": document, "operator": "join", "selectivity": 0.01, **about}
        response = send(client, "post", "/api/threshold", asked)
        assert response.status_code == 422
        assert says in response.content.decode()


def test_the_registry_and_the_schema_are_served(client: Client) -> None:
    registry = client.get("/api/registry").json()
    assert {"operators", "streams", "rates", "partitionings", "processors", "placements", "flow_controls", "prices"} <= set(registry)
    assert {"kind", "title", "schema", "inputs", "outputs", "icon", "doc"} <= set(registry["operators"][0])
    functions = {entry["kind"]: entry for entry in registry["functions"]}
    assert functions["startswith"]["signatures"] == [
        {
            "text": "startswith(text: string, start: constant string) -> bool",
            "parameters": [{"name": "text", "type": "string", "constant": False}, {"name": "start", "type": "string", "constant": True}],
            "repeated": False,
            "result": "bool",
        }
    ]
    assert all(entry["doc"] and entry["group"] and entry["example"] for entry in functions.values())
    assert client.get("/api/schema").json()["properties"]["query"]
    assert client.get("/api/openapi.json").json()["paths"]["/api/runs"]


def test_the_examples_are_loaded_once_and_are_valid(client: Client, lab: Lab) -> None:
    added = fixtures.load(lab)
    assert {"flights.parquet", "flights.yaml", "nexmark_q3.yaml"} <= set(added)
    assert fixtures.load(lab) == []
    lines = client.get("/api/experiments").json()
    nexmark = [line["name"].removeprefix("NexMark ") for line in lines if line["name"].startswith("NexMark")]
    assert nexmark[0].startswith("Q1,"), "the list begins with the first example"
    assert nexmark[-1].startswith("Q12,")
    for line in lines:
        assert line["description"]
        problems = client.get(f"/api/experiments/{line['id']}").json()["problems"]
        assert [problem for problem in problems if problem["severity"] == "error"] == []
    Experiment.objects.filter(fixture="nexmark_q3").delete()
    assert fixtures.load(lab) == ["nexmark_q3.yaml"]


@pytest.mark.parametrize("description", [None, 5, {"a": 1}, "x" * 1000])
def test_the_list_shows_the_beginning_of_any_description(client: Client, description: object) -> None:
    client.post("/api/experiments", {"document": {"description": description}}, content_type="application/json")
    (line,) = client.get("/api/experiments").json()
    assert line["description"] == ("x" * 300 if isinstance(description, str) else "")


def test_a_deleted_example_stays_deleted(client: Client, lab: Lab) -> None:
    fixtures.load(lab)
    (line, *_) = client.get("/api/experiments").json()
    client.delete(f"/api/experiments/{line['id']}")
    assert fixtures.load(lab) == []


def test_runs_are_numbered_without_gaps_or_doubles_when_started_at_once(transactional_db: None) -> None:
    from webapp.lab.people import member

    from .conftest import small_document

    experiment = new_experiment(member("ada").lab, small_document())

    def start() -> None:
        new_run(experiment)
        connections.close_all()

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(Run.objects.values_list("number", flat=True)) == list(range(1, 9))


def test_a_kind_of_another_package_is_offered_and_accepted(client: Client, document: dict[str, Any]) -> None:
    operator = document["query"]["operators"][1]
    operator |= {"kind": "distinct", "params": {"key": "bidder"}}
    document["query"]["edges"][0]["partitioning"] = {"kind": "hash", "key": "bidder"}
    assert "unknown_kind" in {
        problem["code"] for problem in send(client, "post", "/api/validate", {"document": document}).json()["problems"]
    }
    with mock.patch.dict(OPERATORS):
        register(Distinct)
        offered = {entry["kind"]: entry for entry in client.get("/api/registry").json()["operators"]}
        assert offered["distinct"]["schema"]["properties"]["key"]["x-editor"] == "field"
        body = send(client, "post", "/api/validate", {"document": document}).json()
        assert not [problem for problem in body["problems"] if problem["severity"] == "error"]
        assert body["schemas"][f"{operator['id']}.out"] == body["schemas"]["bids.out"]
