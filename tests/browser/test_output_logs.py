"""Somebody kills a host whose windows are in an output log: what a recovery would read, and what it did."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from ..support.stored import replayed
from .axe import assert_accessible
from .test_run import open_at_frame, start
from .waiting import wait_until_ended


def purchases_with_an_output_log(document: dict[str, Any]) -> None:
    document.clear()
    document.update(replayed(horizon_s=8, records_max=40, replay_max=100))


@pytest.mark.slow
def test_a_host_is_killed_and_its_windows_come_from_the_output_log(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    """The page shows how much a recovery would read and process again, and the kill's fork what it did."""
    first = start(api, experiment(purchases_with_an_output_log))
    wait_until_ended(api, page, first)
    open_at_frame(page, first, frame=3, of=8)
    page.get_by_role("tab", name="Output logs").click()
    logs = page.get_by_test_id("output-logs")
    expect(logs).to_contain_text("at most 40 records to read")
    expect(logs.get_by_test_id("output-log-table").locator("tbody tr")).to_contain_text(re.compile(r"revenue\[0\].*\d+ \(\d+ ?%\)"))
    assert_accessible(page)
    page.get_by_role("tab", name="Events").click()
    page.get_by_role("button", name="Kill work").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_test_id("loss-means")).to_contain_text("read from their output logs")
    dialog.get_by_label("Seconds until it is back").fill("0.5")
    page.get_by_test_id("kill-go").click()
    page.wait_for_url("**/compare?runs=*")
    forked = page.url.split(",")[-1]
    wait_until_ended(api, page, forked)
    page.goto(f"/runs/{forked}")
    page.get_by_role("tab", name="Output logs").click()
    outages = page.get_by_test_id("outages")
    expect(outages).to_contain_text(re.compile(r"work went on after 0\.\d+ s; senders send [\d,]+ records again"))
    expect(outages.locator(".restore")).to_contain_text("from its output log")
    assert_accessible(page)
    plain, killed = (api.get(f"/api/runs/{id}").json()["summary"] for id in (first, forked))
    assert plain["records_out"] == killed["records_out"]
    assert killed["output_logs"]["outages"] == 1
