"""Every route of the API, as its own document lists them, asked by those who may not. Catches: a new route that nobody protected."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.core.cache import cache
from django.core.serializers import serialize
from django.test import Client

from webapp.accounts.models import ApiToken
from webapp.accounts.rights import Right
from webapp.lab.people import member

pytestmark = pytest.mark.django_db

OPEN = {
    "get /api/health",
    "get /api/health/live",
    "get /api/health/ready",
    "post /api/session",
    "get /api/session/ways",
    "post /api/session/sign-on",
    "delete /api/session",
    "post /api/join",
    "post /api/join/account",
    "post /api/join/accept",
}
READ_BY_POST = {
    "post /api/validate",
    "post /api/advice",
    "post /api/preview",
    "post /api/threshold",
    "post /api/studies/validate",
    "post /api/python",
    "post /api/python/read",
    "post /api/pyspark",
    "post /api/datasets/preview",
    "post /api/spark/selection",
}
OF_ONES_OWN = {
    "post /api/tokens",
    "delete /api/tokens/{token_id}",
    "put /api/session/password",
    "put /api/session/lab",
    "post /api/session/factor/secret",
    "put /api/session/factor",
    "post /api/session/factor/off",
}
ADMIN = {
    "put /api/people/{person_id}",
    "delete /api/people/{person_id}",
    "post /api/people/{person_id}/link",
    "get /api/invitations",
    "get /api/audit",
    "put /api/storage",
    "put /api/limits",
    "post /api/storage/rules",
    "post /api/storage/rules/preview",
    "put /api/storage/rules/{rule_id}",
    "delete /api/storage/rules/{rule_id}",
    "post /api/storage/removals/{removal_id}/undo",
    "post /api/invitations",
    "delete /api/invitations/{invitation_id}",
}
NOTED = {"accounts.apitoken", "sessions.session"}  # a token notes when it was used


def routes(things: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Name, method and address of each."""
    document = Client(HTTP_HOST="127.0.0.1").get("/api/openapi.json").json()
    for path, methods in document["paths"].items():
        for method in methods:
            yield f"{method} {path}", method, re.sub(r"{(\w+)}", lambda match: str(things[match[1]]), path)


def ask(client: Client, method: str, path: str) -> Any:
    return getattr(client, method)(path, {}, **({} if method == "get" else {"content_type": "application/json"}))


def everything() -> str:
    """All that is stored."""
    models = [model for model in apps.get_models() if model._meta.label_lower not in NOTED]
    return "".join(serialize("json", model.objects.order_by("pk")) for model in models)


def program(right: Right, name: str = "ada") -> Client:
    return Client(HTTP_HOST="127.0.0.1", headers={"Authorization": f"Bearer {ApiToken.issue(member(name), 'program', right)[1]}"})


def test_the_lists_name_routes_that_there_are(things: dict[str, Any]) -> None:
    assert {name for name, _, _ in routes(things)} >= OPEN | READ_BY_POST | OF_ONES_OWN | ADMIN


def test_a_stranger_sees_nothing(things: dict[str, Any]) -> None:
    before = everything()
    for name, method, path in routes(things):
        if name not in OPEN:
            answer = ask(Client(HTTP_HOST="127.0.0.1"), method, path)
            assert answer.status_code == 401, name
            assert set(answer.json()) == {"detail", "problems"}, name
    assert everything() == before


def test_a_viewer_reads_all_and_changes_nothing(things: dict[str, Any]) -> None:
    viewer = Client(HTTP_HOST="127.0.0.1")
    viewer.force_login(member("victor", "viewer").user)
    before = everything()
    for name, method, path in routes(things):
        if name in OPEN:
            continue
        answer = ask(viewer, method, path)
        if name in OF_ONES_OWN:
            assert answer.status_code in (200, 404, 422), f"{name}: what is somebody else's is not there"
        elif (method == "get" or name in READ_BY_POST) and name not in ADMIN:
            assert answer.status_code not in (401, 403), name
        else:
            assert (answer.status_code, "viewer" in answer.json()["detail"]) == (403, True), name
    assert everything() == before


def test_a_member_does_not_look_after_people(things: dict[str, Any]) -> None:
    page = Client(HTTP_HOST="127.0.0.1")
    page.force_login(member("mary", "member").user)
    for name, method, path in routes(things):
        if name in ADMIN:
            answer = ask(page, method, path)
            assert (answer.status_code, answer.json()["needs"]) == (403, "admin"), name


@pytest.mark.parametrize("right", [Right.METRICS, Right.READ, Right.WRITE])
def test_a_token_does_nothing_beyond_its_scope(things: dict[str, Any], right: Right) -> None:
    """Of an owner, so that nothing but the scope can be the reason."""
    cache.clear()
    asks = program(right)
    before = everything()
    for name, method, path in routes(things):
        if name in OPEN:
            continue
        if name in ADMIN | OF_ONES_OWN:
            needed = Right.ADMIN
        else:
            needed = Right.READ if method == "get" or name in READ_BY_POST else Right.WRITE
        if right < needed:
            answer = ask(asks, method, path)
            assert (answer.status_code, answer.json()["needs"]) == (403, str(needed)), name
    assert everything() == before
