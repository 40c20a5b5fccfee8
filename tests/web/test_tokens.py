"""Tokens of programs: what each scope opens, how they are issued, listed and revoked. Catches: a token that can do more than it says."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from webapp.accounts.models import ApiToken, hashed
from webapp.accounts.rights import SCOPES, Right
from webapp.lab.models import Experiment, Membership
from webapp.lab.people import member

from .conftest import new_run
from .sockets import close_code, in_thread

pytestmark = pytest.mark.django_db

OUT_OF_SCOPE, UNAUTHENTICATED = 4405, 4401


def person(membership: Membership) -> Client:
    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(membership.user)
    return client


def program(token: str) -> Client:
    return Client(HTTP_HOST="127.0.0.1", headers={"Authorization": f"Bearer {token}"})


def issue(client: Client, **body: Any) -> Any:
    return client.post("/api/tokens", {"name": "notebook", "scope": "read", **body}, content_type="application/json")


def test_a_token_is_shown_once_and_stored_as_a_hash(client: Client) -> None:
    answer = issue(client, name="  notebook ", expires_in_days=30)
    assert answer.status_code == 201
    text = answer.json()["token"]
    listed = client.get("/api/tokens")
    assert text not in listed.content.decode()
    (token,) = listed.json()
    assert (token["name"], token["scope"], token["state"], token["person"], token["yours"]) == ("notebook", "read", "active", "ada", True)
    assert token["last_used_at"] is None
    assert ApiToken.objects.get().hash == hashed(text)
    assert program(text).get("/api/me").json()["scopes"] == ["metrics", "read"]
    assert client.get("/api/tokens").json()[0]["last_used_at"] is not None


@pytest.mark.parametrize("scope", SCOPES)
def test_each_scope_opens_what_it_says_and_nothing_above(client: Client, experiment: Experiment, redis: Any, scope: str) -> None:
    asks = program(issue(client, scope=scope).json()["token"])
    right = Right.of_scope(scope)
    calls = {
        Right.METRICS: [asks.get("/metrics")],
        Right.READ: [asks.get("/api/runs"), asks.post("/api/validate", {"document": {}}, content_type="application/json")],
        Right.WRITE: [asks.post(f"/api/experiments/{experiment.pk}/restore"), asks.delete(f"/api/experiments/{experiment.pk}")],
        Right.ADMIN: [issue(asks)],
    }
    for needed, answers in calls.items():
        for answer in answers:
            if right >= needed:
                assert answer.status_code < 400, answer.content
            else:
                assert answer.status_code == 403
                assert answer.json()["needs"] == str(needed)
                assert f"'{needed!s}'" in answer.json()["detail"]
                assert f"'{scope}'" in answer.json()["detail"]


@pytest.mark.parametrize("around", [" {}", "{} ", "\t{}  ", "{}\u00a0"])
def test_a_token_pasted_with_spaces_around_it_works(client: Client, around: str) -> None:
    text = issue(client).json()["token"]
    assert program(around.format(text)).get("/api/me").status_code == 200


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"revoked_at": timezone.now()}, "was revoked on"),
        ({"expires_at": timezone.now()}, "expired on"),
        ({"hash": "0" * 64}, "unknown token"),
    ],
)
def test_a_token_that_cannot_be_used_says_why(client: Client, change: dict[str, Any], words: str) -> None:
    text = issue(client).json()["token"]
    ApiToken.objects.update(**change)
    refused = program(text).get("/api/me")
    assert refused.status_code == 401
    assert words in refused.json()["detail"]


def test_a_token_runs_out_when_it_says(client: Client) -> None:
    issue(client, expires_in_days=1)
    token = ApiToken.objects.get()
    assert timedelta(hours=23) < token.expires_at - timezone.now() <= timedelta(days=1)


@pytest.mark.parametrize(
    "body", [{"name": " "}, {"name": "a" * 101}, {"scope": "all"}, {"expires_in_days": 0}, {"expires_in_days": 10**9}, {"days": 3}]
)
def test_a_token_that_makes_no_sense_is_refused_by_its_field(client: Client, body: dict[str, Any]) -> None:
    refused = issue(client, **body)
    assert refused.status_code == 422
    assert refused.json()["problems"][0]["pointer"] == f"/{next(iter(body))}"


def test_nobody_issues_a_token_that_can_do_more_than_they_can(owner: Membership) -> None:
    viewer = person(member("victor", "viewer"))
    refused = issue(viewer, scope="write")
    assert refused.status_code == 403
    assert "viewer" in refused.json()["detail"]
    assert issue(viewer, scope="read").status_code == 201


def test_a_token_loses_what_its_person_loses(owner: Membership, document: dict[str, Any]) -> None:
    mary = member("mary", "member")
    asks = program(issue(person(mary), scope="write").json()["token"])
    body = {"document": document}
    assert asks.post("/api/experiments", body, content_type="application/json").status_code == 201
    mary.role = "viewer"
    mary.save()
    refused = asks.post("/api/experiments", body, content_type="application/json")
    assert (refused.status_code, "viewer" in refused.json()["detail"]) == (403, True)
    assert asks.get("/api/me").json()["scopes"] == ["metrics", "read"]


def test_everybody_has_their_own_and_an_owner_sees_all(client: Client) -> None:
    mary, victor = person(member("mary", "member")), person(member("victor", "viewer"))
    own = issue(mary, name="of mary").json()["id"]
    assert [token["name"] for token in client.get("/api/tokens").json()] == ["of mary"]
    assert victor.get("/api/tokens").json() == []
    assert victor.delete(f"/api/tokens/{own}").status_code == 404
    assert client.delete(f"/api/tokens/{own}").status_code == 204
    assert mary.get("/api/tokens").json()[0]["state"] == "revoked"


def test_revoking_ends_it_at_once_and_twice_is_as_good_as_once(client: Client) -> None:
    issued = issue(client).json()
    for _ in range(2):
        assert client.delete(f"/api/tokens/{issued['id']}").status_code == 204
    assert program(issued["token"]).get("/api/me").status_code == 401


def test_there_is_a_limit(client: Client, owner: Membership) -> None:
    for _ in range(100):
        ApiToken.issue(owner, "many")
    assert issue(client).status_code == 409
    ApiToken.objects.first().revoke()  # type: ignore[union-attr]
    assert issue(client).status_code == 201


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("scope", SCOPES)
async def test_each_websocket_takes_a_token_that_may_read(redis: Any, document: dict[str, Any], scope: str) -> None:
    def prepare() -> tuple[str, Any]:
        membership = member("ada")
        experiment = Experiment.objects.create(lab=membership.lab, name="Small", document=document)
        return ApiToken.issue(membership, "program", Right.of_scope(scope))[1], new_run(experiment).pk

    token, run = await in_thread(prepare)
    header = [(b"authorization", f"Bearer  {token} ".encode())]
    for address in (f"/ws/runs/{run}", "/ws/news"):
        assert await close_code(address, header) == (OUT_OF_SCOPE if scope == "metrics" else None)
        assert await close_code(address, [(b"authorization", f"Bearer {token}x".encode())]) == UNAUTHENTICATED
