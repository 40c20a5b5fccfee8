"""Somebody states what should hold, runs, and sees whether it did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
from playwright.sync_api import Page, expect

from .axe import assert_accessible
from .canvas import Canvas


def shortly(document: dict[str, Any]) -> None:
    document["workload"].update(horizon_s=2.0, warmup_s=0.5)


def test_an_assertion_is_written_and_its_verdict_seen(
    canvas: Canvas, page: Page, api: httpx.Client, experiment: Callable[..., str]
) -> None:
    """One of the common ones holds; one's own is completed by name, is refused while it is wrong, and fails."""
    canvas.open(experiment(shortly))
    page.get_by_role("tab", name="Measure").click()
    page.get_by_label("Common assertions").select_option("No record lost")
    page.get_by_role("button", name="Add assertion").click()
    page.get_by_role("button", name="Add assertion").click()
    own = page.get_by_test_id("assertion-1")
    own.get_by_label("Name").fill("p99 \u05e9\u05dc\u05d5\u05dd")
    check = own.get_by_label("Check")
    check.fill("latency_ms.p98 < 0.001")
    expect(own.get_by_text("did you mean 'latency_ms.p99'?")).to_be_visible()
    expect(page.get_by_test_id("run")).to_have_attribute("aria-disabled", "true")
    check.fill("")
    check.press_sequentially("p99")
    page.get_by_test_id("completions").get_by_role("option", name="latency_ms.p99", exact=False).first.click()
    expect(check).to_have_value("latency_ms.p99")
    check.press_sequentially(" < 0.001")
    assert_accessible(page)
    run = page.get_by_test_id("run")
    expect(run).to_have_attribute("aria-disabled", "false")
    run.click()
    page.wait_for_url("**/runs/*")
    chip = page.get_by_test_id("judged")
    expect(chip).to_have_text("1 of 2 fails")
    chip.click()
    verdicts = page.get_by_test_id("verdicts").locator("tbody tr")
    expect(verdicts.nth(0)).to_contain_text("No record lost")
    expect(verdicts.nth(0).locator("[data-state=holds]")).to_have_text("holds")
    expect(verdicts.nth(1).locator("[data-state=fails]")).to_have_text("does not hold")
    expect(verdicts.nth(1)).to_contain_text(" ms")
    assert_accessible(page)
    page.goto("/runs?search=assertions:fails")
    expect(page.get_by_test_id("run-list").get_by_text("1 of 2 fails")).to_be_visible()
