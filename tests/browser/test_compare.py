"""Runs held against each other: over seeds, aligned on events, and with one of them gone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from .axe import assert_accessible
from .test_run import start
from .waiting import wait_until_ended


def paused(at_s: float) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        document["workload"].update(horizon_s=6.0, warmup_s=1.0)
        document["faults"] = [{"kind": "pause", "host": "w2", "when": {"kind": "at", "at_s": at_s}, "for_ms": 400}]

    return change


def test_differences_over_seeds_moments_and_a_run_that_is_gone(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    runs = [start(api, experiment(paused(at_s))) for at_s in (2.0, 3.5)]
    for run_id in runs:
        wait_until_ended(api, page, run_id)
    numbers = [api.get(f"/api/runs/{run_id}").json()["number"] for run_id in runs]
    page.goto(f"/compare?runs={','.join(runs)}")
    figures, charts = page.get_by_test_id("figures"), page.get_by_test_id("compare-charts")
    expect(page.get_by_test_id("seeds")).to_contain_text("One run each: the difference may be chance")
    page.get_by_role("button", name="Run 4 more seeds of both").click()
    expect(page.get_by_test_id("seeds")).to_contain_text("Means over seeds")
    expect(figures.get_by_role("columnheader").filter(has_text="5 seeds")).to_have_count(2)
    expect(page.get_by_test_id("more-seeds")).to_have_count(0)
    expect(figures.get_by_role("row").filter(has_text="Latency, p99")).to_contain_text(re.compile(r"p (0\.\d{3}|< 0\.001)|p 1\.000"))
    assert_accessible(page)

    page.get_by_label("Align on").select_option("fault")
    page.wait_for_url("**align=fault**")
    expect(page.get_by_test_id(f"compared-{numbers[1]}")).to_contain_text("at 3.5 s")
    expect(charts.get_by_test_id("zero-mark")).to_be_visible()
    page.get_by_label("Align on").select_option("fork")
    expect(page.get_by_test_id(f"compared-{numbers[0]}")).to_contain_text("no fork")
    page.get_by_label("Align on").select_option("own")
    page.get_by_label(f"Moment of run {numbers[1]}, s").fill("1.5")
    page.wait_for_url(lambda url: "at=0%2C1.5" in url)
    page.get_by_role("button", name="Latency: table").click()
    expect(page.get_by_role("region", name="Latency, table").get_by_role("row").nth(1)).to_contain_text("-1.25")
    page.get_by_role("tab", name="Time by operator").click()
    expect(page.get_by_test_id("attribution").get_by_role("listitem").filter(has_text="join").locator(".sums")).to_have_count(2)
    assert_accessible(page)

    api.post("/api/runs/bulk", json={"action": "delete", "ids": runs[1:]}).raise_for_status()
    gone = page.get_by_test_id("gone")
    expect(gone).to_contain_text(f"Run {numbers[1]} was deleted")
    expect(page.get_by_text("Choose a second run")).to_be_visible()
    page.reload()
    expect(gone).to_contain_text(f"Run {numbers[1]} was deleted")
    box = gone.bounding_box()
    assert box is not None
    assert box["height"] < 60, "it takes a line, and leaves the page to what is there"
    gone.get_by_role("button", name="Restore").click()
    expect(page.get_by_test_id(f"compared-{numbers[1]}")).to_be_visible()
    expect(gone).to_have_count(0)


@pytest.mark.deep
def test_a_pinned_baseline_is_what_others_are_compared_with(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    base = start(api, experiment(paused(2.0)))
    wait_until_ended(api, page, base)
    fork = str(api.post(f"/api/runs/{base}/fork", json={"at_s": 3, "load": 1.5}).json()["id"])
    wait_until_ended(api, page, fork)
    numbers = [api.get(f"/api/runs/{run_id}").json()["number"] for run_id in (base, fork)]
    page.goto("/runs")
    page.get_by_label(f"Choose run {numbers[0]}").check()
    page.get_by_role("button", name="Pin as baseline").click()
    expect(page.get_by_test_id(f"run-{numbers[0]}").get_by_label("Baseline")).to_be_visible()
    deltas = page.get_by_test_id(f"run-{numbers[1]}").get_by_title(f"Against the baseline, run {numbers[0]}")
    expect(deltas.first).to_contain_text(re.compile("[%×]"))
    assert_accessible(page)
    page.get_by_label(f"Choose run {numbers[0]}").uncheck()
    page.get_by_label(f"Choose run {numbers[1]}").check()
    page.get_by_role("button", name="Compare with baseline").click()
    page.wait_for_url(re.compile(f"/compare.runs={base}(,|%2C){fork}"))
    expect(page.get_by_test_id("parameters").get_by_role("listitem")).to_have_text(["Load × 1.5 from 3 s"])
    page.goto(f"/compare?runs={fork},{base}")
    page.get_by_role("button", name="Against the baseline").click()
    page.wait_for_url(re.compile(f"/compare.runs={base}(,|%2C){fork}"))
    page.get_by_role("button", name="Unpin baseline").click()
    expect(page.get_by_role("button", name="Pin as baseline")).to_be_visible()
