"""Templates, lists, comparison, help: a newcomer's path in both themes, and what stands around it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from benchmarks.viewers import COLD_PLACES, DOWNLOADED
from tests.support.tiers import only, tier

from .axe import assert_accessible
from .canvas import Canvas
from .test_run import start
from .waiting import settled, until

LINK_LENGTH_MAX = 2000
FIRST_LOAD_KB_MAX = 600
FIRST_LOAD_FILES_MAX = 25


# Place and style of every element.
LOOK = """() => [...document.querySelectorAll(".view *")].map((element) => {
  const { x, y, width, height } = element.getBoundingClientRect();
  const { color, backgroundColor, borderTop, fontWeight, padding, display } = getComputedStyle(element);
  const place = [x, y, width, height].map(Math.round);
  const name = `${element.tagName} ${element.className.baseVal ?? element.className}`;
  return [name, ...place, color, backgroundColor, borderTop, fontWeight, padding, display].join(" ");
})"""


def finished(page: Page) -> None:
    expect(page.get_by_test_id("run-state").first).to_have_attribute("data-state", "succeeded")


@pytest.mark.parametrize("theme", only(["light", "dark"], ci=["light"]))
def test_a_newcomer_opens_a_template_changes_runs_watches_and_compares(
    new_context: Callable[..., BrowserContext], signed_in: Any, theme: str
) -> None:
    """The whole path by what is written on the page, with every page on the way accessible and every link short."""
    new = {**signed_in, "origins": []}  # signed in, and never here before
    page = new_context(theme=theme, storage_state=new).new_page()
    page.goto("/")
    page.get_by_test_id("tour-offer").get_by_role("button", name="Take the tour").click()
    tour = page.get_by_test_id("tour")
    expect(tour).to_contain_text("A query above")
    assert_accessible(page)
    while tour.get_by_role("button", name="Next").count():
        tour.get_by_role("button", name="Next").click()
    tour.get_by_role("button", name="Done").click()
    page.reload()
    page.get_by_test_id("stage").wait_for()
    expect(page.get_by_test_id("tour-offer")).to_have_count(0)

    page.get_by_role("link", name="Templates").click()
    page.get_by_label("Search templates").fill("q3 four workers")
    expect(page.locator(".card").first).to_contain_text("NexMark Q3")
    assert_accessible(page)
    page.get_by_role("button", name="NexMark Q3, four workers").click()
    page.wait_for_url("**/experiments/*")
    canvas = Canvas(page)
    canvas.stage.wait_for()
    experiment = page.url

    def run(seed: str) -> str:
        page.get_by_label("Inspector").get_by_role("tab", name="Workload").click()
        page.get_by_label(re.compile("^Horizon")).first.fill("20")
        page.get_by_label(re.compile("^Seed")).first.fill(seed)
        canvas.wait_until_saved()
        canvas.run()
        expect(page.get_by_test_id("time-stack")).not_to_have_attribute("data-points", "0")
        finished(page)
        return page.url.rsplit("/", 1)[-1]

    assert_accessible(page)
    run("1")
    assert_accessible(page)
    page.goto(experiment)
    canvas.stage.wait_for()
    run("2")

    page.get_by_role("link", name="Runs").first.click()
    rows = page.get_by_role("row").filter(has_text="NexMark Q3, four workers")
    rows.nth(1).wait_for()
    for row in (0, 1):
        rows.nth(row).get_by_role("checkbox").check()
    assert_accessible(page)
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**/compare?runs=*")
    differences = page.get_by_test_id("parameters")
    expect(differences.get_by_role("listitem")).to_have_text(["Workload: Seed 1 → 2"])
    differences.get_by_text("1 value by JSON pointer").click()
    expect(differences.get_by_role("row")).to_have_count(2)
    expect(page.get_by_test_id("figures")).to_contain_text("Latency, p99")
    assert len(page.url) < LINK_LENGTH_MAX
    assert_accessible(page)
    page.get_by_role("button", name="Latency: table").click()
    expect(page.get_by_role("region", name="Latency, table").get_by_role("row")).to_have_count(81)
    page.go_back()
    page.wait_for_url("**/runs")


def test_the_list_of_runs_is_searched_sorted_tagged_and_cleared_with_undo(
    page: Page, api: httpx.Client, experiment: Callable[..., str]
) -> None:
    def rename(document: dict[str, Any]) -> None:
        document["name"] = "needle in the list"
        document["workload"].update(horizon_s=6.0, warmup_s=1.0)

    runs = [start(api, experiment(rename)) for _ in range(3)]
    numbers = [api.get(f"/api/runs/{run_id}").json()["number"] for run_id in runs]
    rows = page.locator("tbody tr")
    page.goto("/runs")
    page.get_by_label("Search runs").fill("needle")
    page.wait_for_url("**search=needle**")
    expect(rows).to_have_count(3)
    expect(page.locator("[data-state=succeeded]")).to_have_count(3)
    page.get_by_title("Sort by seed").click()
    page.wait_for_url("**sort=-seed**")
    page.get_by_title("Sort by run").click()
    page.wait_for_url(lambda url: "sort" not in url)
    page.get_by_title("Sort by run").click()
    page.wait_for_url("**sort=number**")
    expect(rows.first).to_have_attribute("data-testid", f"run-{numbers[0]}")
    expect(page.get_by_role("columnheader", name="Run", exact=False).first).to_have_attribute("aria-sort", "ascending")
    page.go_back()
    expect(rows.first).to_have_attribute("data-testid", f"run-{numbers[2]}")

    page.get_by_label(f"Choose run {numbers[0]}").check()
    expect(page.get_by_role("button", name="Compare")).to_be_disabled()
    page.get_by_label(f"Choose run {numbers[2]}").click(modifiers=["Shift"])
    expect(page.get_by_test_id("bulk")).to_contain_text("3 runs chosen")
    page.get_by_title("Tag the chosen runs").click()
    page.get_by_label("New tag").fill("haystack")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="haystack")).to_have_count(3)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="haystack")).to_have_count(0)

    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No run matches")).to_be_visible()
    assert api.get(f"/api/runs/{runs[0]}").status_code == 404
    page.get_by_role("button", name="Undo").last.click()
    expect(rows).to_have_count(3)
    page.get_by_text("Failed", exact=True).click()
    page.get_by_role("button", name="Show all runs").click()
    expect(rows.first).to_be_visible()


def test_every_page_leads_on_is_accessible_and_small(new_page: Callable[..., Page], api: httpx.Client) -> None:
    """Help, empty and missing things: a heading, a way on, nothing that axe objects to, and no more than is needed loaded at first."""
    pages = {
        "/templates?search=nothing+like+it": "Show all",
        "/experiments?search=nothing+like+it": "Show all",
        "/runs?search=nothing+like+it": "Show all runs",
        "/runs/00000000-0000-0000-0000-000000000000": "Back to the list",
        "/experiments/00000000-0000-0000-0000-000000000000": "Back to the list",
        "/compare": "Choose runs",
        "/compare?runs=00000000-0000-0000-0000-000000000000": "Continue without it",
        "/help": "Take the tour",
        "/help/operators/join": "Operators",
        "/help/rates": "Cosine",
        "/help/nothing": "Back to start",
        "/nowhere": "Experiments",
    }
    for theme in tier(ci=("dark",), all=("light", "dark")):
        page = new_page(theme=theme)
        for path, way in pages.items():
            page.goto(path)
            expect(page.get_by_role("button", name=way).or_(page.get_by_role("link", name=way)).first).to_be_visible()
            assert_accessible(page)


@pytest.mark.deep
def test_pages_look_alike_however_one_comes_to_them(
    new_page: Callable[..., Page], api: httpx.Client, experiment: Callable[..., str]
) -> None:
    """The style sheet of one page says nothing about another."""
    page = new_page(motion="reduce")
    run_id = start(api, experiment())
    page.goto(f"/runs/{run_id}")
    finished(page)
    places = {"/templates": "Flight delays by airport", "/help": "How Millrace works", f"/runs/{run_id}": "Engine version"}

    def look(path: str) -> list[str]:
        page.get_by_text(places[path]).first.wait_for()
        page.wait_for_load_state("networkidle")
        settled(page)
        elements: list[str] = page.evaluate(LOOK)
        return elements

    def go(path: str) -> None:
        page.evaluate("path => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate', { state: null })); }", path)

    cold: dict[str, list[str]] = {}
    for path in places:
        page.goto(path)
        cold[path] = look(path)
    page.goto("/compare")
    for path, ready in (("/", "stage"), (f"/runs/{run_id}", "time-stack"), ("/runs", "run-list")):
        go(path)
        page.get_by_test_id(ready).first.wait_for()
    for path in places:
        go(path)
        until(lambda path=path: look(path) == cold[path], f"{path} looks after other pages as it does by itself", page)


def test_a_page_begins_with_little(new_context: Callable[..., BrowserContext], api: httpx.Client) -> None:
    """What is downloaded, with an empty cache, until a page is drawn; benchmarks/viewers.py (cold) says how long it takes."""
    first = api.get("/api/experiments").json()[0]["id"]
    for path, ready in COLD_PLACES.values():
        page = new_context().new_page()
        page.goto(path.format(experiment=first))
        page.get_by_test_id(ready).first.wait_for()
        kb, files = page.evaluate(DOWNLOADED)
        page.context.close()
        assert kb < FIRST_LOAD_KB_MAX, path
        assert files < FIRST_LOAD_FILES_MAX, path
