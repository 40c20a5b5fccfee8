"""Somebody puts the state of an operator into a local store, and watches its changelog: who cleans it, what is dirty, what a crash would
make a store read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from ..support.stored import in_memory, stored
from .axe import assert_accessible
from .canvas import Canvas


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
