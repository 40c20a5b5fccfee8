"""Several labs in one installation: who belongs to two, what a link of an owner opens, and how labs are made."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client

from tests.support.untrained_models import put_models
from webapp.accounts.models import ApiToken, Invitation, SignInToken
from webapp.lab import people
from webapp.lab.models import Experiment, Lab, Membership

from .conftest import new_experiment, small_document

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


def browser() -> Client:
    return Client(HTTP_HOST="127.0.0.1")


@pytest.fixture
def second(lab: Lab) -> Lab:
    return people.new_lab("Second")


@pytest.fixture
def mary(lab: Lab, second: Lab) -> Membership:
    """A member of the first lab, and an owner of the second."""
    first = people.member("mary", "member", of=lab)
    people.member("mary", "owner", of=second)
    return first


def signed_in(membership: Membership, of_lab: Lab | None = None) -> Client:
    """With a link: that of an owner of this lab, or one that was made on the server."""
    page = browser()
    assert page.get("/signin", {"token": SignInToken.issue(membership.user, of_lab)}).status_code == 302
    return page


def me(page: Client) -> tuple[str, str, list[str]]:
    told = page.get("/api/me").json()
    return told["lab"], told["role"], [one["name"] for one in told["labs"]]


def send(page: Client, method: str, path: str, **body: Any) -> Any:
    return getattr(page, method)(path, body, content_type="application/json")


def test_a_session_is_about_one_lab_at_a_time(mary: Membership, second: Lab) -> None:
    new_experiment(mary.lab, small_document())
    page = signed_in(mary)
    assert me(page) == ("Lab", "member", ["Lab", "Second"])
    assert len(page.get("/api/experiments").json()) == 1
    assert send(page, "put", "/api/session/lab", lab=second.pk).status_code == 204
    assert me(page) == ("Second", "owner", ["Lab", "Second"])
    assert page.get("/api/experiments").json() == []
    assert me(signed_in(mary))[0] == "Lab", "other sessions are as they were"
    people.remove(Membership.objects.get(user=mary.user, lab=mary.lab))
    assert me(page) == ("Second", "owner", ["Second"])


def test_a_lab_that_one_does_not_belong_to_cannot_be_chosen(mary: Membership) -> None:
    third = people.new_lab("Third")
    page = signed_in(mary)
    for id in (third.pk, 10**6):
        answer = send(page, "put", "/api/session/lab", lab=id)
        assert (answer.status_code, answer.json()["detail"]) == (404, f"you do not belong to a lab {id}")
    assert send(page, "put", "/api/session/lab", lab="x").status_code == 422
    assert me(page)[0] == "Lab"


def test_a_token_is_of_one_lab(mary: Membership, second: Lab) -> None:
    page = signed_in(mary)
    send(page, "put", "/api/session/lab", lab=second.pk)
    token = send(page, "post", "/api/tokens", name="notebook", scope="admin").json()["token"]
    program = Client(HTTP_HOST="127.0.0.1", headers={"Authorization": f"Bearer {token}"})
    assert me(program) == ("Second", "owner", ["Second"])
    answer = send(program, "put", "/api/session/lab", lab=mary.lab_id)
    assert (answer.status_code, "a token is of one lab" in answer.json()["detail"]) == (403, True)
    send(page, "put", "/api/session/lab", lab=mary.lab_id)
    assert page.get("/api/tokens").json() == []


def test_who_leaves_a_lab_keeps_the_tokens_of_others(mary: Membership, second: Lab) -> None:
    other = Membership.objects.get(user=mary.user, lab=second)
    tokens = [ApiToken.issue(membership, "notebook")[1] for membership in (mary, other)]
    owner = signed_in(people.member("ada"))
    assert owner.delete(f"/api/people/{mary.pk}").status_code == 204
    asked = [Client(HTTP_HOST="127.0.0.1", headers={"Authorization": f"Bearer {token}"}).get("/api/me") for token in tokens]
    assert [answer.status_code for answer in asked] == [401, 200]


# --- links of owners, by which an owner of one lab must not come into another -------------------------------------------------------------


def test_a_link_of_an_owner_opens_that_lab_only(mary: Membership, second: Lab) -> None:
    owner = signed_in(people.member("ada"))
    path = owner.post(f"/api/people/{mary.pk}/link").json()["path"]
    page = browser()
    page.get(path)
    assert me(page) == ("Lab", "member", ["Lab"])
    assert send(page, "put", "/api/session/lab", lab=second.pk).status_code == 404
    people.remove(mary)
    assert page.get("/api/me").status_code == 401, "not the lab that is left"


@pytest.mark.parametrize("has_password", [True, False])
def test_a_link_of_an_owner_sets_no_password_that_opens_other_labs(mary: Membership, has_password: bool) -> None:
    if has_password:
        mary.user.set_password(PASSWORD)
        mary.user.save()
    page = signed_in(mary, mary.lab)
    answer = send(page, "put", "/api/session/password", password="another long one", current="")
    assert answer.status_code == (422 if has_password else 403)
    mary.user.refresh_from_db()
    assert not mary.user.check_password("another long one")
    if has_password:
        assert send(page, "put", "/api/session/password", password="another long one", current=PASSWORD).status_code == 204
    assert send(signed_in(mary), "put", "/api/session/password", password="another long two", current="").status_code == 204


def test_a_link_of_an_owner_joins_no_other_lab(lab: Lab, second: Lab) -> None:
    """Else the owner could join as that person before they do."""
    ben = people.member("ben", "member", of=lab)
    _, text = Invitation.issue(second, "member", None, timedelta(days=1))
    page = signed_in(ben, lab)
    assert send(page, "post", "/api/join", token=text).json()["confined"] is True
    answer = send(page, "post", "/api/join/accept", token=text)
    assert (answer.status_code, "manage.py signin_url --user ben" in answer.json()["detail"]) == (403, True)


def test_a_password_ends_the_confinement_of_a_link(mary: Membership) -> None:
    mary.user.set_password(PASSWORD)
    mary.user.save()
    page = signed_in(mary, mary.lab)
    assert send(page, "post", "/api/session", name="mary", password=PASSWORD).status_code == 204
    assert me(page)[2] == ["Lab", "Second"]
    assert send(page, "put", "/api/session/password", password="another long one", current="").status_code == 422


# --- joining, making ----------------------------------------------------------------------------------------------------------------------


def test_a_person_joins_a_second_lab(lab: Lab, second: Lab) -> None:
    ben = people.member("ben", "member", of=lab)
    _, text = Invitation.issue(second, "viewer", None, timedelta(days=1))
    page = signed_in(ben)
    assert send(page, "post", "/api/join", token=text).json() | {"expires_at": ""} == {
        "lab": "Second",
        "role": "viewer",
        "invited_by": None,
        "expires_at": "",
        "you": "ben",
        "member": False,
        "confined": False,
    }
    assert send(page, "post", "/api/join/accept", token=text).status_code == 201
    assert me(page) == ("Second", "viewer", ["Lab", "Second"])
    _, again = Invitation.issue(second, "owner", None, timedelta(days=1))
    answer = send(page, "post", "/api/join/accept", token=again)
    assert (answer.status_code, "ben already belongs to the lab 'Second'" in answer.json()["detail"]) == (409, True)


def test_labs_are_made_listed_and_renamed(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("lab", "create", "Databases", "--owner", "dora")
    made = Lab.objects.get(name="Databases")
    assert "manage.py signin_url --user dora --lab 'Databases'" in capsys.readouterr().out
    assert Membership.objects.get(lab=made).role == "owner"
    assert Experiment.objects.filter(lab=made).count() > 20
    call_command("lab", "rename", "Databases", "Streams")
    call_command("lab", "list")
    assert "Lab: 1 people, 0 runs\nStreams: 1 people, 0 runs" in capsys.readouterr().out
    call_command("signin_url", "--user", "dora")
    assert not Membership.objects.filter(lab=lab, user__username="dora").exists(), "a link adds nobody to a further lab by itself"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["create", "Lab", "--owner", "eve"], "there is a lab 'Lab' already; choose another name"),
        (["create", "  ", "--owner", "eve"], "it must have 1 to 100 printable characters"),
        (["create", "x" * 101, "--owner", "eve"], "it must have 1 to 100 printable characters"),
        (["rename", "Nowhere", "Somewhere"], "there is no lab 'Nowhere'; there are Lab, Second"),
        (["rename", "Second", "Lab"], "there is a lab 'Lab' already; choose another name"),
    ],
)
def test_a_lab_that_cannot_be_made_is_refused_in_a_sentence(lab: Lab, second: Lab, words: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said.replace("(", r"\(")):
        call_command("lab", *words)
    assert Lab.objects.count() == 2


@pytest.mark.parametrize("command", [["api_token", "x"], ["signin_url"]])
def test_an_unknown_lab_is_named(lab: Lab, command: list[str]) -> None:
    with pytest.raises(CommandError, match="there is no lab 'Nowhere'; there are Lab"):
        call_command(*command, "--lab", "Nowhere")


def test_models_of_a_lab_are_its_own(lab: Lab, second: Lab, redis: object) -> None:
    put_models(second.home / "models" / "mine", members=1)
    pages = [signed_in(people.member("ada")), signed_in(people.member("dora", of=second))]
    names = [[one["name"] for one in page.get("/api/learning").json()["models"]] for page in pages]
    assert names == [["dev"], ["mine", "dev"]]
    assert pages[0].get("/api/learning/models/mine").status_code == 404
    assert pages[1].delete("/api/learning/models/mine").status_code == 204
    assert lab.home == Path(settings.DATA_DIR) != second.home
