"""Somebody chooses Klink, runs it, asks why a query waited, forks with Default, and compares."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from ..support.scheduled_examples import chained, contended
from .axe import assert_accessible
from .canvas import Canvas
from .test_run import start
from .waiting import wait_until_ended


def queries(document: dict[str, Any]) -> None:
    """In place of Q3, six queries that need more than two cores, so far without a scheduler."""
    document.clear()
    document.update(contended("none", per_s=640, horizon_s=12, window_s=3))


@pytest.mark.slow
def test_a_scheduler_is_chosen_and_explained(canvas: Canvas, page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    canvas.open(experiment(queries))
    page.get_by_role("tab", name="Policies").click()
    page.get_by_label("Scheduling", exact=True).select_option(label="Klink")
    threshold = page.get_by_label("Memory threshold")
    threshold.fill("0.8")
    expect(page.get_by_text("no host has a memory budget")).not_to_have_count(0)
    threshold.fill("")
    run = page.get_by_test_id("run")
    expect(run).to_have_attribute("aria-disabled", "false")
    assert_accessible(page)
    run.click()
    page.wait_for_url("**/runs/*")
    run_id = page.url.rpartition("/")[2].partition("?")[0]
    wait_until_ended(api, page, run_id)

    page.get_by_role("tab", name="Scheduler").click()
    page.get_by_role("slider", name="Moment shown").press("Home")
    for _ in range(31):
        page.get_by_role("button", name="One frame forward").click()
    panel = page.get_by_test_id("scheduler")
    expect(panel).to_contain_text("Klink")
    rows = panel.get_by_test_id("scheduled-queries").locator("tbody tr")
    expect(rows).to_have_count(6)
    expect(panel.get_by_role("columnheader", name="Slack")).to_be_visible()
    expect(rows.first).to_contain_text("Runs")
    waited = rows.filter(has_text="Passed over").first.get_by_role("button")
    name = waited.inner_text()
    waited.click()
    expect(panel.get_by_test_id("why-waited")).to_contain_text(f"{name} is passed over: the cores go to count-bids-")
    expect(panel.get_by_test_id("strips")).to_contain_text("Cores that served each query, in the last 32 frames")
    watermarks = panel.get_by_test_id("scheduled-watermarks").locator("tbody tr")
    expect(watermarks).to_have_count(6)
    expect(watermarks.nth(1)).to_contain_text("count-bids-2")
    expect(watermarks.nth(1)).to_contain_text("1 of 1")
    assert_accessible(page)
    shown = page.get_by_text(re.compile("Same as this run up to"))
    page.get_by_role("button", name="Fork").click()
    expect(shown).to_be_visible()
    page.get_by_label("Load").fill("1")
    page.get_by_role("form", name=re.compile("^Fork")).get_by_label("Scheduler").select_option(label="Default (fair threads)")
    page.get_by_test_id("fork-go").click()
    page.wait_for_url("**/compare?runs=*")
    made = page.url.split(",")[-1]
    wait_until_ended(api, page, made)
    told = page.get_by_test_id("parameters").get_by_role("listitem")
    expect(told).to_contain_text(["Default (fair threads) from 8 s"])
    summaries = [api.get(f"/api/runs/{id}").json()["summary"] for id in (run_id, made)]
    own, other = (summary["queries"]["count-bids"]["latencies_ms"] for summary in summaries)
    assert own["swept"]["mean"] < other["swept"]["mean"]
    page.goto(f"/runs/{made}?panel=scheduler")
    expect(page.get_by_text("No cycle: scheduling is Default (fair threads)")).to_be_visible()
    page.get_by_role("tab", name="Summary").click()
    expect(page.get_by_text("Scheduling overhead")).to_be_visible()


def test_hosts_show_how_old_what_they_heard_is(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    def over_two_hosts(document: dict[str, Any]) -> None:
        document.clear()
        document.update(chained(hosts=2, horizon_s=3))

    run_id = start(api, experiment(over_two_hosts))
    wait_until_ended(api, page, run_id)
    page.goto(f"/runs/{run_id}?panel=scheduler")
    rows = page.get_by_test_id("scheduled-hosts").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("w1, 120 ms ago")
    expect(page.get_by_test_id("scheduler")).to_contain_text("messages")
    rows.nth(1).get_by_role("button").click()
    expect(page.get_by_label("Host", exact=True)).to_have_value("w2")
    assert_accessible(page)
