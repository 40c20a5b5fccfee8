"""The log of the lab. Catches: something done that nobody can be asked about, and a log that drowns in trifles or can be changed."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from webapp.accounts import audit
from webapp.accounts.audit import UNNOTED, action_of
from webapp.accounts.models import ApiToken, LogEntry, SignInToken
from webapp.lab.models import Experiment, Lab, Membership
from webapp.lab.people import member

from .conftest import ROOT, RedisProcess, new_run

pytestmark = pytest.mark.django_db
JSON = "application/json"


def told() -> list[tuple[str, str, str, str]]:
    """Person, action, subject and detail of all entries, the oldest first."""
    return list(LogEntry.objects.order_by("pk").values_list("person", "action", "subject", "detail"))


def test_what_is_done_is_told_with_the_names_of_then(client: Client, experiment: Experiment, redis: RedisProcess) -> None:
    mary = member("mary", "member")
    run = new_run(experiment)
    run_id = str(client.post(f"/api/experiments/{experiment.pk}/runs", {}, content_type=JSON).json()["id"])
    client.post(f"/api/runs/{run_id}/cancel")
    client.post("/api/runs/bulk", {"action": "delete", "ids": [run_id, str(run.pk)]}, content_type=JSON)
    client.delete(f"/api/experiments/{experiment.pk}")
    client.put(f"/api/people/{mary.pk}", {"role": "viewer"}, content_type=JSON)
    client.delete(f"/api/people/{mary.pk}")
    client.post("/api/invitations", {"role": "viewer"}, content_type=JSON)
    issued = client.post("/api/tokens", {"name": "notebook", "scope": "read"}, content_type=JSON).json()
    client.delete(f"/api/tokens/{issued['id']}")
    assert told() == [
        ("ada", "runs.start", "Small Q1", ""),
        ("ada", "runs.cancel", "run 2", ""),
        ("ada", "runs.bulk", "", "delete: 2 runs"),
        ("ada", "experiments.delete", "Small Q1", ""),
        ("ada", "people.change", "mary", "role viewer"),
        ("ada", "people.delete", "mary", ""),
        ("ada", "invitations.create", "", "role viewer"),
        ("ada", "tokens.create", "notebook", "scope read"),
        ("ada", "tokens.delete", "notebook", ""),
    ]
    assert LogEntry.objects.filter(action="runs.cancel").get().subject_id == run_id


def test_coming_and_going_is_told(client: Client, owner: Membership) -> None:
    cache.clear()
    token = client.post("/api/invitations", {}, content_type=JSON).json()["path"].partition("=")[2]
    guest = Client(HTTP_HOST="127.0.0.1")
    guest.post("/api/join/account", {"token": token, "name": "mary", "password": "three blind mice"}, content_type=JSON)
    guest.delete("/api/session")
    guest.post("/api/session", {"name": "mary", "password": "three blind mice"}, content_type=JSON)
    Client(HTTP_HOST="127.0.0.1").get("/signin", {"token": SignInToken.issue(owner.user)})
    assert [(person, action) for person, action, _, _ in told()[1:]] == [
        ("mary", "join.account"),
        ("mary", "session.sign_out"),
        ("mary", "session.sign_in"),
        ("ada", "session.sign_in"),
    ]
    assert "mice" not in str(list(LogEntry.objects.values()))


def test_a_program_is_told_from_its_person(owner: Membership, document: dict[str, Any]) -> None:
    token = ApiToken.issue(owner, "notebook")[1]
    program = Client(HTTP_HOST="127.0.0.1", headers={"Authorization": f"Bearer {token}"})
    program.post("/api/experiments", {"document": document}, content_type=JSON)
    entry = LogEntry.objects.get()
    assert (entry.person, entry.token, entry.action) == ("ada", "notebook", "experiments.create")
    assert (entry.subject, len(entry.subject_id)) == ("Small Q1", 36)
    assert token not in str(LogEntry.objects.values().get())


def test_what_is_refused_or_only_asked_is_not_told(client: Client, experiment: Experiment, document: dict[str, Any]) -> None:
    viewer = Client(HTTP_HOST="127.0.0.1")
    viewer.force_login(member("victor", "viewer").user)
    assert viewer.delete(f"/api/experiments/{experiment.pk}").status_code == 403
    assert client.post("/api/tokens", {"name": ""}, content_type=JSON).status_code == 422
    assert client.post("/api/validate", {"document": document}, content_type=JSON).status_code == 200
    assert told() == []


def test_an_editor_that_saves_every_second_is_told_once_an_hour(client: Client, experiment: Experiment, document: dict[str, Any]) -> None:
    for version in (1, 2, 3):
        body = {"version": version, "document": {**document, "description": f"edit {version}"}}
        assert client.put(f"/api/experiments/{experiment.pk}", body, content_type=JSON).status_code == 200
    assert [action for _, action, _, _ in told()] == ["experiments.change"]
    LogEntry.objects.update(at=timezone.now() - timedelta(minutes=61))
    assert client.put(f"/api/experiments/{experiment.pk}", {"version": 4, "document": document}, content_type=JSON).status_code == 200
    assert len(told()) == 2


def test_it_is_read_in_pages_by_owners_and_changed_by_nobody(client: Client, lab: Lab) -> None:
    LogEntry.objects.bulk_create(LogEntry(lab=lab, person=f"p{n % 2}", action="runs.start", subject=str(n)) for n in range(120))
    LogEntry.objects.create(lab=Lab.objects.create(name="Elsewhere"), person="eve", action="runs.start")
    page = client.get("/api/audit?limit=50&offset=100").json()
    assert (page["count"], [entry["subject"] for entry in page["items"]]) == (120, [str(n) for n in range(19, -1, -1)])
    assert client.get("/api/audit?person=p1&action=runs").json()["count"] == 60
    assert client.get("/api/audit?action=tokens").json()["count"] == 0
    assert client.get("/api/audit?person=%00&limit=0").status_code == 422
    methods = client.get("/api/openapi.json").json()["paths"]["/api/audit"]
    assert list(methods) == ["get"]
    with CaptureQueriesContext(connection) as queries:
        client.get("/api/audit?limit=1000")
    assert len(queries) <= 6


def test_every_route_that_writes_has_an_action_and_words_of_its_own() -> None:
    """From the API's own document: no two are told alike, but for starting a run in two ways; the page has words for each."""
    document = Client(HTTP_HOST="127.0.0.1").get("/api/openapi.json").json()
    actions: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method in set(methods) - {"get"}:
            route = path.removeprefix("/").replace("{", "<").replace("}", ">")
            actions.setdefault(action_of(method.upper(), route), []).append(f"{method} {path}")
    assert set(actions) >= UNNOTED
    assert {action: routes for action, routes in actions.items() if len(routes) > 1 and action != "runs.start"} == {}
    words = json.loads((ROOT / "frontend/src/pages/lab/actions.json").read_text())
    assert set(actions) - UNNOTED - set(words) == set()


def test_failed_sign_ins_are_told_without_what_may_be_a_password(owner: Membership) -> None:
    cache.clear()
    guest = Client(HTTP_HOST="127.0.0.1")
    for name in ("ada", "my secret phrase"):
        assert guest.post("/api/session", {"name": name, "password": "three blind mice"}, content_type=JSON).status_code == 401
    assert told() == [("ada", "session.failed", "", "from 127.0.0.1"), ("", "session.failed", "an unknown name", "from 127.0.0.1")]
    for _ in range(12):
        guest.post("/api/session", {"name": "ada", "password": "three blind mice"}, content_type=JSON)
    assert len(told()) <= 10, "who tries without end does not fill the log"
    assert "secret" not in str(list(LogEntry.objects.values()))


def test_strangers_cannot_make_the_log_grow(owner: Membership, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many addresses try many names. What members do stays."""
    monkeypatch.setattr(audit, "FAILED_KEPT", 20)
    audit.note(owner, "runs.start")
    for n in range(70):
        audit.note_failed_sign_in(f"name {n}", f"192.0.2.{n}")
    failed = LogEntry.objects.filter(action="session.failed").order_by("pk").values_list("detail", flat=True)
    assert 20 <= len(failed) <= 22
    assert list(failed)[-1] == "from 192.0.2.69"
    assert LogEntry.objects.exclude(action="session.failed").count() == 1


def test_failed_sign_ins_are_counted_for_all_web_processes(owner: Membership) -> None:
    cache.clear()
    Client(HTTP_HOST="127.0.0.1").post("/api/session", {"name": "ada", "password": "three blind mice"}, content_type=JSON)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM cache")
        assert cursor.fetchone()[0] > 0


def test_what_is_done_on_the_server_is_told(owner: Membership) -> None:
    call_command("api_token", "notebook", user="ada", scope="read", stdout=StringIO())
    call_command("api_token", "notebook", user="ada", revoke=True, stdout=StringIO())
    call_command("signin_url", user="mary", role="viewer", stdout=StringIO())
    assert told() == [
        ("manage.py", "tokens.create", "notebook", "scope read, for ada"),
        ("manage.py", "tokens.delete", "notebook", "of ada"),
        ("manage.py", "people.link", "mary", "role viewer"),
    ]
