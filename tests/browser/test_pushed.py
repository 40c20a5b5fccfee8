"""What the server pushes: nothing is asked for again and again, and whoever may not look any more is told so at once."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Request, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from webapp.accounts.sessions import stored

from .test_run import make_long, probe, start, until_made, wait_for
from .waiting import drawn, until, until_ended

OWN_INSTALLATION = True

IDLE_MS = 10_000  # a connection that is silent for 12 s is made anew, and then all is read again


def make_short(document: dict[str, Any]) -> None:
    """A run of some seconds; a question about it takes twice as long."""
    document["workload"].update(horizon_s=60.0)
    for source in document["workload"]["sources"].values():
        source["rate"] = {"kind": "constant", "per_s": 20000}


class Asked:
    """What a page asks the server for, by address without its query, and what it is told."""

    def __init__(self, page: Page) -> None:
        self.paths: list[str] = []
        self.unanswered: set[Request] = set()
        self.told: list[str | bytes] = []
        page.on("request", self._ask)
        page.on("requestfinished", lambda request: self.unanswered.discard(request))
        page.on("requestfailed", lambda request: self.unanswered.discard(request))
        page.on("websocket", lambda socket: socket.on("framereceived", lambda text: self.told.append(text)))

    def _ask(self, request: Request) -> None:
        self.paths.append(re.sub(r"^https?://[^/]+|\?.*$", "", request.url))
        self.unanswered.add(request)

    def count(self, pattern: str) -> int:
        return sum(bool(re.fullmatch(pattern, path)) for path in self.paths)


@pytest.mark.deep
@pytest.mark.own_context
def test_an_answer_comes_with_its_progress_and_without_asking(
    page: Page, api: httpx.Client, experiment: Callable[..., str], workbench: Any
) -> None:
    """Also over a Redis that is restarted and a network that is away meanwhile."""
    run_id = start(api, experiment(make_short))
    until_ended(api, f"/api/runs/{run_id}")
    asked = Asked(page)
    page.goto(f"/runs/{run_id}?panel=records")
    page.get_by_test_id("ask-slowest").click()
    progress = page.get_by_test_id("records-progress").locator("progress")
    shares: set[str] = set()

    def answered() -> bool:
        shares.update(progress.evaluate_all("bars => bars.map(bar => bar.getAttribute('value')).filter(Boolean)"))
        return page.get_by_test_id("waterfall").count() > 0

    until(answered, "the answer is shown", page)
    times = asked.count(rf"/api/runs/{run_id}/waterfalls/[^/]+")
    print(f"{len(shares)} shares of progress were shown; the question was read {times} times")
    assert len(shares) > 2
    assert times <= 3, "at its beginning, when the news began, at its end"

    page.get_by_test_id("ask-sample").click()
    expect(page.get_by_test_id("records-progress")).to_contain_text("Running again")
    page.context.set_offline(True)
    redis = next(service for service in workbench.services if service.name == "redis")
    redis.ask_to_stop()
    redis.stop(time.monotonic() + 5)
    redis.start()
    workbench.wait_until_healthy(lambda: False)
    page.context.set_offline(False)
    expect(page.get_by_test_id("waterfall")).to_be_visible()


def idle(page: Page, api: httpx.Client) -> None:
    """Show a list in which nothing happens, and see that nothing is asked, on a clock of the page's own that is put forward."""
    for run in api.get("/api/runs").json()["items"]:
        until_ended(api, f"/api/runs/{run['id']}")  # what other tests have cancelled may still be under way
    page.clock.install()
    asked = Asked(page)
    page.goto("/runs")
    until(lambda: '{"type":"ready"}' in asked.told, "the news begin", page)
    drawn(page)  # the page has taken that, and reads anew what it shows
    until(lambda: not asked.unanswered, "all is read", page)
    asked.paths.clear()
    page.clock.run_for(IDLE_MS)
    page.evaluate("() => fetch('/api/me').then(() => true)")
    assert [path for path in asked.paths if path.startswith("/api/")] == ["/api/me"], "nothing happens: only the test itself asks"
    page.close()


@pytest.mark.own_context
def test_lists_and_comparisons_follow_without_asking(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    asked = Asked(page)
    page.goto("/runs")
    expect(page.get_by_role("status").filter(has_text="run")).to_be_visible()
    idle(page.context.new_page(), api)

    first, second = (start(api, experiment(make_short)) for _ in range(2))
    number = api.get(f"/api/runs/{second}").json()["number"]
    row = page.get_by_test_id("run-list").get_by_role("row").filter(has_text=f"{number}").first
    expect(row).to_contain_text("Queued", ignore_case=True)
    page.goto(f"/compare?runs={first},{second}")
    charts = page.get_by_test_id("compare-charts")
    expect(charts).to_be_visible()
    asked.paths.clear()
    chip = page.get_by_test_id(f"compared-{number}")
    expect(chip).to_contain_text("Running", ignore_case=True)
    charts.get_by_role("button", name=re.compile("table", re.I)).first.click()
    expect(charts.locator("tbody tr").nth(3)).to_be_visible()
    expect(chip).not_to_contain_text("Running", ignore_case=True)
    assert asked.count(rf"/api/runs/({first}|{second})") <= 2, "each once, when the news began"
    assert asked.count(rf"/api/runs/({first}|{second})/frames") <= 2, "each once, when it has ended"


def sign_in(context: BrowserContext, workbench: Any, user: str) -> Page:
    page = context.new_page()
    page.goto(workbench.manage("signin_url", "--base", workbench.url, "--user", user))
    page.get_by_test_id("stage").wait_for()
    return page


def in_database(workbench: Any, statement: str, *values: str) -> None:
    with sqlite3.connect(workbench.data / "millrace.sqlite3", timeout=20) as database:
        assert database.execute(statement, values).rowcount == 1


def pressed_or_gone(button: Locator) -> None:
    """The page also asks by itself from time to time, and may have found out first."""
    try:
        button.click(timeout=5000)
    except PlaywrightTimeout:
        expect(button).to_have_count(0)


@pytest.mark.deep
@pytest.mark.own_context
def test_a_session_that_ends_in_mid_run_is_told_and_nothing_is_lost(
    new_context: Callable[..., BrowserContext], api: httpx.Client, experiment: Callable[..., str], workbench: Any
) -> None:
    """Signed out elsewhere, then taken out of the lab: no frame comes any more, the page says why, and goes on when it may."""
    context = new_context(storage_state=None)
    page = sign_in(context, workbench, "grace")
    page.get_by_role("button", name="No, thanks").click()
    run_id = start(api, experiment(make_long))
    try:
        page.goto(f"/runs/{run_id}")
        wait_for(page, "framesReceived", 8)
        key = next(cookie["value"] for cookie in context.cookies() if str(cookie["name"]).startswith("millrace_"))
        in_database(workbench, "delete from django_session where session_key = ?", stored(str(key)))
        ended_s = time.monotonic()
        dialog = page.get_by_role("dialog", name="Your session has ended")
        expect(dialog).to_be_visible()
        print(f"told after {time.monotonic() - ended_s:.1f} s")
        expect(page.get_by_test_id("refused")).to_contain_text("no longer signed in")
        kept = probe(page)["framesReceived"]
        until_made(api, page, run_id, api.get(f"/api/runs/{run_id}").json()["frames"] + 8)
        drawn(page)
        assert probe(page)["framesReceived"] == kept, "nothing comes after the end of the session"
        assert int(page.get_by_test_id("time-stack").get_attribute("data-points") or 0) == kept
        sign_in(context, workbench, "grace").close()
        dialog.get_by_role("button", name="I am signed in now").click()
        expect(dialog).to_have_count(0)
        expect(page.get_by_test_id("refused")).to_have_count(0)
        wait_for(page, "drawnFrame", kept + 4)
        assert probe(page)["gaps"] == 0

        grace = "(select id from auth_user where username = 'grace')"
        with sqlite3.connect(workbench.data / "millrace.sqlite3", timeout=20) as database:
            (place,) = database.execute(f"select lab_id, user_id, role from lab_membership where user_id = {grace}").fetchall()
        in_database(workbench, f"delete from lab_membership where user_id = {grace}")
        dialog = page.get_by_role("dialog", name="You are no longer a member of the lab")
        expect(dialog).to_be_visible()
        kept = probe(page)["framesReceived"]
        in_database(workbench, "insert into lab_membership (lab_id, user_id, role) values (?, ?, ?)", *place)
        pressed_or_gone(dialog.get_by_role("button", name="I am a member now"))
        wait_for(page, "drawnFrame", kept + 4)
        assert probe(page)["gaps"] == 0
    finally:
        api.post(f"/api/runs/{run_id}/cancel")
