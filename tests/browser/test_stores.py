"""Somebody watches local stores: their changelogs and who cleans them, what is dirty, and what a crash would make a store read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from ..support.stored import stored
from .axe import assert_accessible
from .test_run import start
from .waiting import wait_until_ended


def cleaned(document: dict[str, Any]) -> None:
    """Twelve seconds of purchases, with a broker that compacts."""
    document.clear()
    topic = {"compacted": True, "segment_ms": 100, "dirty_ratio": 0.2}
    document.update(stored("fold", horizon_s=12, per_s=400, commit_s=4, changelog=topic, cleaner={"backoff_s": 1}))


@pytest.mark.slow
def test_changelogs_cleaners_and_stores_are_shown(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    run_id = start(api, experiment(cleaned))
    page.goto(f"/runs/{run_id}")
    wait_until_ended(api, page, run_id)
    page.get_by_role("tab", name="Stores").click()
    stores = page.get_by_test_id("stores")
    expect(stores.get_by_test_id("changelogs").locator("tbody tr")).to_have_count(2)
    expect(stores.get_by_test_id("store-stacks").locator("tbody tr")).to_have_count(2)
    expect(stores.get_by_test_id("cleaners").locator("li")).to_have_count(2)
    expect(stores.get_by_test_id("store-stacks").locator("tbody tr").first.locator("td").last).to_have_text(re.compile(r"^[\d,]+, [\d,]+$"))
    assert_accessible(page)

    size = stores.locator(".about b")
    at_end = size.inner_text()
    page.get_by_role("slider", name="Moment shown").press("Home")
    expect(size).not_to_have_text(at_end)
    expect(stores.get_by_test_id("cleaners")).to_contain_text(re.compile("asleep until|cleans revenue"))
