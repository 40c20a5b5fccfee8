"""Who gets in, and what each may do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from webapp.accounts.models import ApiToken, SignInToken
from webapp.lab.models import Experiment, Lab, Membership
from webapp.lab.people import member

pytestmark = pytest.mark.django_db


def browser(**options: Any) -> Client:
    return Client(HTTP_HOST="127.0.0.1", **options)


@pytest.mark.parametrize(
    "path",
    [
        "/api/me",
        "/api/registry",
        "/api/schema",
        "/api/experiments",
        "/api/runs",
        "/api/figures",
        "/api/figures/benchmark/3.5",
        "/api/tags",
        "/api/templates",
        "/api/datasets",
    ],
)
def test_a_stranger_gets_401_with_a_sentence(path: str) -> None:
    answer = browser().get(path)
    assert answer.status_code == 401
    assert "signin_url" in answer.json()["detail"]


def test_health_needs_no_sign_in(redis: Any) -> None:
    assert browser().get("/api/health").json()["database"] is True


def test_a_sign_in_link_works_once(owner: Membership) -> None:
    token = SignInToken.issue(owner.user)
    first = browser()
    answer = first.get(f"/signin?token={token}")
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert first.get("/api/me").json() == {
        "name": "ada",
        "lab": "Lab",
        "role": "owner",
        "scopes": ["metrics", "read", "write", "admin"],
        "labs": [{"id": owner.lab_id, "name": "Lab", "role": "owner"}],
    }
    second = browser()
    assert second.get(f"/signin?token={token}").status_code == 403
    assert second.get("/api/me").status_code == 401
    assert first.get(f"/signin?token={token}").status_code == 302, "who is in already and reloads the link stays in"


@pytest.mark.parametrize("token", ["", "wrong", "\x00", "é" * 100])
def test_a_wrong_token_says_how_to_get_a_right_one(token: str) -> None:
    answer = browser().get("/signin", {"token": token})
    assert answer.status_code == 403
    assert b"signin_url" in answer.content


def test_a_sign_in_link_runs_out(owner: Membership) -> None:
    token = SignInToken.issue(owner.user)
    SignInToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert browser().get(f"/signin?token={token}").status_code == 403


def test_tokens_are_stored_as_hashes_only(owner: Membership) -> None:
    tokens = [SignInToken.issue(owner.user), ApiToken.issue(owner, "notebook")[1]]
    stored = [*SignInToken.objects.values_list("hash", flat=True), *ApiToken.objects.values_list("hash", flat=True)]
    assert all(token not in stored and len(hash) == 64 for token, hash in zip(tokens, stored, strict=True))


def test_a_bearer_token_needs_no_cookie_and_no_csrf(owner: Membership, document: dict[str, Any]) -> None:
    token = ApiToken.issue(owner, "notebook")[1]
    program = browser(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {token}"})
    assert program.get("/api/me").json()["name"] == "ada"
    answer = program.post("/api/experiments", {"document": document}, content_type="application/json")
    assert answer.status_code == 201
    ApiToken.objects.update(revoked_at=timezone.now())
    assert program.get("/api/me").status_code == 401


def test_a_cookie_alone_may_not_write(owner: Membership, document: dict[str, Any]) -> None:
    person = browser(enforce_csrf_checks=True)
    person.force_login(owner.user)
    body = {"document": document}
    refused = person.post("/api/experiments", body, content_type="application/json")
    assert refused.status_code == 403
    assert "X-CSRFToken" in refused.json()["detail"]
    person.get("/")  # the page sets the cookie
    token = person.cookies["csrftoken"].value
    assert person.post("/api/experiments", body, content_type="application/json", headers={"X-CSRFToken": token}).status_code == 201


def test_a_viewer_reads_and_validates_but_changes_nothing(experiment: Experiment, document: dict[str, Any]) -> None:
    person = browser()
    person.force_login(member("victor", "viewer").user)
    assert person.get("/api/experiments").status_code == 200
    for path in ("/api/validate", "/api/preview"):
        assert person.post(path, {"document": document}, content_type="application/json").status_code == 200
    refused = person.post(f"/api/experiments/{experiment.pk}/runs", {}, content_type="application/json")
    assert refused.status_code == 403
    assert "viewer" in refused.json()["detail"]
    assert person.delete(f"/api/experiments/{experiment.pk}").status_code == 403


def test_another_labs_things_do_not_exist(experiment: Experiment) -> None:
    elsewhere = Lab.objects.create(name="Elsewhere")
    user = get_user_model().objects.create(username="eve")
    Membership.objects.create(lab=elsewhere, user=user)
    eve = browser()
    eve.force_login(user)
    assert eve.get("/api/experiments").json() == []
    assert eve.get(f"/api/experiments/{experiment.pk}").status_code == 404
    assert eve.post(f"/api/experiments/{experiment.pk}/runs", {}, content_type="application/json").status_code == 404


def test_a_user_without_a_lab_is_a_stranger(db: None) -> None:
    user = get_user_model().objects.create(username="nobody")
    nobody = browser()
    nobody.force_login(user)
    assert nobody.get("/api/me").status_code == 401


def test_other_hosts_are_refused() -> None:
    assert Client(HTTP_HOST="evil.example").get("/api/health").status_code == 400


def test_answers_carry_the_content_security_policy(redis: Any) -> None:
    policy = browser().get("/api/health")["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "http" not in policy
    assert "unsafe-eval" not in policy


def test_the_documentation_page_loads_nothing_from_elsewhere() -> None:
    page = browser().get("/api/docs").content.decode()
    assert "https://" not in page.replace("https://github.com", "")
    assert "/static/ninja/swagger-ui" in page
    assert browser().get("/static/ninja/swagger-ui.css").status_code == 200
