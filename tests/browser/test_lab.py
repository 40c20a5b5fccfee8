"""The Lab page: tokens of programs, people and what they may do, by what is written on the page."""

from __future__ import annotations

import base64
import hmac
import re
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.support.tiers import only

from .axe import assert_accessible
from .canvas import Canvas
from .reasons import assert_reasons
from .test_run import make_long, probe, start, wait_for
from .waiting import drawn, wait_until_ended

OWN_INSTALLATION = True

PASSWORD = "three blind mice"
SAYS_WHY = re.compile("^Your role is viewer: it can view everything and change nothing")


def answer_to(workbench: Any, token: str, path: str = "/api/me") -> int:
    return httpx.get(workbench.url + path, headers={"Authorization": f"Bearer {token}"}, trust_env=False).status_code


@pytest.mark.parametrize("theme", only(["light", "dark"], ci=["light"]))
def test_a_token_is_issued_copied_used_and_revoked(workbench: Any, new_context: Callable[..., BrowserContext], theme: str) -> None:
    context = new_context(theme=theme)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto("/")
    page.get_by_test_id("stage").wait_for()
    page.get_by_role("link", name="Lab", exact=True).click()
    page.get_by_role("tab", name="Tokens").click()
    expect(page).to_have_url(f"{workbench.url}/lab/tokens")
    name = f"notebook {theme}"
    page.get_by_role("button", name="Issue a token").click()
    issue = page.get_by_role("button", name="Issue", exact=True)
    expect(issue).to_be_disabled()
    expect(page.get_by_role("dialog")).to_contain_text("Enter a name first")
    page.get_by_label("Name").fill(name)
    assert_accessible(page)
    issue.click()
    expect(page.get_by_role("dialog")).to_contain_text("shown only once")
    assert_accessible(page)
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_test_id("toast")).to_contain_text("Copied")
    token = page.evaluate("navigator.clipboard.readText()")
    assert token == page.get_by_label("Token", exact=True).input_value()
    assert answer_to(workbench, f" {token}") == 200
    page.get_by_role("button", name="I have saved it").click()
    expect(page.get_by_role("row", name=name)).to_contain_text("Active")
    assert_accessible(page)
    page.reload()
    expect(page.get_by_role("row", name=name)).not_to_contain_text("never")
    assert token not in page.content()
    page.get_by_role("button", name=f"Revoke {name}").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("row", name=name)).to_have_count(0)
    assert answer_to(workbench, token) == 401
    page.get_by_label("Show").click()
    expect(page.get_by_label("Show")).to_be_checked()
    expect(page.get_by_role("row", name=name)).to_contain_text("Revoked")
    expect(page.get_by_role("button", name=f"Revoke {name}")).to_be_disabled()


def test_where_a_page_may_not_copy_the_token_is_selected(page: Page) -> None:
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.goto("/lab/tokens")
    page.get_by_role("button", name="Issue a token").click()
    page.get_by_label("Name").fill("by hand")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_test_id("toast")).to_contain_text("Ctrl+C")
    assert page.evaluate("getSelection().toString()").startswith("millrace_")


def invite(page: Page, role: str) -> str:
    """The link that an owner makes for somebody."""
    page.goto("/lab")
    page.get_by_role("button", name="Invite").click()
    page.get_by_role("dialog").get_by_label(role).check()
    page.get_by_role("button", name="Create link").click()
    link = page.get_by_label("Link", exact=True).input_value()
    expect(page.get_by_role("dialog")).to_contain_text("This address works on this machine only")  # tests open it at 127.0.0.1
    page.get_by_role("button", name="I have sent it").click()
    return link


def join(page: Page, link: str, name: str) -> None:
    page.goto(link)
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Join", exact=True).click()
    page.get_by_test_id("stage").wait_for()


@pytest.mark.parametrize("theme", only(["light", "dark"], ci=["light"]))
def test_somebody_is_invited_joins_gets_another_role_and_is_removed(new_context: Callable[..., BrowserContext], theme: str) -> None:
    owner = new_context(theme=theme).new_page()
    link = invite(owner, "viewer")
    expect(owner.get_by_label("Invitations")).to_contain_text("viewer")
    assert_accessible(owner)

    guest = new_context(theme=theme, storage_state=None).new_page()
    guest.goto("/runs")
    expect(guest.get_by_role("heading", name="You are not signed in")).to_be_visible()
    assert_accessible(guest)
    guest.get_by_label("Name").fill("somebody")
    with guest.expect_response("**/api/me") as answer:
        guest.evaluate("dispatchEvent(new Event('millrace:signed-out'))")  # the page asks again who is there
    answer.value.finished()
    drawn(guest)  # the page has taken the answer
    expect(guest.get_by_label("Name")).to_have_value("somebody")
    guest.goto(link)
    expect(guest.get_by_role("heading")).to_contain_text("Join")
    expect(guest.get_by_text("local invites you as viewer")).to_be_visible()
    guest.get_by_label("Name").fill("local")
    guest.get_by_label("Password").fill("short")
    guest.get_by_role("button", name="Join", exact=True).click()
    expect(guest.get_by_text("already exists")).to_be_visible()
    assert_accessible(guest)
    name = f"mary {theme}".replace(" ", "-")
    guest.get_by_label("Name").fill(name)
    guest.get_by_role("button", name="Join", exact=True).click()
    expect(guest.get_by_text("too short")).to_be_visible()
    guest.get_by_label("Password").fill(PASSWORD)
    guest.get_by_role("button", name="Join", exact=True).click()
    guest.get_by_test_id("stage").wait_for()
    guest.get_by_role("link", name="Lab", exact=True).click()
    expect(guest.get_by_text(f"You are {name}, viewer")).to_be_visible()
    expect(guest.get_by_role("button", name="Invite")).to_be_disabled()
    expect(guest.get_by_role("button", name="Invite")).to_have_attribute(
        "title", "Your role is viewer: only owners manage the lab. Ask one of them."
    )
    assert_accessible(guest)

    owner.reload()
    expect(owner.get_by_label("Invitations")).to_have_count(0)
    expect(owner.get_by_label("Role of local")).to_be_disabled()
    owner.get_by_label(f"Role of {name}").select_option("owner")
    expect(owner.get_by_test_id("toast")).to_contain_text("an owner now")
    expect(owner.get_by_label("Role of local")).to_be_enabled()
    guest.reload()
    expect(guest.get_by_text(f"You are {name}, owner")).to_be_visible()

    guest.get_by_role("navigation", name="Main").get_by_role("button").click()
    guest.get_by_role("button", name="Sign out").click()
    guest.get_by_label("Name").fill(name)
    guest.get_by_label("Password").fill("wrong")
    guest.get_by_role("button", name="Sign in").click()
    expect(guest.get_by_text("wrong name or password")).to_be_visible()
    guest.get_by_label("Password").fill(PASSWORD)
    guest.get_by_role("button", name="Sign in").click()
    guest.get_by_test_id("stage").wait_for()

    owner.get_by_role("button", name=f"Remove {name}").click()
    owner.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(owner.get_by_role("row", name=name)).to_have_count(0)
    guest.evaluate("dispatchEvent(new Event('millrace:signed-out'))")  # a question may be refused before the connection is closed
    expect(guest.get_by_role("dialog")).to_contain_text("no longer a member of the lab")
    guest.goto(link)
    expect(guest.get_by_text("has been used")).to_be_visible()


@contextmanager
def person(workbench: Any, new_context: Callable[..., BrowserContext], name: str, role: str) -> Iterator[BrowserContext]:
    """The browser of somebody else of the lab."""
    context = new_context(storage_state=None)
    page = context.new_page()
    page.goto(workbench.manage("signin_url", "--base", workbench.url, "--user", name, "--role", role))
    page.get_by_test_id("stage").wait_for()
    page.get_by_role("button", name="No, thanks").click()
    page.close()
    yield context


@pytest.fixture
def viewer(workbench: Any, new_context: Callable[..., BrowserContext]) -> Iterator[BrowserContext]:
    with person(workbench, new_context, "victor", "viewer") as context:
        yield context


def assert_refused(page: Page, *controls: Locator) -> None:
    """Each is there, cannot be used, and says why."""
    for control in controls:
        expect(control.first).to_be_visible()
        expect(control.first).to_have_attribute("title", SAYS_WHY)
        if control.first.get_attribute("aria-disabled") != "true":
            expect(control.first).to_be_disabled()


def test_a_viewer_watches_the_run_of_another_live_and_can_change_nothing(
    viewer: BrowserContext, page: Page, api: httpx.Client, experiment: Callable[..., str], workbench: Any
) -> None:
    """Two people in two browsers; every control of a run's page that would change something is off and says why."""
    page.goto(f"/experiments/{experiment(make_long)}")
    expect(page.get_by_test_id("run")).to_have_attribute("aria-disabled", "false")
    look = viewer.new_page()
    writes: list[str] = []
    look.on("request", lambda request: writes.append(f"{request.method} {request.url}") if request.method not in ("GET", "HEAD") else None)
    look.goto("/runs")
    look.get_by_test_id("run-list").wait_for()
    page.get_by_test_id("run").click()
    page.wait_for_url("**/runs/*")
    run_id = page.url.rsplit("/", 1)[-1]
    try:
        number = api.get(f"/api/runs/{run_id}").json()["number"]
        expect(look.get_by_test_id(f"run-{number}")).to_be_visible()
        look.get_by_test_id(f"run-{number}").get_by_role("link", name=str(number), exact=True).click()
        wait_for(look, "framesReceived", 3)
        wait_for(page, "framesReceived", 3)
        before = probe(look)["framesReceived"]
        wait_for(look, "framesReceived", before + 2)
        expect(look.get_by_test_id("run-state")).to_have_attribute("data-state", "running")
        assert_refused(look, *map(look.get_by_test_id, ("rerun", "cancel", "engine-pause", "engine-step", "fork")))
        expect(look.get_by_role("group", name="Pace")).to_have_attribute("title", SAYS_WHY)
        expect(look.get_by_role("radio", name="2 × real time")).to_be_disabled()
        for key in ("p", "s", "Control+Enter"):
            look.keyboard.press(key)
            expect(look.get_by_test_id("toast")).to_contain_text("Your role is viewer")
            look.get_by_role("button", name="Dismiss").click()
        look.keyboard.press("Control+k")
        look.get_by_label("Search commands").fill("cancel the run")
        expect(look.get_by_role("option", name="Cancel the run")).to_have_attribute("aria-disabled", "true")
        expect(look.get_by_role("option", name="Cancel the run")).to_contain_text("Your role is viewer")
        look.keyboard.press("Escape")
        assert_accessible(look)
        page.get_by_test_id("engine-pause").click()
        expect(look.get_by_test_id("run-state")).to_have_attribute("data-state", "paused")
        expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "paused")
    finally:
        api.post(f"/api/runs/{run_id}/cancel")
    assert writes == []


def test_a_viewer_looks_at_everything_else_and_can_change_nothing(
    viewer: BrowserContext, api: httpx.Client, experiment: Callable[..., str]
) -> None:
    """Every page by mouse and keyboard: nothing but questions (validation, previews) is sent, and all that is off says why."""
    experiment_id = experiment()
    version = api.get(f"/api/experiments/{experiment_id}").json()["version"]
    run_id = start(api, experiment_id)
    page = viewer.new_page()
    writes: list[str] = []
    questions = ("/api/validate", "/api/preview", "/api/studies/validate")
    page.on(
        "request",
        lambda request: (
            writes.append(request.url) if request.method not in ("GET", "HEAD") and not request.url.endswith(questions) else None
        ),
    )
    button = page.get_by_role("button")
    page.goto("/experiments?show=all")
    assert_refused(page, page.get_by_test_id("new-experiment"), page.get_by_label("Duplicate "), page.get_by_label("Delete "))
    page.goto("/templates")
    assert_refused(page, page.get_by_role("button", name="Empty experiment"), page.locator(".card h2 button"))
    page.goto("/datasets")
    assert_refused(page, page.get_by_test_id("upload-dataset"))
    page.goto("/runs")
    page.get_by_label(re.compile(r"^Choose run \d+")).first.check()
    bulk = page.get_by_test_id("bulk")
    assert_refused(page, *(bulk.get_by_role("button", name=name) for name in ("Tag", "Cancel", "Delete")))

    page.goto(f"/experiments/{experiment_id}")
    canvas = Canvas(page)
    canvas.operator("filter").locator("header b").click()
    expect(page.get_by_test_id("inspector").get_by_label("Predicate").first).to_be_disabled()
    expect(page.get_by_test_id("inspector").locator("fieldset").first).to_have_attribute("title", SAYS_WHY)
    assert_refused(
        page, page.get_by_test_id("run"), page.get_by_label("Name of the experiment"), page.get_by_test_id("palette-operator-filter")
    )
    assert_refused(page, page.get_by_test_id("palette-upload"), page.get_by_label("Auto-layout"), button.filter(has_text="Import"))
    place = canvas.operator("filter").bounding_box()
    assert place
    page.mouse.move(place["x"] + 60, place["y"] + 10)
    page.mouse.down()
    page.mouse.move(place["x"] + 160, place["y"] + 60, steps=4)
    page.mouse.up()
    canvas.operator("filter").locator("header b").click()
    for key in ("Delete", "Control+d", "Control+Enter"):
        page.keyboard.press(key)
        expect(page.get_by_test_id("toast").first).to_contain_text("Your role is viewer")
    page.get_by_label("Inspector").get_by_role("tab", name="Workload").click()
    expect(page.get_by_label("Horizon").first).to_be_disabled()
    # An edit would make this "dirty" at once, and the server would refuse to save it: it would never say "saved" again. What is not saved
    # when the page is left is sent then.
    expect(page.get_by_test_id("saved")).to_have_attribute("data-state", "saved")
    assert_accessible(page)
    assert_reasons(page)
    assert wait_until_ended(api, page, run_id)["state"] == "succeeded"
    page.goto(f"/runs/{run_id}?panel=records")
    assert_refused(page, page.get_by_test_id("ask-slowest"), page.get_by_test_id("ask-sample"), page.get_by_test_id("rerun"))
    page.goto(f"/studies/new?experiment={experiment_id}")
    assert_refused(page, page.get_by_test_id("start-study"))
    page.goto("/lab/tokens")
    page.get_by_role("button", name="Issue a token").click()
    expect(page.get_by_role("dialog").get_by_label("write")).to_be_disabled()
    expect(page.get_by_role("dialog")).to_contain_text("not with the role viewer")
    assert writes == []
    assert api.get(f"/api/experiments/{experiment_id}").json()["version"] == version


def closed_with(workbench: Any, path: str, headers: dict[str, str]) -> int | None:
    """The code with which the server closes a WebSocket at once; None if it sends something."""
    with connect(workbench.url.replace("http", "ws", 1) + path, additional_headers=headers, proxy=None) as socket:
        try:
            socket.recv(5)
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else None
    return None


def test_a_stranger_sees_nothing_and_a_token_no_more_than_its_scope(
    workbench: Any, new_context: Callable[..., BrowserContext], api: httpx.Client, experiment: Callable[..., str]
) -> None:
    """In a browser, over HTTP and over both WebSockets of a real server."""
    experiment_id = experiment()
    run_id = start(api, experiment_id)
    stranger = new_context(storage_state=None).new_page()
    for path in ("/runs", f"/runs/{run_id}", f"/experiments/{experiment_id}", "/datasets", "/lab", "/lab/tokens"):
        stranger.goto(path)
        expect(stranger.get_by_role("heading", name="You are not signed in")).to_be_visible()
        expect(stranger.locator("body")).not_to_contain_text("NexMark")
    sockets = (f"/ws/runs/{run_id}?after=-1", "/ws/news")
    bearer = {
        scope: {"Authorization": f"Bearer {workbench.manage('api_token', scope, '--scope', scope).split()[-1]}"}
        for scope in ("metrics", "read", "write")
    }
    asks: dict[str, Any] = {"trust_env": False, "timeout": 30}
    url = workbench.url
    assert httpx.get(f"{url}/metrics", headers=bearer["metrics"], **asks).status_code == 200
    for scope, status in (("metrics", 403), ("read", 200), ("write", 200)):
        assert httpx.get(f"{url}/api/runs", headers=bearer[scope], **asks).status_code == status
    for scope in ("metrics", "read"):
        refused = httpx.delete(f"{url}/api/runs/{run_id}", headers=bearer[scope], **asks)
        assert (refused.status_code, refused.json()["needs"]) == (403, "write")
    assert httpx.post(f"{url}/api/invitations", json={}, headers=bearer["write"], **asks).json()["needs"] == "admin"
    for path in sockets:
        assert closed_with(workbench, path, {}) == 4401
        assert closed_with(workbench, path, bearer["metrics"]) == 4405
        assert closed_with(workbench, path, bearer["read"]) is None


def test_an_owner_reads_who_did_what_and_a_viewer_is_told_why_not(
    viewer: BrowserContext, page: Page, api: httpx.Client, experiment: Callable[..., str]
) -> None:
    experiment_id = experiment(lambda document: document.update(name="Told of"))
    run_id = start(api, experiment_id)
    api.post(f"/api/runs/{run_id}/cancel")
    number = api.get(f"/api/runs/{run_id}").json()["number"]
    api.delete(f"/api/experiments/{experiment_id}")
    page.goto("/lab")
    page.get_by_role("tab", name="Audit").click()
    log = page.get_by_role("region", name="Audit")
    expect(log.get_by_role("row", name="deleted Told of")).to_contain_text("local with the token “browser tests”")
    assert_accessible(page)
    page.get_by_role("radiogroup", name="What").get_by_text("Runs").click()
    expect(log.get_by_role("row", name="Told of")).to_have_count(1)
    expect(log.get_by_role("row", name="Told of")).to_contain_text("started a run of")
    page.get_by_label("Person", exact=True).select_option("victor")
    expect(page.get_by_text("No such actions yet")).to_be_visible()
    assert page.url.endswith("action=runs&person=victor")
    page.go_back()
    log.get_by_role("link", name=f"run {number}", exact=True).click()
    page.wait_for_url(f"**/runs/{run_id}")
    look = viewer.new_page()
    look.goto("/lab/audit")
    expect(look.get_by_text("The log is for owners")).to_be_visible()
    expect(look.get_by_text("Your role is viewer: only owners manage the lab")).to_be_visible()
    assert_accessible(look)


def test_a_limit_is_set_met_and_taken_away(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    """The run that is refused says what is large; the page of storage leads to it."""
    run = api.post(f"/api/experiments/{experiment()}/runs", json={}).json()["id"]
    page.goto(f"/runs/{run}")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")
    page.goto("/lab/storage")
    expect(page.get_by_label("Storage", exact=True)).to_contain_text("used")
    page.get_by_role("button", name="Change the limit").click()
    page.get_by_role("textbox", name="Limit").fill("none")
    expect(page.get_by_role("button", name="Set")).to_be_disabled()
    page.get_by_role("textbox", name="Limit").fill("0")
    expect(page.get_by_role("dialog")).to_contain_text("nothing new can start")
    assert_accessible(page)
    page.get_by_role("button", name="Set").click()
    try:
        expect(page.get_by_role("alert")).to_contain_text("The limit is reached")
        assert_accessible(page)
        page.goto(f"/runs/{run}")
        page.get_by_test_id("rerun").click()
        expect(page.get_by_test_id("toast")).to_contain_text("its storage limit is 0 B")
    finally:
        page.goto("/lab/storage")
        page.get_by_role("button", name="Change the limit").click()
        page.get_by_role("textbox", name="Limit").fill("")
        page.get_by_role("button", name="Set").click()
        expect(page.get_by_text("There is no limit")).to_be_visible()


@pytest.mark.deep
def test_a_retention_rule_shows_what_it_would_remove(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    run = api.post(f"/api/experiments/{experiment()}/runs", json={}).json()
    wait_until_ended(api, page, run["id"])
    page.goto("/lab/storage")
    expect(page.get_by_label("Retention rules")).to_contain_text("Without a rule everything is kept")
    page.get_by_role("button", name="Add a rule").click()
    dialog = page.get_by_role("dialog")
    page.get_by_label("Amount").fill("0")
    expect(dialog).to_contain_text("Days must be a whole number from 1 to 36,500.")
    expect(page.get_by_role("button", name="Add", exact=True)).to_be_disabled()
    page.get_by_label("When").select_option("bytes")
    expect(dialog).to_contain_text(re.compile(r"Now it would remove \d+ runs?'?s? frames"))
    expect(dialog).to_contain_text(f"#{run['number']}")
    page.get_by_label("Keep runs with the tags").fill("paper")
    assert_accessible(page)
    page.get_by_role("button", name="Add", exact=True).click()
    rule = page.get_by_role("row", name=re.compile("Frames of runs, oldest first, while all take more than 0 B"))
    expect(rule).to_contain_text("except runs with a note or the tag paper")
    rule.get_by_role("button", name="Pause").click()
    expect(rule).to_contain_text("paused")
    assert_accessible(page)
    rule.get_by_role("button", name="Delete").click()
    expect(page.get_by_label("Retention rules")).to_contain_text("Without a rule everything is kept")


def test_limits_are_set_and_shown_to_each_person(page: Page) -> None:
    page.goto("/lab/people")
    page.get_by_role("button", name="Limits for each person").click()
    page.get_by_label("Requests").fill("5")
    expect(page.get_by_role("button", name="Set")).to_be_disabled()
    page.get_by_label("Requests").fill("")
    page.get_by_label("Runs waiting").fill("400")
    assert_accessible(page)
    page.get_by_role("button", name="Set").click()
    page.locator(".me").click()
    page.get_by_role("button", name="Your limits").click()
    expect(page.get_by_role("row", name=re.compile("Runs waiting"))).to_contain_text("400")
    expect(page.get_by_role("row", name=re.compile("Requests"))).to_contain_text("not counted")
    assert_accessible(page)


def test_a_second_factor_is_set_up_and_asked_for(workbench: Any, new_context: Callable[..., BrowserContext]) -> None:
    page = new_context(storage_state=None).new_page()
    page.goto(workbench.manage("signin_url", "--user", "fred", "--role", "member"))
    page.get_by_test_id("stage").wait_for()
    page.locator(".me").click()
    page.get_by_role("button", name="Set a password").click()
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_role("button", name="Set password").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.locator(".me").click()
    page.get_by_role("button", name="Second factor").click()
    page.get_by_role("button", name="Set up a second factor").click()
    address = page.get_by_role("img", name=re.compile("QR code")).get_attribute("aria-label") or ""
    secret = address.partition("secret=")[2].partition("&")[0]
    assert_accessible(page)
    page.get_by_label("Code", exact=True).fill("000")
    page.get_by_role("button", name="Activate").click()
    expect(page.get_by_role("alert")).to_contain_text("the code is wrong")
    page.get_by_label("Code", exact=True).fill(totp(secret))
    page.get_by_role("button", name="Activate").click()
    codes = page.get_by_label("Recovery codes").inner_text().split()
    assert len(codes) == 10
    page.get_by_role("button", name="I have kept them").click()
    expect(page.get_by_role("dialog")).to_contain_text("active, with 10 unused recovery codes")
    page.keyboard.press("Escape")
    page.locator(".me").click()
    with page.expect_navigation():
        page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Name").fill("fred")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("enter the code of your authenticator app")
    assert_accessible(page)
    page.get_by_label("Code").fill(codes[0])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_test_id("stage").wait_for()


def totp(secret: str) -> str:
    counter = struct.pack(">Q", int(time.time()) // 30)
    digest = hmac.new(base64.b32decode(secret), counter, "sha1").digest()
    start = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[start : start + 4])[0] & 0x7FFFFFFF) % 10**6:06}"


def test_a_person_of_two_labs_switches_between_them(workbench: Any, new_context: Callable[..., BrowserContext]) -> None:
    workbench.manage("lab", "create", "Streams group", "--owner", "tess")
    page = new_context(storage_state=None).new_page()
    page.goto(workbench.manage("signin_url", "--user", "tess", "--lab", "Lab"))
    page.get_by_test_id("stage").wait_for()
    page.locator(".me").click()
    with page.expect_navigation():
        page.get_by_role("button", name=re.compile("^Switch to ")).click()
    page.get_by_test_id("stage").wait_for()
    page.goto("/lab/people")
    lab = page.get_by_role("heading", level=1).inner_text()
    page.locator(".me").click()
    with page.expect_navigation():
        page.get_by_role("button", name=re.compile("^Switch to ")).click()
    page.get_by_test_id("stage").wait_for()
    page.goto("/lab/people")
    expect(page.get_by_role("heading", level=1)).not_to_have_text(lab)
    assert_accessible(page)
