"""Somebody kills a host, and the standby of its operator takes over."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from ..support.stored import mirrored
from .axe import assert_accessible
from .test_run import open_at_frame, start
from .waiting import wait_until_ended


def revenue_with_a_standby(document: dict[str, Any]) -> None:
    document.clear()
    document.update(mirrored(horizon_s=8))


@pytest.mark.slow
def test_a_host_is_killed_and_its_standby_takes_over(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    """The page shows who would take over with what, and the kill's fork that no result is missing."""
    first = start(api, experiment(revenue_with_a_standby))
    wait_until_ended(api, page, first)
    open_at_frame(page, first, frame=3, of=8)
    page.get_by_role("tab", name="Standbys").click()
    shown = page.get_by_test_id("standbys")
    expect(shown).to_contain_text("1 of 1 instance has a standby")
    expect(shown.get_by_test_id("standby-table").locator("tbody tr")).to_contain_text(re.compile(r"revenue\[0\] on work.*on spare"))
    assert_accessible(page)
    page.get_by_role("tab", name="Events").click()
    page.get_by_role("button", name="Kill work").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_test_id("loss-means")).to_contain_text("Standbys of its operators take over")
    dialog.get_by_label("No, it is lost permanently").check()
    page.get_by_test_id("kill-go").click()
    page.wait_for_url("**/compare?runs=*")
    forked = page.url.split(",")[-1]
    wait_until_ended(api, page, forked)
    page.goto(f"/runs/{forked}")
    page.get_by_role("tab", name="Standbys").click()
    expect(page.get_by_test_id("takeovers")).to_contain_text(
        re.compile(r"work is lost; standbys took over after 0.20 s and sent \d+ results? held back")
    )
    expect(page.get_by_test_id("standby-table").locator("tbody tr")).to_contain_text("standby[0] on spare")
    assert_accessible(page)
    plain, killed = (api.get(f"/api/runs/{id}").json()["summary"] for id in (first, forked))
    assert plain["records_out"] == killed["records_out"]
    assert killed["standbys"]["takeovers"] == killed["standbys"]["unprotected"] == 1
