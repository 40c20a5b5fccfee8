"""Finding runs by what they measured and what their documents say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from .axe import assert_accessible
from .test_run import start
from .waiting import wait_until_ended


def test_a_condition_is_added_and_finds_its_runs(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    def slower(document: dict[str, Any]) -> None:
        document["workload"]["sources"]["persons"]["rate"] = {"kind": "constant", "per_s": 123.5}

    for id in (experiment(), experiment(slower)):
        wait_until_ended(api, page, start(api, id))
    page.goto("/runs")
    page.get_by_role("button", name="Filter", exact=True).click()
    add = page.get_by_role("button", name="Add filter")
    expect(add).to_be_disabled()
    expect(add).to_have_attribute("title", "Choose a metric or a parameter")
    page.get_by_label("Metric or parameter").fill("per_s")
    expect(page.locator("#condition-names option[value='/workload/sources/persons/rate/per_s']")).to_have_count(1)
    page.get_by_label("Comparison").select_option("=")
    page.get_by_label("Value", exact=True).fill("123.5")
    assert_accessible(page)
    page.get_by_label("Value", exact=True).press("Enter")
    rows = page.get_by_test_id("run-list").locator("tbody tr")
    expect(rows).to_have_count(1)
    expect(page.get_by_label("Search runs")).to_have_value("per_s=123.5")
    assert "search=per_s%3D123.5" in page.url
    page.get_by_label("Search runs").fill("p98>1")
    expect(page.get_by_text("Invalid search")).to_be_visible()
    expect(page.get_by_text("did you mean 'p99'?")).to_be_visible()
    page.get_by_label("Search runs").fill("p99>")
    expect(page.get_by_text("'p99>' has no value; write one after it, as in p99>500ms")).to_be_visible()
    page.get_by_role("button", name="Show all runs").click()
    expect(rows.nth(1)).to_be_visible()


@pytest.mark.deep
def test_a_list_is_kept_as_a_view_and_a_run_is_found_by_its_notes(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    run_id = start(api, experiment())
    number = api.get(f"/api/runs/{run_id}").json()["number"]
    page.goto(f"/runs/{run_id}?panel=notes")
    page.get_by_label(f"Notes on run {number}").fill("Queues grew at the zebra crossing")
    expect(page.get_by_text("Saved; visible to the whole lab")).to_be_visible()
    api.put(f"/api/runs/{run_id}/notes", json={"text": "A zebra, said Mary", "was": "Queues grew at the zebra crossing"}).raise_for_status()
    expect(page.get_by_label(f"Notes on run {number}")).to_have_value("A zebra, said Mary")
    assert_accessible(page)

    page.goto("/runs?search=note:zebra")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_role("link", name=f"Notes on run {number}")).to_be_visible()
    page.get_by_role("button", name="Columns").click()
    page.get_by_label("Max", exact=True).click()  # shows once it stands in the address
    expect(page.get_by_label("Max", exact=True)).to_be_checked()
    page.get_by_label("Virtual time", exact=True).click()
    expect(page.get_by_label("Virtual time", exact=True)).not_to_be_checked()
    assert_accessible(page, ".menu")
    page.keyboard.press("Escape")
    expect(page.get_by_role("columnheader", name="Max")).to_be_visible()
    assert_accessible(page)
    views = page.get_by_title("Views: saved lists")
    views.click()
    page.get_by_label("Name of this list").fill("Zebras")
    page.keyboard.press("Enter")
    expect(views).to_have_text("Zebras")
    assert_accessible(page, ".menu")
    page.goto("/runs")
    expect(page.get_by_role("columnheader", name="Max")).to_have_count(0)
    views.click()
    page.get_by_role("button", name="Zebras", exact=True).click()
    page.wait_for_url("**search=note%3Azebra**")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_role("columnheader", name="Max")).to_be_visible()
    views.click()
    page.get_by_label("Delete the view Zebras").click()
    expect(page.get_by_text("None yet.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Zebras", exact=True)).to_be_visible()


def test_one_search_finds_experiments_runs_studies_figures_and_help(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    def named(document: dict[str, Any]) -> None:
        document["name"] = "Heron at the weir"

    id = experiment(named)
    run_id = start(api, id)
    wait_until_ended(api, page, run_id)
    page.goto("/templates")
    expect(page.get_by_role("link", name="Experiments")).to_be_visible()
    page.keyboard.press("Control+k")
    found = page.get_by_role("option")
    page.keyboard.type("heron")
    expect(found.filter(has_text="Experiment").filter(has_text="Heron at the weir")).to_have_count(1)
    expect(found.filter(has_text="Run").filter(has_text="Heron at the weir")).to_have_count(1)
    page.get_by_label("Search commands").fill("unaligned")
    expect(found.filter(has_text="Help").filter(has_text="unaligned").first).to_be_visible()
    page.get_by_label("Search commands").fill("no such thing anywhere")
    expect(page.get_by_text("Nothing matches")).to_be_visible()
    page.get_by_label("Search commands").fill("heron")
    expect(found.filter(has_text="Run")).to_have_count(1)
    assert_accessible(page)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{run_id}")
