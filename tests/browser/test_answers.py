"""The list of runs as a place for answers: groups, a scatter and parallel axes, whose choices stand in the search and in the address."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.tiers import only

from .axe import assert_accessible
from .test_run import start
from .waiting import drawn, wait_until_ended

RATES = (200, 400, 800)
RATE = "/workload/sources/persons/rate/per_s"

ENDS_ON_TOP = """menu => {
  const { left, bottom } = menu.getBoundingClientRect();
  return menu.contains(document.elementFromPoint(left + 20, bottom - 3));
}"""


@pytest.fixture(scope="module")
def runs_of_rates() -> list[str]:
    return []


@pytest.fixture
def runs(page: Page, api: httpx.Client, experiment: Callable[..., str], runs_of_rates: list[str]) -> list[str]:
    """The numbers of runs at three rates with two seeds each, the only ones of this lab."""
    if not runs_of_rates:
        started = []
        for rate in RATES:

            def at_rate(document: dict[str, Any], rate: int = rate) -> None:
                document["name"] = "Rates"
                document["workload"].update(horizon_s=4.0, warmup_s=0.0)
                for source in document["workload"]["sources"].values():
                    source["rate"] = {"kind": "constant", "per_s": rate}

            id = experiment(at_rate)
            started += [start(api, id, seed=seed) for seed in (1, 2)]
        runs_of_rates += [str(wait_until_ended(api, page, id)["number"]) for id in started]
    return runs_of_rates


def rows(page: Page) -> Locator:
    return page.get_by_test_id("run-list").locator("tbody tr")


def drag(page: Page, within: Locator, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag with the mouse between two points of an element, given as shares of its size."""
    box = within.bounding_box()
    assert box is not None
    (x0, y0), (x1, y1) = ((box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, end))
    page.mouse.move(x0, y0)
    page.mouse.down()
    page.mouse.move((x0 + x1) / 2, (y0 + y1) / 2, steps=4)
    page.mouse.move(x1, y1, steps=4)
    page.mouse.up()


def test_before_a_run_has_ended_each_view_says_so(page: Page) -> None:
    for show in ("groups", "scatter", "parallel"):
        page.goto(f"/runs?show={show}")
        expect(page.get_by_role("heading", name="No run has ended yet")).to_be_visible()
    expect(page.get_by_test_id("run-list").get_by_text("Runs of studies are hidden")).to_be_visible()
    page.get_by_label("Runs of studies").click()
    expect(page.get_by_test_id("run-list").get_by_role("heading", name="No run yet")).to_be_visible()
    expect(page.get_by_text("Runs of studies are hidden")).to_have_count(0)


def test_runs_are_grouped_by_a_parameter_and_a_group_opens_to_its_runs(page: Page, runs: list[str]) -> None:
    page.goto("/runs")
    expect(rows(page)).to_have_count(6)
    page.get_by_role("radiogroup", name="Show the runs as").get_by_text("Groups").click()
    groups = page.get_by_test_id("groups").locator("tbody tr")
    expect(groups).to_have_count(1)
    page.get_by_title("By: Experiment").click()
    page.get_by_label("Search fields").fill("persons")
    assert_accessible(page, ".menu")
    page.get_by_title(RATE).click()
    expect(groups).to_have_count(3)
    expect(groups.nth(0)).to_contain_text("200")
    expect(groups.nth(0)).to_contain_text(" to ")
    page.get_by_title("Sort by persons: rate").click()
    expect(groups.nth(0)).to_contain_text("800")
    page.get_by_title("Sort by runs").click()
    expect(page.get_by_role("columnheader", name="Runs")).to_have_attribute("aria-sort", "descending")
    assert_accessible(page)
    page.reload()
    expect(groups).to_have_count(3)
    page.get_by_role("link", name="Runs of the group 800").click()
    expect(rows(page)).to_have_count(2)
    expect(page.get_by_label("Search runs")).to_have_value(f"{RATE}=800")
    page.go_back()
    expect(groups).to_have_count(3)


def test_a_box_in_the_scatter_narrows_the_list_and_stays_after_a_reload(page: Page, runs: list[str]) -> None:
    page.goto("/runs?show=scatter&y=seed")
    scatter = page.get_by_test_id("scatter")
    expect(scatter).to_have_attribute("data-runs", "6")
    expect(scatter.get_by_test_id("plot")).to_have_attribute("data-drawn", "true")
    assert_accessible(page)
    scatter.get_by_title("Colour: State").click()
    expect(page.locator(".menu").get_by_role("group", name="Measured")).to_be_visible()
    assert page.locator(".menu").evaluate(ENDS_ON_TOP)
    page.keyboard.press("Escape")
    plot = scatter.locator(".nsewdrag").first
    drag(page, plot, (0.3, 0.4), (0.7, 0.6))
    expect(page.get_by_test_id("toast")).to_have_text("No run lies in this box.")
    expect(scatter.locator(".scatterlayer .point").first).to_have_css("opacity", "0.9")
    drag(page, plot, (0.02, 0.98), (0.7, 0.5))  # seed 1 at two rates
    expect(rows(page)).to_have_count(2)
    search = page.get_by_label("Search runs")
    expect(search).to_have_value(re.compile("^out:"))
    expect(scatter).to_have_attribute("data-runs", "2")
    page.reload()
    expect(rows(page)).to_have_count(2)
    expect(scatter).to_have_attribute("data-runs", "2")
    scatter.get_by_role("group", name="Chosen ranges").get_by_role("button").first.click()
    expect(rows(page)).to_have_count(3)
    page.go_back()
    expect(rows(page)).to_have_count(2)


def test_a_lasso_chooses_its_runs_and_a_click_opens_one(page: Page, runs: list[str]) -> None:
    page.goto("/runs?show=scatter&x=number&y=seed")
    scatter = page.get_by_test_id("scatter")
    expect(scatter).to_have_attribute("data-runs", "6")
    scatter.get_by_role("radiogroup", name="Choose points with").get_by_text("Lasso").click()
    expect(scatter.get_by_test_id("plot")).to_have_attribute("data-drawn", "true")
    drawn(page)
    box = scatter.locator(".nsewdrag").first.bounding_box()
    assert box is not None
    corners = [(0.01, 0.99), (0.5, 0.99), (0.5, 0.01), (0.01, 0.01)]
    page.mouse.move(box["x"] + 0.01 * box["width"], box["y"] + 0.5 * box["height"])
    page.mouse.down()
    for x, y in corners:
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=6)
    page.mouse.up()
    expect(rows(page)).to_have_count(3)
    expect(page.get_by_label("Search runs")).to_have_value(f"number={runs[0]}..{runs[2]}")
    expect(scatter).to_have_attribute("data-runs", "3")
    drawn(page)
    point = scatter.locator(".scatterlayer .point").first
    point.hover(force=True)
    expect(scatter.locator(".hoverlayer .hovertext")).to_be_visible()  # a click counts for what is pointed at
    point.click(force=True)
    page.wait_for_url("**/runs/*")


@pytest.mark.parametrize("theme", only(["light", "dark"], ci=["dark"]))
def test_a_range_of_a_parallel_axis_is_chosen_by_mouse_and_by_keyboard(new_page: Callable[..., Page], runs: list[str], theme: str) -> None:
    page = new_page(theme=theme)
    page.goto(f"/runs?show=parallel&axes={RATE},seed,p99")
    parallel = page.get_by_test_id("parallel")
    expect(parallel).to_have_attribute("data-runs", "6")
    expect(parallel.locator("canvas[data-drawn=true]")).to_be_visible()
    assert_accessible(page)
    drag(page, parallel.locator(f"[data-axis='{RATE}']"), (0.5, 0.02), (0.5, 0.5))
    expect(rows(page)).to_have_count(2)
    parallel.get_by_title("Seed: choose a range").click()
    page.get_by_role("textbox", name="From").fill("2")
    page.get_by_role("textbox", name="To").fill("3")
    assert_accessible(page, ".menu")
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(1)
    expect(page.get_by_label("Search runs")).to_have_value(re.compile(f"^{RATE}:"))
    page.reload()
    expect(rows(page)).to_have_count(1)
    expect(parallel).to_have_attribute("data-runs", "1")


def test_a_parameter_is_a_column_of_the_list_and_a_view_keeps_how_it_is_shown(page: Page, runs: list[str]) -> None:
    page.goto("/runs?show=scatter&x=out&y=p99&colour=author")
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("button", name="Metrics and parameters").click()
    page.get_by_label("Search fields").fill("per_s")
    page.get_by_title(RATE).click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("columnheader", name="persons: rate")).to_be_visible()
    expect(rows(page).first).to_contain_text("800")
    views = page.get_by_title("Views: saved lists")
    views.click()
    page.get_by_label("Name of this list").fill("Rates by author")
    page.keyboard.press("Enter")
    expect(views).to_have_text("Rates by author")
    page.goto("/runs")
    expect(rows(page)).to_have_count(6)
    views.click()
    page.get_by_role("button", name="Rates by author", exact=True).click()
    expect(page.get_by_test_id("scatter")).to_have_attribute("data-runs", "6")
    expect(page.get_by_role("columnheader", name="persons: rate")).to_be_visible()


def test_a_field_that_no_run_has_is_named_with_what_would_be_right(page: Page, runs: list[str]) -> None:
    page.goto("/runs?show=groups&by=per_ss")
    expect(page.get_by_text("no run has a metric or parameter 'per_ss'; did you mean 'per_s'?")).to_be_visible()
    page.get_by_role("button", name="Group by experiment").click()
    expect(page.get_by_test_id("groups").locator("tbody tr")).to_have_count(1)
    page.goto("/runs?columns=run,foo&state=running")
    expect(page.get_by_test_id("analyse-listed")).to_be_disabled()
    expect(page.get_by_test_id("analyse-listed")).to_have_attribute("title", "Only ended runs can be analysed")
    page.get_by_role("button", name="Show the usual columns").click()
    expect(page.get_by_text("No run matches")).to_be_visible()
    page.goto("/runs?show=scatter&x=persons/rate/per_s&y=seed")  # the end of a name will do
    expect(page.get_by_test_id("scatter").get_by_test_id("plot")).to_have_attribute("data-drawn", "true")
    page.goto("/runs?show=groups&search=p99:1..10s")
    expect(page.get_by_text("write it at both, as in p99:1s..10s")).to_be_visible()
    page.get_by_role("button", name="Show all runs").click()
    expect(page.get_by_test_id("groups").locator("tbody tr")).to_have_count(1)
