"""A run in the browser: live, without a gap, cancelled at once, found again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from .axe import assert_accessible
from .waiting import until


def make_long(document: dict[str, Any]) -> None:
    """A run that takes far longer than a test looks at it, just within the budget of records."""
    document["workload"].update(horizon_s=480.0)
    for source in document["workload"]["sources"].values():
        source["rate"] = {"kind": "constant", "per_s": 20000}


def start(api: httpx.Client, experiment_id: str, **wishes: Any) -> str:
    answer = api.post(f"/api/experiments/{experiment_id}/runs", json=wishes)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def probe(page: Page) -> dict[str, int]:
    numbers: dict[str, int] = page.evaluate("window.__millrace")
    return numbers


def wait_for(page: Page, number: str, at_least: int) -> None:
    """Until a number of the page's probe has been reached. (The page's content policy forbids what Playwright's own waiting does.)"""
    read = f"window.__millrace ? window.__millrace.{number} : -1"
    until(lambda: page.evaluate(read) >= at_least, lambda: f"{number} reaches {at_least}; the page has {probe(page)}", page)


def open_at_frame(page: Page, run_id: str, frame: int, of: int) -> None:
    """Open an ended run of so many frames, and hold the moment at the end of one, from 0 on."""
    page.goto(f"/runs/{run_id}")
    wait_for(page, "drawnFrame", of - 1)
    page.get_by_role("slider", name="Moment shown").press("Home")
    for _ in range(frame):
        page.get_by_role("button", name="One frame forward").click()


def until_made(api: httpx.Client, page: Page, run_id: str, frames: int) -> None:
    """Wait until the engine has made so many frames of a run, whether somebody sees them or not."""
    until(lambda: api.get(f"/api/runs/{run_id}").json()["frames"] >= frames, f"the run has {frames} frames", page)


@pytest.fixture
def long_run(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> Iterator[str]:
    """The id of a run that was just started on the canvas, with its page open; cancelled whatever happens."""
    page.goto(f"/experiments/{experiment(make_long)}")
    run = page.get_by_test_id("run")
    expect(run).to_have_attribute("aria-disabled", "false")
    run.click()
    page.wait_for_url("**/runs/*")
    run_id = page.url.rsplit("/", 1)[-1]
    yield run_id
    api.post(f"/api/runs/{run_id}/cancel")


@pytest.mark.own_context
def test_live_without_a_gap_and_cancelled(page: Page, api: httpx.Client, long_run: str) -> None:
    """A reload and a lost connection leave no gap."""
    wait_for(page, "framesReceived", 20)
    page.reload()
    wait_for(page, "framesReceived", 30)
    numbers = probe(page)
    assert (numbers["firstFrame"], numbers["gaps"]) == (0, 0)
    assert numbers["lastFrame"] == numbers["framesReceived"] - 1

    page.context.set_offline(True)
    cut = probe(page)["framesReceived"]
    until_made(api, page, long_run, cut + 20)
    assert probe(page)["framesReceived"] < cut + 20, "the page misses some"
    page.context.set_offline(False)
    wait_for(page, "framesReceived", numbers["framesReceived"] + 20)
    numbers = probe(page)
    assert numbers["gaps"] == 0
    assert numbers["lastFrame"] == numbers["framesReceived"] - 1
    assert int(page.get_by_test_id("time-stack").get_attribute("data-points") or 0) > 30

    page.get_by_test_id("cancel").click()
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "cancelled")
    assert api.get(f"/api/runs/{long_run}").json()["state"] == "cancelled"


def test_everything_shows_the_moment_under_the_cursor(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    run_id = start(api, experiment())
    page.goto(f"/runs/{run_id}")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")
    stack = page.get_by_test_id("time-stack")
    box = stack.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 100)
    moment = page.get_by_test_id("virtual-time").inner_text().split()[0]
    assert 10 < float(moment) < 20
    assert page.url.endswith(f"t={float(moment):g}")
    expect(page.get_by_text(f"at {moment} s").first).to_be_visible()
    page.reload()
    expect(page.get_by_test_id("virtual-time")).to_contain_text(moment)
    page.get_by_role("button", name="Latency: table").click()
    expect(page.get_by_test_id("time-stack").get_by_role("columnheader", name="p99")).to_be_visible()
    page.get_by_role("button", name="Latency: chart").click()

    # A stretch is dragged over, is in the address, stays over a reload, and is left by a key.
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 400, box["y"] + 100, steps=5)
    page.mouse.up()
    page.wait_for_url("**from=*")
    page.reload()
    whole = page.get_by_role("button", name="Whole run")
    expect(whole).to_be_visible()
    page.keyboard.press("0")
    expect(whole).to_have_count(0)

    # The moment plays at a speed of its own, and steps.
    page.keyboard.press("k")
    expect(page.get_by_test_id("virtual-time")).not_to_contain_text(moment)
    page.keyboard.press("k")
    played = float(page.get_by_test_id("virtual-time").inner_text().split()[0])
    assert float(moment) < played < float(moment) + 10
    page.keyboard.press(".")
    expect(page.get_by_test_id("virtual-time")).to_contain_text(f"{played + 0.25:.2f}")

    # More charts, each with its own table; the choice is in the address.
    page.get_by_role("button", name="Charts", exact=True).click()
    page.get_by_label("State", exact=True).click()  # shows once it stands in the address
    page.keyboard.press("Escape")
    page.wait_for_url("**charts=**")
    expect(page.get_by_test_id("chart-state")).to_contain_text("join")
    page.get_by_label("Operator whose time is shown").select_option("join")
    page.get_by_role("button", name="Attribution: table").click()
    expect(page.get_by_test_id("chart-attribution").get_by_role("columnheader", name="channel wait")).to_be_visible()

    # Slow records of the moment as waterfalls, whose parts add up; operators' mean times.
    page.get_by_test_id("why-slow").click()
    waterfall = page.get_by_test_id("waterfall")
    expect(waterfall).to_contain_text("service")
    page.get_by_role("button", name="Path: table").click()
    shares = waterfall.locator("tbody tr td:last-child").all_inner_texts()
    assert abs(sum(int(share.removesuffix(" %")) for share in shares) - 100) <= len(shares)
    page.reload()
    expect(page.get_by_test_id("waterfall")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("tab", name="Time").click()
    expect(page.get_by_test_id("operator-times")).to_contain_text("auctions")
    page.get_by_role("button", name="To the end").click()
    expect(page.get_by_test_id("virtual-time")).to_contain_text("30.00")
    expect(page.get_by_test_id("topology-join")).to_contain_text("%")
    expect(page.get_by_test_id("hosts").locator("li")).to_have_count(4)


def test_run_again_with_another_seed_and_edited_since(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    experiment_id = experiment()
    first = start(api, experiment_id)
    page.goto(f"/runs/{first}")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")
    expect(page.get_by_test_id("edited")).to_have_count(0)
    page.get_by_role("button", name="Run again with another seed or pace").click()
    page.get_by_role("textbox", name="Seed").fill("77")
    page.get_by_test_id("rerun-seed").click()
    page.wait_for_url(lambda url: "/runs/" in url and first not in url)
    expect(page.get_by_text("seed 77")).to_be_visible()
    stored = api.get(f"/api/experiments/{experiment_id}").json()
    stored["document"]["workload"]["horizon_s"] = 20.0
    api.put(f"/api/experiments/{experiment_id}", json={"version": stored["version"], "document": stored["document"]}).raise_for_status()
    page.goto(f"/runs/{first}")
    expect(page.get_by_test_id("edited")).to_have_attribute("title", re.compile("/workload/horizon_s"))


def test_a_run_can_be_taken_along(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    run_id = start(api, experiment())
    page.goto(f"/runs/{run_id}")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")
    page.get_by_role("button", name="Export").click()
    assert_accessible(page, ".menu")
    with page.expect_download() as downloading:
        page.get_by_role("link", name="CSV").click()
    lines = Path(downloading.value.path()).read_text().splitlines()
    assert downloading.value.suggested_filename.endswith("-seed-1.csv")
    assert len(lines) == 121
    assert lines[0].startswith('"n","t_s"')
