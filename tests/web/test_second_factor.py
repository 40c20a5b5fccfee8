"""The second factor. Catches: a sign-in without a code, a code that is good twice, guessing, a secret in the database, and a person who is
shut out for good."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.apps import apps
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.core.serializers import serialize
from django.test import Client

from webapp.accounts.models import ApiToken, LogEntry, SignInToken
from webapp.accounts.rights import Right
from webapp.lab import people
from webapp.lab.models import KeptAnswer, Membership

pytestmark = pytest.mark.django_db
JSON = "application/json"
PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def no_tries_yet() -> None:
    cache.clear()


@pytest.fixture
def ada(owner: Membership) -> Membership:
    owner.user.set_password(PASSWORD)
    owner.user.save()
    return owner


def browser() -> Client:
    return Client(HTTP_HOST="127.0.0.1")


def sign_in(code: str | None = None, page: Client | None = None) -> Any:
    body = {"name": "ada", "password": PASSWORD} | ({} if code is None else {"code": code})
    return (page or browser()).post("/api/session", body, content_type=JSON)


def code_of(secret: str, away_s: float = 0.0) -> str:
    return format_hotp_value(hotp_value(secret, int(time.time() + away_s) // 30))


def activated(page: Client) -> tuple[str, list[str]]:
    """Secret and recovery codes. The code with which it was activated is not used up."""
    told = page.post("/api/session/factor/secret", {}, content_type=JSON).json()
    answer = page.put("/api/session/factor", {"code": code_of(told["secret"])}, content_type=JSON)
    assert answer.status_code == 200, answer.json()
    return told["secret"], answer.json()["recovery_codes"]


def signed_in() -> Client:
    page = browser()
    assert sign_in(page=page).status_code == 204
    return page


def test_signing_in_needs_a_code_once_it_is_active(ada: Membership) -> None:
    page = signed_in()
    assert page.get("/api/session/factor").json() == {"active": False, "codes_left": 0, "connected": None}
    secret, codes = activated(page)
    assert (len(codes), len(set(codes))) == (10, 10)
    assert page.get("/api/session/factor").json() == {"active": True, "codes_left": 10, "connected": None}
    answer = sign_in()
    assert (answer.status_code, answer.json()["needs"]) == (401, "code")
    wrong = "000000" if code_of(secret) != "000000" else "000001"
    answer = sign_in(wrong)
    assert (answer.status_code, answer.json()["needs"], "the code is wrong" in answer.json()["detail"]) == (401, "code", True)
    assert LogEntry.objects.filter(action="session.failed", person="ada").exists()
    code = code_of(secret)
    assert sign_in(f" {code[:3]} {code[3:]} ").status_code == 204
    assert sign_in(code).status_code == 401, "a code is good once"
    assert page.get("/api/me").status_code == 200


def test_a_wrong_password_is_told_before_any_code(ada: Membership) -> None:
    activated(signed_in())
    answer = browser().post("/api/session", {"name": "ada", "password": "x"}, content_type=JSON)
    assert (answer.status_code, "needs" in answer.json()) == (401, False)


def test_a_recovery_code_is_good_once(ada: Membership) -> None:
    page = signed_in()
    _, codes = activated(page)
    assert sign_in(codes[3]).status_code == 204
    assert sign_in(codes[3]).status_code == 401
    assert page.get("/api/session/factor").json()["codes_left"] == 9


def test_guessing_is_slowed_down(ada: Membership) -> None:
    secret, _ = activated(signed_in())
    statuses = [sign_in("123456789").status_code for _ in range(6)]
    assert statuses == [401] * 5 + [429]
    assert sign_in(code_of(secret)).status_code == 429, "nor the right one"
    cache.clear()
    assert sign_in(code_of(secret)).status_code == 204


def test_it_is_turned_off_with_a_code(ada: Membership) -> None:
    page = signed_in()
    secret, _ = activated(page)
    off = page.post("/api/session/factor/off", {"code": "1"}, content_type=JSON)
    assert (off.status_code, off.json()["problems"][0]["pointer"]) == (422, "/code")
    assert page.post("/api/session/factor/off", {"code": code_of(secret)}, content_type=JSON).status_code == 204
    assert sign_in().status_code == 204


def test_a_link_is_the_way_back(ada: Membership) -> None:
    activated(signed_in())
    page = browser()
    page.get("/signin", {"token": SignInToken.issue(ada.user)})
    assert page.post("/api/session/factor/off", {"code": ""}, content_type=JSON).status_code == 204
    assert sign_in().status_code == 204


def test_a_link_of_an_owner_turns_nothing_off_of_a_person_in_several_labs(ada: Membership) -> None:
    activated(signed_in())
    people.member("ada", "member", of=people.new_lab("Second"))
    page = browser()
    page.get("/signin", {"token": SignInToken.issue(ada.user, ada.lab)})
    assert page.post("/api/session/factor/off", {"code": "1"}, content_type=JSON).status_code == 422
    assert page.get("/api/session/factor").json()["active"] is True


def test_nothing_is_active_before_the_app_has_shown_a_code(ada: Membership) -> None:
    page = signed_in()
    assert page.put("/api/session/factor", {"code": "1"}, content_type=JSON).status_code == 409
    told = page.post("/api/session/factor/secret", {}, content_type=JSON).json()
    assert told["address"] == f"otpauth://totp/ada?secret={told['secret']}&issuer=Millrace"
    assert {*"".join(told["code"])} == {"0", "1"}
    assert {len(row) for row in told["code"]} == {len(told["code"])}
    assert page.put("/api/session/factor", {"code": code_of(told["secret"], 3600)}, content_type=JSON).status_code == 422
    assert sign_in().status_code == 204
    assert page.put("/api/session/factor", {"code": code_of(told["secret"])}, content_type=JSON).status_code == 200
    page.post("/api/session/factor/secret", {}, content_type=JSON)
    assert page.put("/api/session/factor", {"code": "1"}, content_type=JSON).status_code == 409, "active already"


def test_a_program_changes_no_factor(ada: Membership) -> None:
    token = ApiToken.issue(ada, "notebook", Right.ADMIN)[1]
    program = Client(HTTP_HOST="127.0.0.1", headers={"Authorization": f"Bearer {token}"})
    assert program.post("/api/session/factor/secret", {}, content_type=JSON).status_code == 403


def test_the_database_has_no_secret(ada: Membership) -> None:
    """Nor while it is set up, in the session, nor as the kept answer to a request with a key."""
    page = signed_in()
    headers = {"Idempotency-Key": "setting-it-up"}
    pending = page.post("/api/session/factor/secret", {}, content_type=JSON, headers=headers).json()["secret"]
    assert pending not in json.dumps([session.get_decoded() for session in Session.objects.all()])
    assert not KeptAnswer.objects.exists()
    secret, codes = activated(page)
    stored = "".join(serialize("json", model.objects.all()) for model in apps.get_models() if model._meta.label_lower != "sessions.session")
    assert not [text for text in (secret, *codes) if text in stored]


def test_with_another_secret_key_the_way_back_is_a_link(ada: Membership, settings: Any) -> None:
    """A backup that was restored elsewhere."""
    secret, _ = activated(signed_in())
    token = SignInToken.issue(ada.user)
    settings.SECRET_KEY = "another"
    assert sign_in(code_of(secret)).status_code == 401
    page = browser()
    page.get("/signin", {"token": token})
    assert page.get("/api/session/factor").json() == {"active": True, "codes_left": 0, "connected": None}
    assert page.post("/api/session/factor/off", {"code": ""}, content_type=JSON).status_code == 204
    assert json.loads(page.get("/api/session/factor").content)["active"] is False
