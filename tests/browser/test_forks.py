"""Another future from a moment of a run on, and both drawn over each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from .axe import assert_accessible
from .test_run import start
from .waiting import wait_until_ended


def test_a_run_is_forked_where_the_cursor_stands(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    run_id = start(api, experiment())
    wait_until_ended(api, page, run_id)
    page.goto(f"/runs/{run_id}")
    fork = page.get_by_role("button", name="Fork")
    expect(page.get_by_test_id("fork")).to_be_disabled()  # at its end
    expect(page.get_by_test_id("fork")).to_have_attribute("title", "The input ends here: scrub back to a moment before the horizon")
    page.get_by_role("slider", name="Moment shown").press("Home")
    for _ in range(11):
        page.get_by_role("button", name="One frame forward").click()
    fork.click()
    expect(page.get_by_text("Same as this run up to 3.00 s")).to_be_visible()
    load = page.get_by_label("Load")
    load.fill("much")
    expect(page.get_by_test_id("fork-go")).to_be_disabled()
    load.fill("2")
    page.get_by_label("Fault", exact=True).select_option("pause")
    page.get_by_label("Host", exact=True).select_option("w2")
    page.get_by_test_id("fork-go").press("Enter")
    page.wait_for_url("**/compare?runs=*")
    made = page.url.split(",")[-1]
    wait_until_ended(api, page, made)
    expect(page.get_by_test_id("fork-mark")).to_be_visible()
    told = page.get_by_test_id("parameters").get_by_role("listitem")
    expect(told).to_have_text(["Load × 2 from 3 s", "Fault added: w2 pauses for 5 s at 3 s"])
    assert_accessible(page)
    one, other = (api.get(f"/api/runs/{id}/frames?limit=1000").json()["frames"] for id in (run_id, made))
    same = [a == b for a, b in zip(one, other, strict=False)]
    assert same.index(False) == 12  # the first after 3 s
    page.goto(f"/runs/{made}")
    expect(page.get_by_test_id("forked")).to_have_text("Fork at 3.00 s")
    expect(page.get_by_text("w2")).not_to_have_count(0)


@pytest.mark.deep
def test_a_host_is_killed_in_a_run_that_has_ended(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    """Without a protocol: the dialog says what that means, and lets it be done."""
    run_id = start(api, experiment())
    wait_until_ended(api, page, run_id)
    page.goto(f"/runs/{run_id}")
    kill = page.get_by_role("button", name="Kill w2")
    expect(kill).to_have_attribute("aria-disabled", "true")
    expect(kill).to_have_attribute("title", "The input ends here: scrub back to a moment before the horizon")
    page.get_by_role("slider", name="Moment shown").press("Home")
    for _ in range(7):
        page.get_by_role("button", name="One frame forward").click()
    kill.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Kill w2 at 2.00 s")
    expect(dialog.get_by_test_id("loss-means")).to_contain_text("no checkpointing protocol, so everything in the host's memory is lost")
    seconds = dialog.get_by_label("Seconds until it is back")
    seconds.fill("soon")
    expect(dialog.get_by_test_id("kill-go")).to_be_disabled()
    seconds.fill("1,5")
    assert_accessible(page)
    seconds.press("Enter")
    page.wait_for_url("**/compare?runs=*")
    made = page.url.split(",")[-1]
    wait_until_ended(api, page, made)
    found = api.get(f"/api/runs/{made}").json()
    assert found["document"]["faults"] == [{"kind": "host_loss", "host": "w2", "when": {"kind": "at", "at_s": 2.0}, "restart_after_s": 1.5}]
    assert found["summary"]["lost"] > 0


@pytest.mark.deep
def test_a_host_is_killed_in_a_live_run(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    def coordinated(document: dict[str, Any]) -> None:
        document.setdefault("policies", {})["checkpointing"] = {"kind": "coordinated", "interval_s": 1}

    run_id = start(api, experiment(coordinated), pace=1)
    page.goto(f"/runs/{run_id}")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "running")
    kill = page.get_by_role("button", name="Kill w1")
    expect(kill).not_to_have_attribute("aria-disabled", "true")
    kill.click()
    dialog = page.get_by_role("dialog", name="Kill w1")
    expect(dialog.get_by_test_id("loss-means")).to_contain_text("All instances roll back to the last confirmed round")
    dialog.get_by_label("No, it is lost permanently").check()
    dialog.get_by_test_id("kill-go").click()
    expect(dialog.get_by_role("alert")).to_contain_text("choose 1 or more spare hosts under Checkpointing, or give restart_after_s")
    dialog.get_by_label("Yes, after").check()
    dialog.get_by_test_id("kill-go").click()
    page.wait_for_url(lambda url: "/runs/" in url and run_id not in url)
    made = page.url.split("/runs/")[1].split("?")[0]
    api.post(f"/api/runs/{run_id}/cancel").raise_for_status()
    wait_until_ended(api, page, made)
    frames = api.get(f"/api/runs/{made}/frames?limit=1000").json()["frames"]
    assert {one["epoch"] for frame in frames for one in frame["checkpoints"]["recoveries"]} == {1}
