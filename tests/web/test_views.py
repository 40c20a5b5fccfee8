"""Lists of runs under names, and what people say of runs."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from webapp.lab.models import Experiment, Run
from webapp.lab.people import member

from .conftest import RedisProcess, new_run

pytestmark = pytest.mark.django_db


def ask(client: Client, method: str, path: str, body: dict[str, Any] | None = None, status: int = 200) -> Any:
    answer = getattr(client, method)(path, body or {}, content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json() if answer.content else None


def test_a_view_is_kept_changed_deleted_and_had_back(client: Client) -> None:
    query = {"state": "failed", "search": "p99>10 note:leak", "sort": "-p99", "columns": "run,p99", "tag": ""}
    made = ask(client, "post", "/api/views", {"name": " Slow ones ", "query": query}, 201)
    assert (made["name"], made["author"]) == ("Slow ones", "ada")
    assert made["query"] == {key: value for key, value in query.items() if value}, "what is usual is left out"
    ask(client, "post", "/api/views", {"name": "All"}, 201)
    assert [view["name"] for view in ask(client, "get", "/api/views")] == ["All", "Slow ones"]
    assert "'Slow ones'" in ask(client, "post", "/api/views", {"name": "Slow ones"}, 409)["detail"]
    path = f"/api/views/{made['id']}"
    assert ask(client, "put", path, {"query": {"state": "queued"}})["query"] == {"state": "queued"}
    assert ask(client, "put", path, {"name": "All"}, 409)
    assert ask(client, "put", path, {"name": "Waiting"})["name"] == "Waiting"
    ask(client, "delete", path, status=204)
    assert [view["name"] for view in ask(client, "get", "/api/views")] == ["All"]
    ask(client, "put", path, {"name": "Gone"}, 404)
    again = ask(client, "post", "/api/views", {"name": "Waiting"}, 201)
    assert "already" in ask(client, "post", f"{path}/restore", status=409)["detail"]
    ask(client, "delete", f"/api/views/{again['id']}", status=204)
    ask(client, "post", f"{path}/restore", status=204)
    assert [view["name"] for view in ask(client, "get", "/api/views")] == ["All", "Waiting"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "  "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "x", "query": {"sort": "document"}}, "sort"),
        ({"name": "x", "query": {"state": "lost"}}, "state"),
        ({"name": "x", "query": {"hue": "red"}}, "hue"),
    ],
)
def test_a_view_that_no_list_understands_is_refused(client: Client, body: dict[str, Any], field: str) -> None:
    assert field in ask(client, "post", "/api/views", body, 422)["problems"][0]["pointer"]


def test_notes_are_kept_found_and_not_overwritten(client: Client, experiment: Experiment, redis: RedisProcess) -> None:
    run, other = new_run(experiment), new_run(experiment)
    path = f"/api/runs/{run.pk}"
    assert ask(client, "put", f"{path}/notes", {"text": " Memory *leak* at w2 \n", "was": ""}) == {"notes": "Memory *leak* at w2"}
    second = Client(HTTP_HOST="127.0.0.1")
    second.force_login(member("mary", "member").user)
    refused = ask(second, "put", f"{path}/notes", {"text": "No leak", "was": ""}, 409)
    assert (refused["notes"], "nothing was stored" in refused["detail"]) == ("Memory *leak* at w2", True)
    assert ask(client, "get", f"{path}/notes") == {"notes": "Memory *leak* at w2"}
    Run.objects.filter(pk=other.pk).update(notes="y" * 300)
    listed = {item["number"]: item for item in ask(client, "get", "/api/runs")["items"]}
    assert (len(listed[2]["said"]), "notes" in listed[2]) == (200, False)

    def found(search: str) -> list[int]:
        return [item["number"] for item in client.get("/api/runs", {"search": search}).json()["items"]]

    assert (found("note:LEAK"), found("note:leak note:w2"), found("note:nothing")) == ([1], [1], [])
    assert (found("leak"), found("note:leak #2")) == ([], [])
    ask(client, "put", f"{path}/notes", {"text": "x" * 20_001, "was": "Memory *leak* at w2"}, 422)
    ask(client, "put", f"{path}/notes", {"text": "", "was": "Memory *leak* at w2"})
    assert found("note:leak") == []
