"""A run that is launched slowly, paused, stepped, paced and resumed: seen by everybody, and with the result of any other run."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
from playwright.sync_api import Page, expect

from .axe import assert_accessible
from .test_outage import PERCENTILES, stored
from .test_run import probe, start, wait_for

FOR_A_SECOND = re.compile(r"Paused after \d+ frames, for [1-9]")


def state(page: Page) -> Any:
    return page.get_by_test_id("run-state")


def frames(page: Page) -> int:
    return probe(page)["framesReceived"]


def launched_at(page: Page, experiment_id: str, pace: str) -> str:
    """Run the experiment at a pace, from the canvas; the run's page is open then."""
    page.goto(f"/experiments/{experiment_id}")
    expect(page.get_by_test_id("run")).to_have_attribute("aria-disabled", "false")
    page.get_by_role("button", name="Run with another seed or pace").click()
    field = page.get_by_label("Pace")
    field.fill("5000")
    expect(page.get_by_role("button", name="Run", exact=True).last).to_be_disabled()
    expect(page.get_by_text("A pace is 0.1 to 1000")).to_be_visible()
    field.fill(pace)
    field.press("Enter")
    page.wait_for_url("**/runs/*")
    return page.url.rsplit("/", 1)[-1]


def test_pause_step_pace_and_resume(
    new_page: Callable[..., Page], api: httpx.Client, experiment: Callable[..., str], workbench: Any
) -> None:
    experiment_id = experiment()
    page, other = new_page(), new_page()
    run_id = launched_at(page, experiment_id, "2")
    says, pause, step = (page.get_by_test_id(f"engine-{name}") for name in ("says", "pause", "step"))
    expect(says).to_have_text("Running, 2 × real time")
    expect(step).to_be_disabled()
    expect(step).to_have_attribute("title", "Pause the run, then step.")
    wait_for(page, "framesReceived", 4)

    pause.click()
    expect(state(page)).to_have_attribute("data-state", "paused")
    expect(says).to_contain_text("Paused after")
    standing = api.get(f"/api/runs/{run_id}").json()["frames"]
    wait_for(page, "framesReceived", standing)
    other.goto(f"/runs/{run_id}")
    expect(state(other)).to_have_attribute("data-state", "paused")
    wait_for(other, "framesReceived", standing)
    expect(page.get_by_test_id("engine")).to_contain_text(FOR_A_SECOND)  # at this pace an engine makes eight frames in it
    assert frames(page) == frames(other) == standing == api.get(f"/api/runs/{run_id}").json()["frames"]

    step.click()
    wait_for(page, "framesReceived", standing + 1)
    expect(says).to_contain_text(f"Paused after {standing + 1} frames")
    other.keyboard.press("s")
    wait_for(page, "framesReceived", standing + 2)
    expect(says).to_contain_text(f"Paused after {standing + 2} frames")
    page.get_by_label("Frames per step").fill("5")
    step.click()
    wait_for(page, "framesReceived", standing + 7)
    expect(says).to_contain_text(f"Paused after {standing + 7} frames")
    wait_for(other, "framesReceived", standing + 7)
    assert frames(page) == frames(other) == standing + 7

    # What is shown plays and is held apart from the engine.
    view = page.get_by_label("View controls")
    page.keyboard.press("k")
    expect(view.get_by_test_id("view-says")).to_have_text("replay, 1 ×")
    view.get_by_role("button", name="Freeze view").click()
    expect(view.get_by_test_id("view-says")).to_have_text("view frozen")
    view.get_by_role("button", name="Follow").click()
    expect(view.get_by_test_id("view-says")).to_have_text("follows the run")
    expect(page.get_by_label("Run controls").get_by_role("button")).to_have_text(["Resume runP", "StepS", "Cancel run"])
    assert frames(page) == standing + 7
    expect(state(page)).to_have_attribute("data-state", "paused")
    assert_accessible(page)

    # Its worker is given back, takes another run, and has all of this one when it goes on.
    passing = start(api, experiment_id)
    other.goto(f"/runs/{passing}")
    expect(state(other)).to_have_attribute("data-state", "succeeded")
    other.goto("/runs?state=paused")
    expect(other.get_by_test_id("run-list").get_by_test_id("run-state")).to_have_text("Paused")
    assert frames(page) == standing + 7, "another run was made meanwhile, and no frame of this one"

    page.keyboard.press("p")
    wait_for(page, "framesReceived", standing + 9)
    page.get_by_label("Another pace").fill("3")
    page.get_by_label("Another pace").press("Enter")
    expect(says).to_have_text("Running, 3 × real time")
    paces = page.get_by_test_id("engine").locator(".seg")
    paces.get_by_text("1 ×", exact=True).click()
    expect(says).to_have_text("Running, 1 × real time")
    page.keyboard.press("p")
    expect(state(page)).to_have_attribute("data-state", "paused")
    page.keyboard.press("p")
    paces.get_by_text("max", exact=True).click()
    expect(state(page)).to_have_attribute("data-state", "succeeded")
    expect(page.get_by_test_id("engine")).to_have_count(0)

    kept = stored(workbench.data / "runs" / run_id)
    wait_for(page, "drawnFrame", len(kept) - 1)
    times, *lines = page.evaluate("window.__millrace.chart")
    assert [frame["n"] for frame in kept] == list(range(120))
    assert times == [frame["t_s"] for frame in kept]
    for name, line in zip(PERCENTILES, lines, strict=True):
        assert line == [frame["latency_ms"][name] for frame in kept], name
    assert probe(page)["gaps"] == 0
    digests = {api.get(f"/api/runs/{id}").json()["digest"] for id in (run_id, passing)}
    assert len(digests) == 1, "neither pace nor pauses change the result"
