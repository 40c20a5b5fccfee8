"""Who belongs to the lab: roles, invitations, passwords. Catches: a lab without an owner, an invitation used twice, guessing."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.utils import timezone

from webapp.accounts.models import ApiToken, Invitation, SignInToken
from webapp.lab.models import Lab, Membership
from webapp.lab.people import LastOwner, change_role, member, remove

pytestmark = pytest.mark.django_db
PASSWORD = "three blind mice"
JSON = "application/json"


@pytest.fixture(autouse=True)
def no_tries_yet() -> None:
    cache.clear()


def browser(membership: Membership | None = None, **options: Any) -> Client:
    client = Client(HTTP_HOST="127.0.0.1", **options)
    if membership:
        client.force_login(membership.user)
    return client


def post(client: Client, path: str, **body: Any) -> Any:
    return client.post(f"/api/{path}", body, content_type=JSON)


def invitation(client: Client, **body: Any) -> str:
    answer = post(client, "invitations", **body)
    assert answer.status_code == 201, answer.content
    return str(answer.json()["path"].partition("token=")[2])


def joined(client: Client, token: str, name: str = "mary", password: str = PASSWORD) -> Any:
    return post(client, "join/account", token=token, name=name, password=password)


def test_an_invitation_makes_an_account_with_its_role_and_signs_in(client: Client) -> None:
    token = invitation(client, role="viewer")
    assert [one["role"] for one in client.get("/api/invitations").json()] == ["viewer"]
    assert token not in str(list(Invitation.objects.values()))
    mary = browser()
    welcome = post(mary, "join", token=f" {token}\n").json()
    assert (welcome["lab"], welcome["role"], welcome["invited_by"], welcome["you"]) == ("Lab", "viewer", "ada", None)
    assert joined(mary, token).json() == {"name": "mary", "lab": "Lab", "role": "viewer"}
    assert mary.get("/api/me").json()["role"] == "viewer"
    assert client.get("/api/invitations").json() == []
    assert [person["name"] for person in client.get("/api/people").json()] == ["ada", "mary"]


def test_an_invitation_lets_one_person_in(client: Client) -> None:
    token = invitation(client)
    assert joined(browser(), token).status_code == 201
    refused = joined(browser(), token, name="eve")
    assert (refused.status_code, "has been used" in refused.json()["detail"]) == (409, True)
    assert not get_user_model().objects.filter(username="eve").exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_at_the_same_moment_one_gets_in(client: Client) -> None:
    token = invitation(client)
    statuses: list[int] = []
    together = threading.Barrier(2)

    def join(name: str) -> None:
        together.wait()
        statuses.append(joined(browser(), token, name=name).status_code)
        connection.close()

    threads = [threading.Thread(target=join, args=(name,)) for name in ("mary", "martha")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [201, 409]
    assert Membership.objects.count() == 2
    assert get_user_model().objects.count() == 2, "who came too late has no account"


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (lambda client, id: client.delete(f"/api/invitations/{id}"), "was withdrawn"),
        (lambda client, id: Invitation.objects.update(expires_at=timezone.now()), "has expired"),
    ],
)
def test_an_invitation_that_has_ended_says_why(client: Client, end: Any, words: str) -> None:
    token = invitation(client)
    end(client, Invitation.objects.get().pk)
    for refused in (post(browser(), "join", token=token), joined(browser(), token)):
        assert (refused.status_code, words in refused.json()["detail"]) == (409, True)
    assert client.get("/api/invitations").json() == []


@pytest.mark.parametrize("token", ["", "x", "\u00e9" * 50, "a" * 100_000])
def test_a_wrong_invitation_is_not_known(db: None, token: str) -> None:
    assert post(browser(), "join", token=token).status_code == 404


@pytest.mark.parametrize(
    ("name", "password", "field"),
    [
        ("ADA", PASSWORD, "/name"),
        ("a b", PASSWORD, "/name"),
        ("", PASSWORD, "/name"),
        ("mary", "short", "/password"),
        ("mary", "password123", "/password"),
        ("marymarymary", "marymarymary", "/password"),
    ],
)
def test_a_name_or_a_password_that_will_not_do_is_named(client: Client, name: str, password: str, field: str) -> None:
    token = invitation(client)
    refused = joined(browser(), token, name, password)
    assert refused.status_code == 422
    assert refused.json()["problems"][0]["pointer"] == field
    assert joined(browser(), token).status_code == 201, "the invitation is not used up by that"


def test_who_was_removed_comes_back_with_the_account_they_have(client: Client, owner: Membership) -> None:
    mary = member("mary", "member")
    page = browser(mary)
    assert post(page, "join/accept", token=invitation(client)).status_code == 409, "who belongs to the lab needs no invitation"
    assert client.delete(f"/api/people/{mary.pk}").status_code == 204
    assert page.get("/api/me").status_code == 401
    token = invitation(client, role="viewer")
    assert post(page, "join", token=token).json()["you"] == "mary"
    assert post(page, "join/accept", token=token).json()["role"] == "viewer"
    assert page.get("/api/me").json()["role"] == "viewer"
    assert post(browser(), "join/accept", token=invitation(client)).status_code == 401


def test_who_is_removed_takes_tokens_and_links_along(client: Client) -> None:
    mary = member("mary", "member")
    token, _ = ApiToken.issue(mary, "notebook")
    SignInToken.issue(mary.user)
    assert client.delete(f"/api/people/{mary.pk}").status_code == 204
    token.refresh_from_db()
    assert token.state == "revoked"
    assert not SignInToken.objects.exists()
    assert client.delete(f"/api/people/{mary.pk}").status_code == 404


def test_who_was_removed_is_told_so_and_not_that_a_session_ended(client: Client) -> None:
    mary = member("mary", "member")
    page = browser(mary)
    assert client.delete(f"/api/people/{mary.pk}").status_code == 204
    for path in ("me", "experiments"):
        assert (page.get(f"/api/{path}").status_code, page.get(f"/api/{path}").json().get("member")) == (401, False)
    assert "member" not in browser().get("/api/me").json()


def test_the_last_owner_stays_an_owner(client: Client, owner: Membership) -> None:
    for change in (client.put(f"/api/people/{owner.pk}", {"role": "member"}, content_type=JSON), client.delete(f"/api/people/{owner.pk}")):
        assert (change.status_code, "last owner" in change.json()["detail"]) == (409, True)
    mary = member("mary", "member")
    assert client.put(f"/api/people/{mary.pk}", {"role": "owner"}, content_type=JSON).json()["role"] == "owner"
    assert client.put(f"/api/people/{owner.pk}", {"role": "viewer"}, content_type=JSON).json()["role"] == "viewer"
    refused = client.put(f"/api/people/{owner.pk}", {"role": "owner"}, content_type=JSON)
    assert (refused.status_code, refused.json()["needs"]) == (403, "admin")


def test_an_owner_whose_account_was_deactivated_does_not_count(owner: Membership) -> None:
    mary = member("mary", "owner")
    mary.user.is_active = False
    mary.user.save()
    with pytest.raises(LastOwner):
        remove(owner)


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_demote_each_other_leave_one(owner: Membership) -> None:
    mary = member("mary", "owner")
    outcomes: list[str] = []
    together = threading.Barrier(2)

    def demote(other: Membership) -> None:
        together.wait()
        try:
            change_role(other, "viewer")
            outcomes.append("demoted")
        except LastOwner:
            outcomes.append("refused")
        connection.close()

    threads = [threading.Thread(target=demote, args=(one,)) for one in (owner, mary)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["demoted", "refused"]
    assert Membership.objects.filter(role="owner").count() == 1


def test_another_labs_people_do_not_exist(client: Client) -> None:
    user = get_user_model().objects.create(username="eve")
    eve = Membership.objects.create(lab=Lab.objects.create(name="Elsewhere"), user=user)
    assert [person["name"] for person in client.get("/api/people").json()] == ["ada"]
    assert client.delete(f"/api/people/{eve.pk}").status_code == 404
    assert client.put(f"/api/people/{eve.pk}", {"role": "owner"}, content_type=JSON).status_code == 404
    assert post(client, f"people/{eve.pk}/link").status_code == 404


def test_name_and_password_sign_in_and_out(client: Client) -> None:
    joined(browser(), invitation(client))
    page = browser()
    refused = post(page, "session", name="mary", password="another thing")
    assert (refused.status_code, "wrong" in refused.json()["detail"]) == (401, True)
    assert post(page, "session", name="mary", password=PASSWORD).status_code == 204
    assert page.get("/api/me").json()["name"] == "mary"
    assert page.delete("/api/session").status_code == 204
    assert page.get("/api/me").status_code == 401


def test_who_guesses_is_made_to_wait(client: Client) -> None:
    joined(browser(), invitation(client))
    answers = [post(browser(), "session", name="mary", password=f"guess {n}") for n in range(8)]
    assert [answer.status_code for answer in answers] == [401] * 5 + [429] * 3
    assert (answers[-1]["Retry-After"], "5 minutes" in answers[-1].json()["detail"]) == ("300", True)
    assert post(browser(), "session", name="mary", password=PASSWORD).status_code == 429


def test_who_has_no_password_is_not_let_in_by_one(client: Client) -> None:
    for password in ("!", "x", "None"):
        assert post(browser(), "session", name="ada", password=password).status_code == 401


def test_another_page_can_neither_sign_in_nor_out_nor_join(client: Client) -> None:
    page = browser(enforce_csrf_checks=True)
    token = invitation(client)
    for answer in (
        post(page, "session", name="ada", password="x"),
        page.delete("/api/session"),
        post(page, "join", token=token),
        joined(page, token),
        post(page, "join/accept", token=token),
    ):
        assert (answer.status_code, "X-CSRFToken" in answer.json()["detail"]) == (403, True)


def test_a_password_is_changed_by_who_knows_it_or_came_with_a_link(client: Client, owner: Membership) -> None:
    mary = browser()
    joined(mary, invitation(client))
    change = {"password": "four blind mice", "current": "wrong"}
    assert mary.put("/api/session/password", change, content_type=JSON).status_code == 422
    assert mary.put("/api/session/password", {**change, "current": PASSWORD}, content_type=JSON).status_code == 204
    assert mary.get("/api/me").status_code == 200, "who changes it stays signed in"
    mary_id = Membership.objects.get(user__username="mary").pk
    path = post(client, f"people/{mary_id}/link").json()["path"]
    forgetful = browser()
    assert forgetful.get(path).status_code == 302
    assert forgetful.put("/api/session/password", {"password": "five blind mice"}, content_type=JSON).status_code == 204
    assert post(browser(), "session", name="mary", password="five blind mice").status_code == 204
    token = ApiToken.issue(owner, "program")[1]
    program = Client(HTTP_HOST="127.0.0.1", headers={"Authorization": f"Bearer {token}"})
    assert program.put("/api/session/password", change, content_type=JSON).status_code == 403


def test_links_run_out(client: Client, owner: Membership) -> None:
    answer = post(client, f"people/{owner.pk}/link").json()
    assert answer["expires_at"] is not None
    SignInToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert browser().get(answer["path"]).status_code == 403
