"""Sign-on through an identity provider, a real one in a thread. Catches: a stranger let into the lab, an account taken over by a name or by
a link, and a provider that is away."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from django.contrib.auth import get_user_model
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from webapp.accounts.models import LogEntry, SignInToken
from webapp.accounts.sign_on import Reason
from webapp.environment import identity_providers
from webapp.lab import people
from webapp.lab.models import Lab, Membership

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*deprecated"),
]
JSON = "application/json"
REFUSALS = Path(__file__).resolve().parents[2] / "frontend/src/app/refusals.json"


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    import oidc_provider_mock

    users = [oidc_provider_mock.User(sub=name, claims={"preferred_username": name}) for name in ("grace", "ada", "mallory")]
    with oidc_provider_mock.run_server_in_thread(user_claims=users) as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture
def sign_on(lab: Lab, provider: str, settings: Any) -> str:
    configure(settings, provider)
    return provider


def configure(settings: Any, url: str, role: str = "") -> None:
    settings.SIGN_ON_URL, settings.SIGN_ON_NAME, settings.SIGN_ON_ROLE = url, "Uni", role
    settings.SOCIALACCOUNT_PROVIDERS = identity_providers(url, "Uni", "millrace", "secret")


def browser() -> Client:
    return Client(HTTP_HOST="127.0.0.1")


def where_to(page: Client, **body: Any) -> str:
    answer = page.post("/api/session/sign-on", body, content_type=JSON)
    assert answer.status_code == 200, answer.json()
    return str(answer.json()["url"])


def at_the_provider(url: str, who: str) -> str:
    """Sign in there. Returns the address, of Millrace, to which the provider sends the browser."""
    answer = httpx.post(url, data={"sub": who})
    assert answer.status_code == 302, answer.text
    return answer.headers["Location"].removeprefix("http://127.0.0.1")


def signed_on(who: str, page: Client | None = None, **body: Any) -> tuple[Client, str]:
    """The browser afterwards, and where it was sent."""
    page = page or browser()
    answer = page.get(at_the_provider(where_to(page, **body), who))
    assert answer.status_code == 302, answer.content
    return page, answer["Location"]


def test_the_page_knows_the_provider(sign_on: str) -> None:
    assert browser().get("/api/session/ways").json() == {"sign_on": "Uni"}
    query = parse_qs(urlsplit(where_to(browser())).query)
    assert (query["client_id"], query["code_challenge_method"]) == (["millrace"], ["S256"])
    assert query["redirect_uri"] == ["http://127.0.0.1/signin/provider/callback"]


def test_without_a_provider_there_is_none(lab: Lab) -> None:
    assert browser().get("/api/session/ways").json() == {"sign_on": None}
    answer = browser().post("/api/session/sign-on", {}, content_type=JSON)
    assert (answer.status_code, "MILLRACE_OIDC_URL" in answer.json()["detail"]) == (404, True)


def test_who_comes_for_the_first_time_needs_an_invitation(sign_on: str) -> None:
    page, sent_to = signed_on("grace")
    assert sent_to == "/"
    answer = page.get("/api/me")
    assert (answer.status_code, answer.json()["member"]) == (401, False)
    again, _ = signed_on("grace")
    assert get_user_model().objects.filter(username="grace").count() == 1
    people.member("grace", "viewer", of=people.lab())
    assert again.get("/api/me").json()["role"] == "viewer"


def test_a_role_for_all_whom_the_provider_sends(sign_on: str, settings: Any) -> None:
    configure(settings, sign_on, role="member")
    page, _ = signed_on("grace")
    assert page.get("/api/me").json()["role"] == "member"
    assert LogEntry.objects.get(action="join.account").detail == "from Uni, role member"
    people.change_role(Membership.objects.get(user__username="grace"), "viewer")
    assert signed_on("grace")[0].get("/api/me").json()["role"] == "viewer", "only the first time"


def test_a_name_that_is_taken_opens_no_account(sign_on: str, settings: Any) -> None:
    """A provider may let people choose their names."""
    configure(settings, sign_on, role="viewer")
    people.member("ada")
    page, _ = signed_on("ada")
    told = page.get("/api/me").json()
    assert (told["name"], told["role"]) == ("ada-2", "viewer")


def test_an_account_is_connected_while_signed_in(sign_on: str) -> None:
    ada = people.member("ada")
    page = browser()
    page.get("/signin", {"token": SignInToken.issue(ada.user)})
    assert page.get("/api/session/factor").json()["connected"] is False
    signed_on("ada", page, connect=True)
    assert page.get("/api/session/factor").json()["connected"] is True
    other, _ = signed_on("ada")
    assert other.get("/api/me").json()["name"] == "ada"
    ben = browser()
    ben.get("/signin", {"token": SignInToken.issue(people.member("ben", "member").user)})
    _, sent_to = signed_on("ada", ben, connect=True)
    assert sent_to.endswith("/?sign_on=taken")
    assert signed_on("ada")[0].get("/api/me").json()["name"] == "ada"


def test_a_link_of_an_owner_connects_nothing(sign_on: str) -> None:
    """Else an owner could sign in as a member for good, also to other labs."""
    ben = people.member("ben", "member")
    page = browser()
    page.get("/signin", {"token": SignInToken.issue(ben.user, ben.lab)})
    _, sent_to = signed_on("mallory", page, connect=True)
    assert sent_to.endswith("/?sign_on=by-link")
    assert page.get("/api/session/factor").json()["connected"] is False
    answer = browser().post("/api/session/sign-on", {"connect": True}, content_type=JSON)
    assert answer.status_code == 401


def test_who_was_deactivated_stays_out(sign_on: str) -> None:
    signed_on("grace")
    get_user_model().objects.filter(username="grace").update(is_active=False)
    page, sent_to = signed_on("grace")
    assert sent_to.endswith("/?sign_on=deactivated")
    assert page.get("/api/me").status_code == 401


@pytest.mark.parametrize("changed", [{"state": "other"}, {"code": "other"}, {"error": "access_denied", "code": None}])
def test_an_answer_that_does_not_fit_is_refused(sign_on: str, changed: dict[str, str | None]) -> None:
    page = browser()
    back = at_the_provider(where_to(page), "grace")
    query = {name: values[0] for name, values in parse_qs(urlsplit(back).query).items()} | changed
    answer = page.get("/signin/provider/callback", {name: value for name, value in query.items() if value is not None})
    assert answer.status_code == 302
    assert answer["Location"] == ("/?sign_on=cancelled" if "error" in changed else "/?sign_on=failed")
    assert page.get("/api/me").status_code == 401
    assert not get_user_model().objects.filter(username="grace").exists()


def test_an_answer_of_another_browser_is_refused(sign_on: str) -> None:
    back = at_the_provider(where_to(browser()), "grace")
    page = browser()
    assert page.get(back)["Location"] == "/?sign_on=failed"
    assert page.get("/api/me").status_code == 401


def test_the_page_has_a_sentence_for_each_reason() -> None:
    assert json.loads(REFUSALS.read_text()).keys() == set(Reason)


def test_a_provider_that_is_away_is_named(lab: Lab, settings: Any) -> None:
    configure(settings, "http://localhost:9")
    answer = browser().post("/api/session/sign-on", {}, content_type=JSON)
    assert (answer.status_code, answer.json()["detail"]) == (409, "Uni does not answer; try again later, or sign in with a password")


def test_an_unknown_provider_is_not_there(sign_on: str) -> None:
    assert browser().get("/signin/other/callback").status_code == 404


def test_a_provider_without_a_client_is_refused_at_the_start() -> None:
    with pytest.raises(ImproperlyConfigured, match=re.escape("MILLRACE_OIDC_CLIENT is empty")):
        identity_providers("https://id.example.org", "Uni", "", "")
