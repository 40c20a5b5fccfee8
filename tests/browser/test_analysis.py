"""Questions about many runs in the browser: asked, answered by Spark, refused at the field, and waiting where nobody answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from .axe import assert_accessible
from .test_pictures import Album, folder
from .test_studies import rates, short_runs, started
from .waiting import until, until_ended

OWN_INSTALLATION = True


__all__ = ["folder"]  # a fixture, made there


@pytest.fixture
def sweep(api: httpx.Client, experiment: Callable[..., str], page: Page) -> str:
    """A study of twelve runs that have ended, each with a pause of a host."""

    def with_pause(document: dict[str, Any]) -> None:
        short_runs(document)
        document["workload"]["horizon_s"] = 8.25
        host = document["cluster"]["hosts"][0]
        name = host["name"] if host.get("count", 1) == 1 else f"{host['name']}1"
        document["faults"] = [{"kind": "pause", "host": name, "for_ms": 400, "when": {"kind": "at", "at_s": 5.0}}]

    id = experiment(with_pause)
    fields = rates(api.get(f"/api/experiments/{id}").json()["document"])
    load = {"name": "load", "fields": fields, "multiply": True, "values": {"kind": "list", "of": [0.4, 0.8, 1.2]}}
    workers = {"name": "workers", "fields": ["/cluster/hosts/0/speed"], "values": {"kind": "list", "of": [0.3, 0.6]}}
    study = started(api, id, name="To be analysed", axes=[workers, load], seeds=[1, 2])
    assert until_ended(api, f"/api/studies/{study}", page)["trials_done"] == 12
    return study


def answered(page: Page) -> None:
    page.wait_for_url(re.compile(r"/analysis/[0-9a-f-]{36}"))
    page.get_by_test_id("answer-table").wait_for()


def test_what_is_read_is_told_first_and_chosen_runs_stay_chosen(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    def named_once(document: dict[str, Any]) -> None:
        short_runs(document)
        document["name"] = "Chosen once"

    def named_twice(document: dict[str, Any]) -> None:
        short_runs(document)
        document["name"] = "Chosen twice"

    numbers = []
    for change in (named_once, named_twice):
        id = experiment(change)
        for seed in (1, 2):
            run = api.post(f"/api/experiments/{id}/runs", json={"seed": seed}).raise_for_status().json()
            assert until_ended(api, f"/api/runs/{run['id']}", page)["state"] == "succeeded"
            numbers.append(run["number"])
    page.goto("/runs?search=Chosen")
    for number in numbers[1:]:
        page.get_by_label(f"Choose run {number}", exact=True).check()
    page.get_by_test_id("analyse-chosen").click()
    dialog = page.get_by_role("dialog")
    reading = dialog.get_by_test_id("reading")
    expect(dialog.get_by_test_id("asked-chosen")).to_contain_text("3 chosen runs")
    expect(reading).to_contain_text("3 succeeded runs of 2 experiments")
    expect(reading).to_contain_text("all new")
    expect(dialog.get_by_test_id("pool-warning")).to_contain_text("mix 2 experiments")
    assert_accessible(page)
    dialog.get_by_role("button", name="Statistics by experiment").click()
    expect(dialog.get_by_test_id("pool-warning")).to_have_count(0)
    dialog.get_by_text("Summaries", exact=True).click()
    reading.get_by_role("button", name="Chosen twice").click()
    expect(reading).to_contain_text("2 succeeded runs of Chosen twice")

    dialog.get_by_text("Comparison", exact=True).click()
    expect(dialog.get_by_test_id("reading-both")).to_contain_text("2 runs are on both sides")
    dialog.get_by_role("textbox", name=re.compile("^Against these")).fill("no such run")
    expect(page.get_by_test_id("ask-now")).to_be_disabled()
    expect(dialog.get_by_text("No run matches; change the selection.")).to_be_visible()
    dialog.get_by_text("Summaries", exact=True).click()
    with page.expect_response(lambda response: response.url.endswith("/api/spark/jobs") and response.request.method == "POST") as answer:
        page.get_by_test_id("ask-now").click()
    job = answer.value.json()
    assert len(job["question"]["runs"]["ids"]) == 3
    page.wait_for_url(f"**/analysis/{job['id']}")

    def under_way(route: Any) -> None:
        """As a worker would tell it; that it does, other tests show."""
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "state": "running", "progress": 0.4, "runs": 12, "read": 10})

    watching = page.context.new_page()
    watching.route(re.compile(rf"/api/spark/jobs/{job['id']}"), under_way)
    # News would tell of the job as it is, still queued, over the answer above.
    watching.route_web_socket(re.compile("/ws/news"), lambda socket: None)
    watching.goto(page.url)
    expect(watching.get_by_text("4 of 10 new runs read")).to_be_visible()
    bar = watching.get_by_role("progressbar", name="New runs read")
    filled = "bar => Math.abs(bar.firstElementChild.offsetWidth / bar.offsetWidth - 0.4) < 0.01"
    until(lambda: bar.evaluate(filled), "the bar is filled to two fifths", watching)
    watching.close()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("link", name="Ask again").click()
    expect(dialog.get_by_test_id("asked-chosen")).to_contain_text("3 chosen runs")
    expect(reading).to_contain_text("2 succeeded runs of Chosen twice")
    api.delete(f"/api/spark/jobs/{job['id']}").raise_for_status()

    page.goto("/runs?search=Chosen+once")
    page.get_by_test_id("analyse-listed").click()
    expect(reading).to_contain_text("2 succeeded runs of Chosen once")


@pytest.mark.deep
@pytest.mark.spark
def test_from_a_question_to_its_answer(page: Page, workbench: Any, sweep: str, new_context: Callable[..., BrowserContext]) -> None:
    page.goto("/analysis")
    page.get_by_text("No questions yet").wait_for()
    page.get_by_test_id("ask").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("From").fill("soon")
    expect(page.get_by_test_id("ask-now")).to_be_disabled()
    expect(dialog.get_by_text("enter a number of seconds")).to_be_visible()
    dialog.get_by_label("From").fill("")
    dialog.get_by_role("textbox", name=re.compile("^Runs")).fill("p99>much")
    page.get_by_test_id("ask-now").click()
    expect(dialog.get_by_text("is not a number, such as 500ms")).to_be_visible()
    assert_accessible(page)
    page.keyboard.press("Escape")

    page.goto(f"/analysis?ask=summaries&study={sweep}")
    dialog.get_by_label("From").fill("3.3")
    page.get_by_test_id("ask-now").click()
    page.get_by_text("Waiting for the analysis worker").wait_for()
    page.goto("/analysis")
    expect(page.get_by_test_id("spark-note")).to_contain_text("No analysis worker is running")
    workbench.start("analysis")
    page.get_by_role("link", name="Summaries").click()
    answered(page)
    expect(page.get_by_test_id("answer-table").locator("tbody tr")).to_have_count(12)
    expect(page.get_by_test_id("pooled")).to_contain_text("12")
    expect(page.get_by_test_id("plot")).to_have_attribute("data-drawn", "true")
    assert_accessible(page)
    page.get_by_label("Metric").select_option("recovery_s")
    page.wait_for_url("**metric=recovery_s")

    for kind, fill in (
        ("surface", {"x axis": "/cluster/hosts/w/speed", "y axis": "/workload/sources/auctions/rate/per_s"}),
        ("comparison", {"These runs": "speed=0.6", "Against these": "speed=0.3"}),
        ("statistics", {"Group by": "/cluster/hosts/w/speed"}),
    ):
        page.goto(f"/analysis?ask={kind}&study={sweep}")
        for label, text in fill.items():
            dialog.get_by_role("textbox", name=re.compile(f"^{label}")).fill(text)
        page.get_by_test_id("ask-now").click()
        answered(page)
        expect(page.get_by_test_id("plot")).to_have_attribute("data-drawn", "true")
    assert_accessible(page)

    page.goto("/analysis")
    expect(page.get_by_test_id("analysis-list").locator("tbody tr")).to_have_count(4)
    page.get_by_role("button", name="Delete Response surface").click()
    expect(page.get_by_test_id("analysis-list").locator("tbody tr")).to_have_count(3)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_test_id("analysis-list").locator("tbody tr")).to_have_count(4)
    dark = new_context(theme="dark").new_page()
    dark.goto("/analysis")
    dark.get_by_role("link", name="Response surface").click()
    expect(dark.get_by_test_id("plot")).to_have_attribute("data-drawn", "true")
    assert_accessible(dark)


@pytest.mark.spark
@pytest.mark.deep
def test_pictures_of_analyses(
    new_context: Callable[..., BrowserContext], api: httpx.Client, experiment: Callable[..., str], folder: Path, workbench: Any
) -> None:
    album = Album(folder)
    page = new_context().new_page()
    experiment_id = experiment(short_runs)
    speeds = {"name": "speed", "fields": ["/cluster/hosts/0/speed"], "values": {"kind": "list", "of": [0.3, 0.5, 0.7]}}
    fields = rates(api.get(f"/api/experiments/{experiment_id}").json()["document"])
    load = {"name": "load", "fields": fields, "multiply": True, "values": {"kind": "list", "of": [0.5, 1, 1.5]}}
    study = started(api, experiment_id, name="To be analysed", axes=[speeds, load], seeds=[1, 2])
    until_ended(api, f"/api/studies/{study}", page)
    page.goto(f"/analysis?ask=summaries&study={study}")
    page.get_by_test_id("ask-now").wait_for()
    album.take(page, "analysis-new")
    page.get_by_test_id("ask-now").click()
    if api.get("/api/spark/jobs").json()["spark"]["state"] == "absent":
        workbench.start("analysis")
    page.get_by_test_id("answer-table").wait_for()
    album.take(page, "analysis-answer")
    page.goto("/analysis")
    page.get_by_role("link", name="Summaries").first.wait_for()
    album.take(page, "analysis")
