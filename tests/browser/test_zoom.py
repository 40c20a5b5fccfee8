"""A screen of 1280×800 at a zoom of 200 %: half as many px of the page in each direction. And pages for who wants nothing to move."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from .axe import assert_accessible
from .canvas import Canvas
from .reasons import assert_reasons
from .test_run import start
from .waiting import wait_until_ended

ZOOMED = {"width": 640, "height": 400, "device_scale_factor": 2}
NARROW = {"width": 900, "height": 700}

# Controls and headings that cannot be brought into view by scrolling, or whose words are cut off without dots; cells too narrow for a word;
# parts of the top bar that overlap; and ways to scroll sideways other than those of the canvas, charts, tables and code.
LOST = """() => {
  const lost = [];
  const name = (element) => `${element.tagName} ${element.getAttribute("aria-label") || element.textContent.trim().slice(0, 40)}`;
  for (const element of document.querySelectorAll(".view *, dialog *")) {
    const { overflowX } = getComputedStyle(element);
    const wide = element.scrollWidth > element.clientWidth + 1;
    const mayScroll = element.matches(":has(table), .topo, pre, .tags, input, textarea");
    if (wide && /auto|scroll/.test(overflowX) && !mayScroll) lost.push(`sideways: ${element.className}`);
  }
  for (const element of document.querySelectorAll("button, a, input, select, textarea, h1, h2, h3, label")) {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (element.closest(".react-flow__viewport, .toasts")) continue;
    const style = getComputedStyle(element);
    if (style.clipPath !== "none") continue;
    const cut = element.scrollWidth > element.clientWidth + 2 && style.overflowX !== "visible" && style.textOverflow !== "ellipsis";
    if (cut && !element.matches("input, select, textarea")) lost.push(`cut off: ${name(element)}`);
    element.scrollIntoView({ block: "nearest", inline: "nearest" });
    const { left, top, right, bottom } = element.getBoundingClientRect();
    const below = bottom > innerHeight + 1 && bottom - top < innerHeight;
    if (left < -1 || top < -1 || right > innerWidth + 1 || below) lost.push(`out of reach: ${name(element)}`);
  }
  const boxes = [...document.querySelectorAll(".top > *, .top .crumb > *")]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().width > 2)
    .map((one) => [one, one.getBoundingClientRect()]);
  const meet = (a, b) => a.left < b.right - 2 && b.left < a.right - 2 && a.top < b.bottom - 2 && b.top < a.bottom - 2;
  for (const [one, a] of boxes)
    for (const [other, b] of boxes)
      if (!one.contains(other) && !other.contains(one) && meet(a, b))
        lost.push(`on top of each other: ${name(one)} and ${name(other)}`);
  for (const cell of document.querySelectorAll("td, th"))
    if (cell.checkVisibility() && cell.textContent.trim() && cell.clientWidth < 20) lost.push(`no room: ${name(cell)}`);
  const page = document.scrollingElement;
  const [width, height] = [page.scrollWidth, page.scrollHeight];
  if (width > innerWidth || height > innerHeight) lost.push(`the window scrolls: ${width} × ${height}`);
  return lost;
}"""


def assert_all_in_reach(page: Page, name: str) -> None:
    assert page.evaluate(LOST) == [], name


@pytest.fixture
def zoomed(new_context: Callable[..., BrowserContext]) -> Page:
    return new_context(**ZOOMED).new_page()


@pytest.mark.deep
def test_every_page_can_be_used_at_twice_the_size_and_in_a_narrow_window(
    zoomed: Page, api: httpx.Client, experiment: Callable[..., str]
) -> None:
    """Nothing is cut off or out of reach, and pages scroll downwards only."""
    experiment_id = experiment()
    runs = [start(api, experiment_id), start(api, experiment_id)]
    for run_id in runs:
        wait_until_ended(api, zoomed, run_id)
    for path, ready in (
        (f"/experiments/{experiment_id}", "Placement"),
        (f"/runs/{runs[0]}", "Throughput"),
        (f"/runs/{runs[0]}?panel=records", "5 slowest"),
        (f"/runs/{runs[0]}?panel=summary", "Records in"),
        ("/runs", "NexMark Q3, four workers"),
        (f"/compare?runs={','.join(runs)}", "by JSON pointer"),
        ("/compare", "Choose two to four runs"),
        ("/studies", "A study is many runs of one experiment"),
        ("/figures", "Siachamis 2024, autoscalers"),
        ("/figures/checkmate/3.10", "Runs behind coordinated"),
        ("/analysis", "Questions about many runs at once"),
        ("/templates", "Flight delays by airport"),
        ("/experiments", "NexMark Q3, four workers"),
        ("/lab", "Last signed in"),
        ("/lab/tokens", "Issue a token"),
        ("/lab/audit", "Sign-ins"),
        ("/datasets", "113,493"),
        ("/help", "How Millrace works"),
        ("/help/operators/join", "Left key"),
        ("/help/rates", "Random walk"),
        ("/nowhere", "There is no page at this address"),
    ):
        zoomed.goto(path)
        zoomed.get_by_text(ready).first.wait_for(state="attached")
        zoomed.wait_for_load_state("networkidle")
        assert_all_in_reach(zoomed, path)
        assert_accessible(zoomed)
        assert_reasons(zoomed)
        zoomed.set_viewport_size(NARROW)
        assert_all_in_reach(zoomed, f"{path} at 900 px")
        zoomed.set_viewport_size({key: ZOOMED[key] for key in NARROW})


def test_a_query_is_edited_and_run_at_twice_the_size(zoomed: Page, experiment: Callable[..., str]) -> None:
    canvas = Canvas(zoomed)
    canvas.new()
    for item in ("stream-nexmark_person", "operator-filter", "operator-sink"):
        zoomed.get_by_test_id(f"palette-{item}").press("Enter")
    zoomed.get_by_label("Fit", exact=True).click()
    canvas.wait_until_still()
    canvas.connect("persons", "filter")
    canvas.connect("filter", "sink")
    zoomed.get_by_test_id("problems-button").click()
    canvas.operator("filter").locator("header b").click()
    zoomed.locator("#form-query-operators-1-params_predicate").fill("state == 'OR'")
    zoomed.get_by_label("Inspector").get_by_role("tab", name="Workload").click()
    zoomed.get_by_label("Horizon").first.fill("6")
    assert_all_in_reach(zoomed, "canvas with a selected operator")
    zoomed.get_by_role("button", name="More").click()
    zoomed.get_by_role("button", name="Import", exact=True).last.click()
    expect(zoomed.get_by_role("dialog")).to_be_visible()
    assert_all_in_reach(zoomed, "import")
    zoomed.keyboard.press("Escape")
    zoomed.get_by_test_id("run").click()
    zoomed.wait_for_url("**/runs/*")
    expect(zoomed.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")


def test_a_narrow_window_has_room_for_one_side_panel(new_page: Callable[..., Page], experiment: Callable[..., str]) -> None:
    """At 900 px the panel opened last stands beside the stage; what is chosen is shown; on a wide window both come back."""
    page = new_page(width=900)
    canvas = Canvas(page)
    canvas.open(experiment())
    palette, inspector = page.get_by_role("complementary", name="Palette"), page.get_by_role("complementary", name="Inspector")
    expect(inspector).to_be_visible()
    expect(palette).to_have_count(0)
    expect(page.get_by_test_id("problems-button")).to_have_text("Valid")
    assert_all_in_reach(page, "canvas at 900 px")
    page.get_by_label("Left panel").click()
    expect(palette).to_be_visible()
    expect(inspector).to_have_count(0)
    page.get_by_test_id("palette-operator-filter").press("Enter")
    expect(canvas.operator("filter-2")).to_be_visible()
    expect(palette).to_be_visible()
    page.get_by_label("Fit", exact=True).click()
    canvas.wait_until_still()
    canvas.operator("join").locator("header b").click()
    expect(inspector.get_by_label("Left key")).to_be_visible()
    expect(palette).to_have_count(0)
    assert_accessible(page)
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(palette).to_be_visible()
    expect(inspector).to_be_visible()


MOVING = """() => document.getAnimations()
  .filter((one) => one.playState === "running" && (one.effect.getComputedTiming().duration || 0) > 1)
  .map((one) => `${one.animationName ?? one.transitionProperty} on ${one.effect.target?.className}`)"""


def test_nothing_moves_for_who_wants_no_motion(new_page: Callable[..., Page], experiment: Callable[..., str]) -> None:
    """Neither what unfolds and fits nor what waits; the view is where it goes at once."""
    page = new_page(motion="reduce")
    canvas = Canvas(page)
    canvas.open(experiment())
    expect(page.get_by_test_id("problems-button")).to_have_text("Valid")
    page.get_by_label("Zoom in").click()
    page.get_by_label("Fit", exact=True).click()
    at = canvas.view()
    page.get_by_role("button", name="Undo").hover()
    canvas.operator("filter").click()
    assert page.evaluate(MOVING) == []
    assert canvas.wait_until_still() == at
