"""Checkpoints in the browser: the protocol is chosen in the form, the run's page shows rounds, and a recovery its stages."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from .axe import assert_accessible
from .canvas import Canvas


def lose_a_host(document: dict[str, Any]) -> None:
    """A run that ends soon after it has recovered: the engine is what these tests wait for."""
    document["workload"]["horizon_s"] = 18.0
    document["faults"] = [{"kind": "host_loss", "host": "w2", "when": {"kind": "at", "at_s": 12.4}, "restart_after_s": 1.0}]


def finished_run(page: Page) -> None:
    page.wait_for_url("**/runs/*")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")


def test_rounds_and_a_recovery_are_shown(page: Page, canvas: Canvas, api: httpx.Client, experiment: Callable[..., str]) -> None:
    canvas.open(experiment(lose_a_host))
    page.get_by_role("tab", name="Policies").click()
    page.get_by_label("Checkpointing", exact=True).select_option(label="Coordinated")
    page.locator("[data-pointer='/policies/checkpointing/interval_s'] input").fill("4")
    canvas.wait_until_saved()
    canvas.run()
    finished_run(page)
    address = f"/api/runs/{page.url.rsplit('/', 1)[-1]}"
    assert api.get(address).json()["summary"]["checkpointing"]["recoveries"] == 1
    frames = api.get(f"{address}/frames").json()["frames"]
    (line,) = {number for frame in frames for one in frame["checkpoints"]["recoveries"] for number in one["line"]["join"]}
    assert line > 0

    # The rows can be reached by keyboard, and say what they show at the moment; an operator shows its instances.
    grid = page.get_by_test_id("chart-checkpoints")
    expect(grid.get_by_test_id("checkpoints-rounds")).to_be_visible()
    row = grid.get_by_role("button", name="join")
    row.focus()
    page.keyboard.press("Enter")
    expect(row).to_have_attribute("aria-expanded", "true")
    expect(grid.get_by_test_id("checkpoints-join[3]")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(grid.get_by_test_id("checkpoints-join[3]")).to_have_count(0)
    page.goto(f"{page.url.split('?')[0]}?t=4.25&panel=checkpoints")
    row.focus()
    expect(grid.get_by_role("status")).to_contain_text("join, 4 of 4 instances: checkpoint 1, captured at 4")

    rounds = page.get_by_test_id("rounds").get_by_role("row")
    expect(rounds.last).to_contain_text(re.compile(r"1\s*4\.00 s.*confirmed"))
    stages = page.get_by_test_id("recovery-1")
    expect(stages).to_contain_text("loss of w2")
    expect(stages.get_by_role("row").nth(2)).to_contain_text(re.compile(r"w2−.*s.*s"))  # lost before it was detected, ordered, restored
    expect(stages.get_by_role("row").last).to_contain_text(f"back to checkpoint {line}, resumed after")
    assert_accessible(page)
    stages.get_by_role("button", name="Zoom").click()
    expect(page.get_by_role("button", name="Whole run")).to_be_visible()

    page.get_by_role("tab", name="Events").click()
    events = page.get_by_test_id("events")
    expect(events).to_contain_text(f"Loss of w2 detected: all instances roll back to checkpoint {line}")
    expect(events).to_contain_text("All hosts restored, processing resumes")
    page.get_by_role("tab", name="Summary").click()
    expect(page.get_by_test_id("summary")).to_contain_text("Restart time")


def test_a_run_says_that_there_is_no_checkpoint_yet(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    def coordinated(document: dict[str, Any]) -> None:
        document.setdefault("policies", {})["checkpointing"] = {"kind": "coordinated", "interval_s": 7}

    run = api.post(f"/api/experiments/{experiment(coordinated)}/runs", json={"pace": 0.1}).raise_for_status().json()["id"]
    api.post(f"/api/runs/{run}/pause").raise_for_status()
    page.goto(f"/runs/{run}")
    expect(page.get_by_test_id("no-checkpoints")).to_have_text("No checkpoint yet: the first one is due at 7 s.")
    page.get_by_role("tab", name="Checkpoints").click()
    expect(page.get_by_test_id("checkpoint-list")).to_contain_text("No checkpoint yet.")
    api.post(f"/api/runs/{run}/cancel").raise_for_status()


@pytest.mark.deep
def test_a_run_without_a_protocol_has_no_such_chart(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    answer = api.post(f"/api/experiments/{experiment()}/runs", json={})
    answer.raise_for_status()
    page.goto(f"/runs/{answer.json()['id']}?charts=latency,checkpoints&panel=checkpoints")
    finished_run(page)
    expect(page.get_by_test_id("chart-latency")).to_be_visible()
    expect(page.get_by_test_id("chart-checkpoints")).to_have_count(0)
    expect(page.get_by_role("tab", name="Checkpoints")).to_have_count(0)
    page.get_by_role("button", name="Charts", exact=True).click()
    expect(page.get_by_label("Waiting")).to_be_visible()
    expect(page.get_by_label("Checkpoints")).to_have_count(0)


@pytest.mark.deep
def test_regions_are_edited_and_their_rounds_are_told_apart(
    page: Page, canvas: Canvas, api: httpx.Client, experiment: Callable[..., str]
) -> None:
    canvas.open(experiment(lose_a_host))
    page.get_by_role("tab", name="Policies").click()
    page.get_by_label("Checkpointing", exact=True).select_option(label="Hybrid")
    page.locator("[data-pointer='/policies/checkpointing/interval_s'] input").fill("4")
    regions = page.locator("[data-pointer='/policies/checkpointing/regions']")
    for n, (name, operators) in enumerate([("front", "persons, filter"), ("end", "join, sink")]):
        regions.get_by_role("button", name="Add region").click()
        page.locator(f"[data-pointer='/policies/checkpointing/regions/{n}/name'] input").fill(name)
        page.locator(f"[data-pointer='/policies/checkpointing/regions/{n}/operators'] input").fill(operators)
    page.locator("[data-pointer='/policies/checkpointing/regions/1/interval_s'] input").fill("3")
    canvas.wait_until_saved()
    canvas.run()
    finished_run(page)
    protocol = api.get(f"/api/runs/{page.url.rsplit('/', 1)[-1]}").json()["document"]["policies"]["checkpointing"]
    assert [(one["name"], one["operators"], one.get("interval_s")) for one in protocol["regions"]] == [
        ("front", ["persons", "filter"], None),
        ("end", ["join", "sink"], 3),
    ]
    page.goto(f"{page.url.split('?')[0]}?panel=checkpoints")
    rounds = page.get_by_test_id("rounds")
    expect(rounds.get_by_role("columnheader", name="Region")).to_be_visible()
    expect(rounds.get_by_role("cell", name="front").first).to_be_visible()
    expect(rounds.get_by_role("cell", name="end").first).to_have_attribute("title", "join, sink")
    assert_accessible(page)


@pytest.mark.deep
def test_how_the_line_was_found_step_by_step(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    def uncoordinated(document: dict[str, Any]) -> None:
        document.setdefault("policies", {})["checkpointing"] = {"kind": "uncoordinated", "interval_s": 2}
        lose_a_host(document)
        document["faults"][0]["when"]["at_s"] = 7.3
        document["workload"]["horizon_s"] = 12.0

    run = api.post(f"/api/experiments/{experiment(uncoordinated)}/runs", json={}).raise_for_status().json()["id"]
    page.goto(f"/runs/{run}?panel=checkpoints")
    finished_run(page)
    page.get_by_test_id("recovery-1").get_by_role("link", name="How the line was found").click()
    step = page.get_by_test_id("step")
    expect(step).to_contain_text("What the coordinator knew")
    told = api.get(f"/api/runs/{run}/recoveries/1").raise_for_status().json()
    rows = page.get_by_test_id("space-time").locator(".row")
    expect(rows).to_have_count(len(told["diagram"]["instances"]))
    page.keyboard.press("ArrowRight")
    expect(step).to_contain_text("The newest checkpoints")
    assert any(one["orphans"] for one in told["steps"]), "some instance went back for another"
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-state=orphan]").first).to_be_attached()
    expect(page.locator("[data-state=discarded]").first).to_be_attached()
    assert_accessible(page)
    page.keyboard.press("End")
    expect(step).to_contain_text("The recovery line")
    expect(page.get_by_test_id("known")).to_contain_text("Discarded")
    page.get_by_role("link", name=re.compile("run [0-9]+")).click()
    expect(page.get_by_test_id("checkpoint-list")).to_be_visible()
    page.goto(f"/runs/{run}/recoveries/7")
    expect(page.get_by_text("It may have been deleted, or the address is wrong.")).to_be_visible()


@pytest.mark.deep
def test_logs_and_what_forced_checkpoints(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    def induced(document: dict[str, Any]) -> None:
        document.setdefault("policies", {})["checkpointing"] = {"kind": "communication_induced", "interval_s": 2}
        lose_a_host(document)
        document["workload"]["horizon_s"] = 15.0

    run = api.post(f"/api/experiments/{experiment(induced)}/runs", json={}).raise_for_status().json()["id"]
    page.goto(f"/runs/{run}?panel=checkpoints")
    finished_run(page)
    frames = api.get(f"/api/runs/{run}/frames").json()["frames"]
    sizes = frames[-1]["checkpoints"]["logs"]
    largest = max(sizes, key=sizes.get).replace(">", " → ")
    logs = page.get_by_test_id("logs")
    expect(logs.get_by_role("row").nth(1)).to_contain_text(largest)
    expect(page.get_by_test_id("topology").locator("path.hit title").first).to_contain_text("in the logs of its channels")

    forced = [one for frame in frames for one in frame["checkpoints"]["durable"] if one["operator"] == "join" and one["kind"] == "forced"]
    frame_s = frames[0]["t_s"]
    page.goto(f"/runs/{run}?t={int(forced[0]['captured_s'] / frame_s + 1) * frame_s}&panel=checkpoints")
    grid = page.get_by_test_id("chart-checkpoints")
    grid.get_by_role("button", name="join").press("Enter")  # not a click: what the pointer stands on would be told
    grid.get_by_test_id(f"checkpoints-join[{forced[0]['index']}]").locator(".who").focus()
    expect(grid.get_by_role("status")).to_contain_text(f": checkpoint {forced[0]['number']}, forced ({forced[0]['reason']}), captured at")
