"""Why a run is slow: the page names what limits it, marks where, and a change that helps is one click away."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from .axe import assert_accessible
from .test_run import start
from .waiting import until


def one_host_too_few(document: dict[str, Any]) -> None:
    """The tour's second run: four instances of each operator on three hosts, so that the first host has two of each."""
    document["workload"]["horizon_s"] = 20.0
    document["cluster"]["hosts"][0]["count"] = 3


@pytest.fixture
def slow_run(api: httpx.Client, experiment: Callable[..., str], page: Page) -> str:
    run_id = start(api, experiment(one_host_too_few))
    until(lambda: api.get(f"/api/runs/{run_id}").json()["state"] == "succeeded", "the run has succeeded", page)
    return run_id


def test_the_limit_is_named_marked_and_relieved(page: Page, slow_run: str) -> None:
    page.goto(f"/runs/{slow_run}")
    diagnosis = page.get_by_test_id("diagnosis")
    expect(diagnosis).to_have_attribute("data-kind", "cores")
    expect(diagnosis).to_contain_text("The core of w1 limits this run: it is busy")
    expect(page.get_by_test_id("saturated-w1")).to_be_visible()
    expect(page.get_by_test_id("saturated-w2")).to_have_count(0)
    diagnosis.get_by_role("button", name="Evidence and remedies").click()
    expect(page.get_by_test_id("evidence")).to_contain_text("Cores of w1")
    remedies = page.get_by_test_id("remedies")
    faster = remedies.get_by_role("listitem").filter(has_text="speed")
    faster.get_by_role("button", name="Try it").click()
    expect(faster).to_contain_text(re.compile(r"p99 latency .+ → .+"))
    expect(faster.get_by_role("link", name="Compare")).to_be_visible()
    assert_accessible(page)


def test_an_operator_opens_its_instances_sorted_at_the_moment_held(page: Page, slow_run: str) -> None:
    page.goto(f"/runs/{slow_run}?t=10")
    expect(page.get_by_test_id("diagnosis")).to_contain_text("5 to 10 s")
    operator = page.locator("[data-testid^=topology-]").nth(1)
    name = (operator.get_attribute("data-testid") or "").removeprefix("topology-")
    operator.press("Enter")
    table = page.get_by_test_id("instances")
    expect(table).to_contain_text("Frame from 9.75 to 10 s")
    rows = table.get_by_role("row").filter(has_text=f"{name}[")
    expect(rows).to_have_count(4)
    busy = [int(text.split()[0]) for text in rows.locator("td:nth-child(3)").all_inner_texts()]
    assert busy == sorted(busy, reverse=True)
    table.get_by_role("button", name="Instance").click()
    expect(rows.first).to_contain_text(f"{name}[0]")
    expect(table.get_by_role("columnheader", name="Instance")).to_have_attribute("aria-sort", "descending")
    table.get_by_label("Operator").select_option("join")
    fold = table.get_by_role("button", name="join[1]")
    expect(fold).to_have_attribute("aria-expanded", "false")
    fold.press("Enter")
    keys = table.get_by_test_id("keys-join[1]")
    expect(keys).to_contain_text("records read in this frame. join[1] receives")
    expect(keys.get_by_role("listitem")).to_have_count(10)
    expect(keys.get_by_role("listitem").first).to_contain_text("%")
    table.get_by_label("Operator").select_option("persons")
    table.get_by_role("button", name="persons[0]").click()
    expect(table.get_by_test_id("keys-persons[0]")).to_contain_text("Hottest keys unavailable. 'persons' is a source")
    assert_accessible(page)
    table.get_by_label("Operator").select_option("All operators")
    expect(table.get_by_role("row")).not_to_have_count(5)
    page.reload()
    expect(page.get_by_test_id("instances")).to_contain_text("Frame from 9.75 to 10 s")
    assert_accessible(page)
