"""Figures of papers: found in the gallery, carried out by a worker while somebody watches, read, exported, forked."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.support.tiers import only

from .axe import assert_accessible
from .test_pushed import Asked
from .waiting import settled, until_ended

WORKED = "benchmark/3.5"


def measured(api: httpx.Client, page: Page, figure: str, scale: str = "smoke") -> None:
    asked = api.post(f"/api/figures/{figure}/reproductions", json={"scale": scale})
    asked.raise_for_status()
    now = until_ended(api, f"/api/figures/{figure}/reproductions", page)
    assert now["state"] == "succeeded", now["error"]


def test_a_figure_is_found_carried_out_and_read(page: Page) -> None:
    """Without asking for its progress."""
    asked = Asked(page)
    page.goto("/figures")
    page.get_by_label("Search figures").fill("worked example")
    row = page.get_by_test_id("figure-benchmark/3.6")
    expect(page).to_have_url(re.compile("search=worked"))
    expect(row).to_contain_text("comes with Millrace")
    row.get_by_role("button", name="Run").click()
    expect(row.get_by_test_id("figure-status")).to_have_text("Reproduced · smoke")
    expect(row).to_contain_text("shipped result: reproduced at dev scale")
    page.get_by_text("Not run", exact=True).first.click()
    expect(page).to_have_url(re.compile("status=not"))
    expect(page.get_by_text("No figure matches")).to_be_visible()
    page.go_back()
    row.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("windowed join")
    assertion = page.get_by_test_id("assertion-A3e").or_(page.get_by_test_id("assertions").locator("tbody tr").first)
    expect(assertion.locator("[data-state]")).to_have_attribute("data-state", "holds")
    assertion.locator("summary").click()
    expect(assertion.locator("code")).to_be_visible()
    expect(page.locator("[data-testid=plot][data-drawn=true]")).not_to_have_count(0)
    assert asked.count("/api/figures/benchmark/3.6/reproductions") <= 4, "when asked for, when shown, when the news began"
    assert asked.count("/api/figures") <= 6


def test_a_figure_is_watched_and_cancelled(page: Page) -> None:
    page.goto("/figures/benchmark/3.7?scale=paper")
    expect(page.get_by_test_id("figure-status")).to_have_attribute("data-status", "not run")
    page.get_by_test_id("run-figure").click()
    expect(page.get_by_test_id("figure-progress")).to_contain_text("paper scale")
    verdicts = page.get_by_test_id("assertions").locator("tbody tr [data-state]")
    expect(verdicts.first).to_have_text(re.compile("Waiting|Running"))
    assert verdicts.evaluate_all("all => all.every((one) => one.dataset.state === 'under way')"), "no assertion says that it was not run"
    expect(page.get_by_test_id("figure-status")).to_have_attribute("data-status", "in progress")
    page.get_by_test_id("cancel-figure").click()
    expect(page.get_by_test_id("run-figure")).to_be_visible()
    page.reload()
    expect(page.get_by_role("radio", name="paper")).to_be_checked()


def test_what_is_drawn_is_a_table_and_files_and_an_experiment(page: Page, api: httpx.Client) -> None:
    measured(api, page, "benchmark/3.7")
    page.goto("/figures/benchmark/3.7")
    expect(page.locator("[data-testid=plot][data-drawn=true]")).to_have_count(3)
    for format in ("CSV", "SVG", "PNG"):
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as kept:
            page.get_by_role("button", name=re.compile(format)).click()
        content = kept.value.path().read_bytes()
        assert kept.value.suggested_filename == f"benchmark-3-7-smoke.{format.lower()}"
        assert content[:4] == {"CSV": b"pane", "SVG": b"<svg", "PNG": b"\x89PNG"}[format]
    page.get_by_role("button", name="Show as tables").click()
    expect(page).to_have_url(re.compile("view=table"))
    page.get_by_title(re.compile("Show the runs behind unsustainable")).nth(3).click()
    expect(page).to_have_url(re.compile(r"point=0\.1\.3"))
    page.reload()
    behind = page.get_by_test_id("behind")
    expect(behind).to_contain_text("unsustainable")
    behind.get_by_role("link", name=re.compile(r"run \d+")).click()
    expect(page.get_by_test_id("run-state")).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="Fork experiment").click()
    page.get_by_test_id("fork-transient").click()
    page.get_by_test_id("stage").wait_for()
    expect(page).to_have_url(re.compile("/experiments/"))


def test_what_does_not_hold_is_told_with_its_reason(page: Page) -> None:
    """As the server would tell it; that it may come to this, other tests show."""

    def partly(route: Any) -> None:
        answer = route.fetch()
        figure = answer.json()
        figure.update(status="partly", scale="smoke")
        figure["assertions"][0].update(state="holds")
        figure["assertions"][1].update(state="fails", sides=[{"text": "event_time", "least": 590, "most": 590}])
        figure["assertions"][2].update(state="not evaluated", reason="2 of 3 runs are missing")
        figure["assertions"] = figure["assertions"][:3]
        figure["values"] = {"event_latency": {"reason": "2 of 3 runs are missing"}}
        route.fulfill(response=answer, json=figure)

    page.route(re.compile(rf"/api/figures/{WORKED}$"), partly)
    page.goto(f"/figures/{WORKED}")
    expect(page.get_by_test_id("figure-status")).to_have_text("Partly reproduced · smoke")
    expect(page.get_by_text("1 holds, 1 does not, 1 not evaluated")).to_be_visible()
    expect(page.get_by_test_id("assertion-A3b")).to_contain_text("does not hold")
    expect(page.get_by_test_id("assertion-A3b")).to_contain_text("590")
    expect(page.get_by_test_id("assertion-A3c")).to_contain_text("2 of 3 runs are missing")
    expect(page.get_by_test_id("drawing")).to_contain_text("Not drawn: event time (2 of 3 runs are missing)")


@pytest.mark.deep
def test_what_could_not_be_judged_is_no_failure(page: Page, api: httpx.Client) -> None:
    """At smoke scale the policies that this one speaks of are left out."""
    judged = "autoscalers/4.8"
    measured(api, page, judged)
    page.goto("/figures?status=not+evaluated")
    expect(page.get_by_role("radio", name="Not evaluated")).to_be_checked()
    status = page.get_by_test_id(f"figure-{judged}").get_by_test_id("figure-status")
    expect(status).to_have_text("Not evaluated · smoke")
    expect(page.get_by_text("1 not evaluated; 1 at smoke scale")).to_be_visible()
    page.get_by_test_id(f"figure-{judged}").get_by_role("link").click()
    expect(page.get_by_test_id("figure-status")).to_have_text("Not evaluated · smoke")
    expect(page.get_by_test_id("figure-status")).to_have_attribute("data-status", "not evaluated")
    expect(page.get_by_test_id("assertions").locator("[data-state='not evaluated']")).to_have_count(3)
    expect(page.get_by_test_id("assertion-A-11a")).to_contain_text("no run of the study with policy 'dhalion' at this scale")
    expect(page.get_by_test_id("assertion-A-11a")).not_to_contain_text("seeds")


def test_the_best_of_a_column_is_marked(page: Page) -> None:
    """As the server would tell it: the lowest wait and the highest share, and nothing where all are alike."""
    measured = {"map_wait": [14.8, 3.1], "map_low": [0.39, 0.84], "map_actions": [4, 4]}

    def told(route: Any) -> None:
        answer = route.fetch()
        figure = answer.json()
        figure["values"] = {name: {"x": ["DS2", "DS2, in place"], "y": y} for name, y in measured.items()}
        route.fulfill(response=answer, json=figure)

    page.route(re.compile(r"/api/figures/autoscalers/in-place$"), told)
    page.goto("/figures/autoscalers/in-place")
    drawing = page.get_by_test_id("drawing")
    rows = drawing.get_by_label("Map, cosine").get_by_role("row")
    expect(rows.nth(1).get_by_role("cell")).to_have_text(["DS2", "14.8", "0.39", "4"])
    expect(rows.nth(2).get_by_role("cell")).to_have_text(["DS2, in place", "3.1, the best", "0.84, the best", "4"])
    for cell, said in ((1, "the lowest"), (2, "the highest")):
        best = rows.nth(2).get_by_role("cell").nth(cell).get_by_role("button")
        expect(best).to_have_css("font-weight", "700")
        expect(best).to_have_attribute("title", re.compile(f"{said}, the best here"))
    share = drawing.get_by_label("Map, cosine").get_by_role("columnheader", name="low share")
    expect(share).to_have_attribute("title", re.compile("share of the samples .* below 5 s; higher is better"))
    expect(drawing).to_contain_text("bold: best in its column")
    assert_accessible(page)


def test_what_is_not_there_leads_on(page: Page) -> None:
    page.goto("/figures/benchmark/9.99")
    page.get_by_role("link", name="Back to figures").click()
    expect(page.get_by_test_id("figure-list")).to_be_visible()
    explained = page.get_by_role("region", name="Farhat 2020").get_by_role("link", name="Figure 2.2")
    expect(explained).to_have_attribute("href", "/learn/klink-2.2")
    page.route("**/api/figures", lambda route: route.fulfill(status=500, json={"detail": "no luck"}))
    page.goto("/figures")
    expect(page.get_by_text("no luck")).to_be_visible()
    again = page.get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    page.unroute("**/api/figures")
    again.evaluate_all("buttons => buttons.forEach((button) => button.click())")  # the page may have tried again by itself by now
    expect(page.get_by_test_id("figure-benchmark/3.4")).to_be_visible()


@pytest.mark.parametrize("theme", only(["light", "dark"], ci=["dark"]))
@pytest.mark.parametrize(("width", "height"), only([(1280, 800), (1920, 1080)], ci=[(1280, 800)]))
def test_figures_are_accessible(new_page: Callable[..., Page], api: httpx.Client, theme: str, width: int, height: int) -> None:
    page = new_page(width, height, theme)
    if not api.get(f"/api/figures/{WORKED}").json()["results"]:
        measured(api, page, WORKED)
    for path, ready in (
        ("/figures", "figure-list"),
        (f"/figures/{WORKED}", "assertions"),
        (f"/figures/{WORKED}?view=table", "assertions"),
        ("/figures/millrace/q12?scale=paper", "assertions"),
    ):
        page.goto(path)
        page.get_by_test_id(ready).wait_for()
        settled(page)
        assert_accessible(page)
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth && document.scrollingElement.scrollHeight <= innerHeight")


def test_the_set_up_of_a_figure_is_shown(page: Page) -> None:
    """A deployment by itself, that of other figures when somebody asks for it, study by study. All is in the address."""
    page.goto("/figures/incremental/4.1")
    picture = page.get_by_test_id("set-up").get_by_role("img")
    expect(picture).to_have_attribute("alt", re.compile("purchases on node02; revenue on node02; output on node02"))
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 600
    assert_accessible(page)
    page.get_by_test_id("show-set-up").click()
    expect(page.get_by_test_id("set-up")).to_have_count(0)
    page.goto("/figures/incremental/table-4.1")
    expect(page.get_by_test_id("drawing")).to_be_visible()
    expect(page.get_by_test_id("set-up")).to_have_count(0)
    page.get_by_test_id("show-set-up").click()
    page.get_by_test_id("set-up").get_by_label("Study").select_option("retain")
    expect(page).to_have_url(re.compile("setup=retain"))
    expect(picture).to_have_attribute("alt", re.compile("retained.*revenue on node02"))
    assert_accessible(page)
