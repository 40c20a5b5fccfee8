"""Somebody puts the state of an operator into a local store, and watches its changelog: who cleans it, what is dirty, what a crash would
make a store read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from ..support.stored import apart, in_memory, stored
from .axe import assert_accessible
from .canvas import Canvas
from .test_run import open_at_frame, start
from .waiting import wait_until_ended


def purchases(document: dict[str, Any]) -> None:
    """Twelve seconds of purchases, with the state in memory."""
    document.clear()
    document.update(in_memory(stored("fold", horizon_s=12, per_s=400)))


@pytest.mark.slow
def test_a_store_is_chosen_and_its_changelog_watched(page: Page, canvas: Canvas, api: httpx.Client, experiment: Callable[..., str]) -> None:
    canvas.open(experiment(purchases))
    page.get_by_role("tab", name="Policies").click()
    page.get_by_role("button", name="State In memory").click()
    page.get_by_label("State", exact=True).select_option(label="Local store, with a changelog")
    page.locator("[data-pointer='/policies/state/commit_s'] input").fill("4")
    page.locator("[data-pointer='/policies/state/changelog/compacted'] input").check()
    page.locator("[data-pointer='/policies/state/changelog/segment_ms'] input").fill("100")
    canvas.wait_until_saved()
    assert_accessible(page)
    canvas.run()
    page.wait_for_url("**/runs/*")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")
    page.get_by_role("tab", name="Stores").click()
    stores = page.get_by_test_id("stores")
    expect(stores.get_by_test_id("changelogs").locator("tbody tr")).to_have_count(2)
    rows = stores.get_by_test_id("store-stacks").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first.locator("td").last).to_have_text(re.compile(r"^[\d,]+ / [\d,]+$"))
    expect(stores.get_by_test_id("cleaners").locator("li")).to_have_count(2)
    assert_accessible(page)

    size = stores.locator(".about b")
    at_end = size.inner_text()
    page.get_by_role("slider", name="Moment shown").press("Home")
    expect(size).not_to_have_text(at_end)
    expect(stores.get_by_test_id("cleaners")).to_contain_text(re.compile("asleep until|cleans revenue"))
    state = api.get(f"/api/runs/{page.url.rsplit('/', 1)[-1].split('?')[0]}").json()["summary"]["state"]
    assert state["commits"] == 6
    assert state["appended"] > 4000


def purchases_on_two_hosts(document: dict[str, Any]) -> None:
    """Eight seconds of purchases with stores, whose results go to another host, which a crash of the first one leaves alone."""
    document.clear()
    document.update(apart(stored("fold", horizon_s=8, per_s=400, commit_s=1.5, changelog={})))


@pytest.mark.deep
@pytest.mark.slow
def test_a_process_is_killed_and_its_stores_are_filled_again(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    """The kill leads to a fork that is compared with the run; its page shows the restore and what was read again."""
    first = start(api, experiment(purchases_on_two_hosts))
    wait_until_ended(api, page, first)
    open_at_frame(page, first, frame=3, of=8)
    page.get_by_role("button", name="Kill node02").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Its processes crash; its disk is left")).to_be_checked()
    expect(dialog.get_by_test_id("loss-means")).to_contain_text("read again from the last commit")
    assert_accessible(page)
    dialog.get_by_label("Seconds until it is back").fill("0.5")
    page.get_by_test_id("kill-go").click()
    page.wait_for_url("**/compare?runs=*")
    forked = page.url.split(",")[-1]
    wait_until_ended(api, page, forked)
    page.goto(f"/runs/{forked}")
    page.get_by_role("tab", name="Stores").click()
    outages = page.get_by_test_id("outages")
    expect(outages).to_contain_text(re.compile(r"node02 went on after 0\.\d+ s, its disk is left; \d+ changes? (was|were) in no changelog"))
    expect(outages).to_contain_text(re.compile(r"sources read [\d,]+ records again"))
    expect(outages.locator(".restore")).to_have_count(2)
    expect(outages.locator(".restore").first).to_contain_text("from its disk and the end of the changelog")
    assert_accessible(page)
    summaries = [api.get(f"/api/runs/{id}").json()["summary"]["state"] for id in (first, forked)]
    assert "outages" not in summaries[0]
    assert summaries[1]["outages"] == 1
    assert summaries[1]["read_again"] > 0
