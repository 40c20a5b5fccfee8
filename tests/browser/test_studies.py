"""Studies in the browser: made on a page from the canvas, watched until they end, read, and taken on."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from .axe import assert_accessible
from .waiting import until_ended


def short_runs(document: dict[str, Any]) -> None:
    """Runs of a moment each, on hosts that a few thousand records a second fill."""
    document["workload"].update(horizon_s=8.0, warmup_s=2.0)
    document["policies"] = {"flow_control": {"kind": "credits", "per_channel": 32}}
    for source, per_s in zip(document["workload"]["sources"].values(), (1500, 4500), strict=True):
        source["rate"] = {"kind": "constant", "per_s": per_s}
    for host in document["cluster"]["hosts"]:
        host["speed"] = 0.3


def rates(document: dict[str, Any]) -> list[str]:
    return [f"/workload/sources/{source}/rate/per_s" for source in document["workload"]["sources"]]


def started(api: httpx.Client, experiment_id: str, **parts: Any) -> str:
    document = api.get(f"/api/experiments/{experiment_id}").json()["document"]
    study = {"name": "Capacity", "experiment": document, **parts}
    answer = api.post("/api/studies", json={"document": study, "experiment": experiment_id})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def search(api: httpx.Client, experiment_id: str, **parts: Any) -> str:
    fields = rates(api.get(f"/api/experiments/{experiment_id}").json()["document"])
    values = {"kind": "between", "from": 0.2, "to": 6}
    load = {"name": "load", "fields": fields, "multiply": True, "values": values}
    kind = {"kind": "sustainable", "load": load, "precision": 0.3, "step_down": 0.4, "shares": [0.9]}
    workers = {"name": "workers", "fields": ["/cluster/hosts/0/count"], "values": {"kind": "list", "of": [1, 2]}}
    return started(api, experiment_id, axes=[workers], search=kind, seeds=[1, 2], **parts)


def optimised(api: httpx.Client, experiment_id: str) -> str:
    """The least workers whose latency is good."""
    workers = {"name": "workers", "fields": ["/cluster/hosts/0/count"], "values": {"kind": "between", "from": 1, "to": 8, "whole": True}}
    speed = {"name": "speed", "fields": ["/cluster/hosts/0/speed"], "values": {"kind": "list", "of": [0.2, 0.4, 0.8]}}
    bounds = [{"metric": "latency_ms.p99", "at_most": 20.0}]
    design = {"kind": "optimise", "objectives": [{"metric": "workers"}], "bounds": bounds, "trials": 14}
    return started(api, experiment_id, name="The least workers in time", axes=[workers, speed], design=design, seeds=[1, 2])


def runs_of_its_own(document: dict[str, Any]) -> None:
    """Runs that no other study of the lab has made before: such are not made again, and belong to the other."""
    short_runs(document)
    document["workload"]["horizon_s"] += 0.125


def test_a_study_from_the_canvas_to_its_result(page: Page, api: httpx.Client, experiment: Callable[..., str], tmp_path: Path) -> None:
    """With the keyboard where it matters: fields found by name, values typed, started; the draft survives a reload."""
    page.goto(f"/experiments/{experiment(runs_of_its_own)}")
    page.get_by_test_id("operator-join").wait_for()
    page.keyboard.press("Control+Shift+Enter")
    page.wait_for_url("**/studies/new?experiment=*")
    new = page.url
    begin = page.get_by_test_id("start-study")
    expect(begin).to_have_attribute("title", re.compile("single run"))
    name = page.get_by_label("Name", exact=True).locator("input").first
    first = name.input_value()

    page.keyboard.press("a")
    page.keyboard.type("hosts count")
    fields = page.get_by_test_id("fields")
    expect(fields.get_by_role("checkbox")).to_have_count(1)
    fields.get_by_role("checkbox").check()
    page.get_by_role("button", name="Add", exact=True).click()
    axis = page.get_by_test_id("axis-count")
    values = axis.locator('[data-pointer="/axes/0/values/of"] textarea')
    expect(values).to_have_value("4, 8, 16")
    values.fill("0, 2")
    expect(page.get_by_test_id("study-problems")).to_contain_text("count")
    expect(begin).to_have_attribute("aria-disabled", "true")
    values.fill("1, 2")
    page.get_by_role("radiogroup", name="How many seeds").get_by_text("3", exact=True).click()
    size = page.get_by_test_id("study-size")
    expect(size).to_have_attribute("data-runs", "6")
    assert_accessible(page)
    page.reload()
    expect(size).to_have_attribute("data-runs", "6")

    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(r"/studies/[0-9a-f-]{36}"))
    state = page.locator(".top [data-testid=run-state]")
    expect(state).to_have_attribute("data-state", "succeeded")
    expect(page.get_by_test_id("study-counts")).to_have_attribute("data-done", "6")
    expect(page.get_by_test_id("chart-latency_ms.p99")).to_have_attribute("data-points", "2")
    expect(page.get_by_test_id("plot").first).to_have_attribute("data-drawn", "true")
    assert_accessible(page)

    # The choice of point, metrics and view stands in the address; a point leads to its runs.
    page.get_by_test_id("points").get_by_role("button", name="Show point count 2").click()
    page.get_by_role("radiogroup", name="Show as").get_by_text("Table").click()
    page.wait_for_url("**point=1**view=table**")
    page.reload()
    table = page.get_by_test_id("result-table")
    table.get_by_role("button", name="Latency p99, ms").click()
    expect(table.locator("tbody tr").first.locator("td").nth(1)).to_have_text(re.compile("[12]"))
    expect(page.get_by_test_id("point").get_by_role("link", name=re.compile("run"))).to_have_count(3)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
        page.get_by_role("button", name="Runs as CSV").click()
    download.value.save_as(tmp_path / "runs.csv")
    rows = list(csv.DictReader((tmp_path / "runs.csv").open()))
    assert [(row["count"], row["seed"]) for row in rows] == [(count, seed) for count in "12" for seed in "123"]
    assert all(float(row["latency_ms.p99"]) > 0 for row in rows)

    page.get_by_test_id("point").get_by_role("link", name=re.compile("run")).first.click()
    expect(page.get_by_test_id("of-study")).to_have_text(re.compile("Study of"))
    page.get_by_test_id("of-study").click()
    page.get_by_test_id("point").get_by_role("button", name="Open as experiment").click()
    page.wait_for_url("**/experiments/*")

    # The next study of the experiment begins anew, under a name of its own.
    page.goto(new)
    expect(name).to_have_value(f"{first} (2)")
    expect(page.get_by_test_id("study-size")).to_have_attribute("data-runs", "1")


@pytest.mark.deep
def test_what_a_search_found_and_what_it_tried(
    new_context: Callable[..., BrowserContext], api: httpx.Client, experiment: Callable[..., str]
) -> None:
    page = new_context(theme="dark").new_page()
    study = search(api, experiment(short_runs), description="On one worker, and on two.")
    page.goto("/studies")
    row = page.get_by_test_id(f"study-{study}")
    expect(row.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")
    assert_accessible(page)
    row.get_by_role("link", name="Capacity", exact=True).click()
    expect(page.get_by_test_id("chart-sustained")).to_have_attribute("data-points", "2")
    ladder = page.get_by_test_id("ladder-1")
    expect(ladder.get_by_text("not sustained").first).to_be_visible()
    expect(ladder).to_contain_text("queue grows")
    page.goto(f"/studies/{study}?view=search&point=1")
    expect(page.get_by_test_id("known-load")).to_contain_text(re.compile(r"Sustainable .*\d"))
    assert int(page.get_by_test_id("growth-queue").get_attribute("data-points") or 0) >= 2
    found = api.get(f"/api/studies/{study}/results").json()["found"]
    assert found[0]["sustained"] < found[2]["sustained"], "two workers carry more than one"
    assert_accessible(page)
    chosen = page.get_by_test_id("points").locator("tr.on")
    page.get_by_test_id("points").locator("tbody tr").last.click()
    expect(chosen).to_have_count(1)
    page.set_viewport_size({"width": 640, "height": 400})
    page.reload()
    expect(chosen).to_have_count(1)
    expect(page.get_by_role("heading", name="Capacity")).to_be_in_viewport()  # the chosen point does not pull the page down
    page.set_viewport_size({"width": 1280, "height": 800})

    page.goto(f"/runs?study={study}")
    done = api.get(f"/api/studies/{study}").json()["trials_done"]
    expect(page.get_by_text(f"{done} runs", exact=True)).to_be_visible()

    page.goto("/studies")
    page.get_by_test_id(f"study-{study}").get_by_role("button", name="Delete Capacity").click()
    expect(page.get_by_test_id(f"study-{study}")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_test_id(f"study-{study}")).to_be_visible()


def test_a_search_for_load_begins_with_the_rates_of_all_sources(page: Page, experiment: Callable[..., str]) -> None:
    page.goto(f"/studies/new?experiment={experiment(short_runs)}")
    page.get_by_label("Search", exact=True).last.select_option("sustainable")
    load = page.get_by_test_id("axis-load")
    expect(load.locator(".chosen-fields li")).to_have_count(2)
    expect(page.locator('[data-pointer="/search/start"] select')).to_have_value("bottom")  # overloaded runs take longest
    expect(page.get_by_test_id("study-size")).to_contain_text("1 search")
    shares = page.locator('[data-pointer="/search/shares"] textarea')
    shares.fill("0.9, -1")
    expect(page.locator('[data-pointer="/search/shares"]')).to_contain_text("above 0")
    shares.fill("0.9, x")
    expect(page.locator('[data-pointer="/search/shares"]')).to_contain_text("is not a number")
    shares.fill("0.9, 0.5")
    expect(page.get_by_test_id("study-problems")).to_have_count(0)


def test_which_engine_is_asked(page: Page, experiment: Callable[..., str]) -> None:
    page.goto(f"/studies/new?experiment={experiment(short_runs)}")
    page.get_by_test_id("which-engine").click()
    engines = page.get_by_test_id("axis-engine").locator("textarea")
    expect(engines).to_have_value("{kind: storm}, {kind: spark}, {kind: flink}")
    said = page.get_by_role("textbox", name="Description")
    expect(said).to_have_value("Left to the engines: flow control, prices.")  # Spark and Storm have no credits, all have their own prices
    expect(page.get_by_test_id("axis-load").locator(".chosen-fields li")).to_have_count(2)
    expect(page.get_by_test_id("study-size")).to_contain_text("9 searches")
    expect(page.get_by_test_id("study-problems")).to_have_count(0)
    expect(page.get_by_test_id("which-engine")).to_be_disabled()
    assert_accessible(page)


def test_which_engine_is_best(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    kinds: list[Any] = [{"kind": "flink"}, {"kind": "spark"}]
    axis = {"name": "engine", "fields": ["/policies/engine"], "values": {"kind": "list", "of": kinds}}
    study = started(api, experiment(tiny), axes=[axis])
    until_ended(api, f"/api/studies/{study}", page)
    page.goto(f"/studies/{study}")
    matrix = page.get_by_test_id("engine-matrix")
    expect(matrix.locator("thead th")).to_have_text(["What matters", "Flink 1.1", "Spark Streaming 2.0", "Best"])
    mean = matrix.locator("tbody tr").nth(1)
    expect(mean.locator("td").first).to_have_text("Mean latency, ms")
    expect(mean.locator("td").last).to_have_text("Flink 1.1")  # Spark's is that of whole batches
    assert_accessible(page)
    page.get_by_role("radiogroup", name="Show as").get_by_text("Table", exact=True).click()
    expect(page.get_by_test_id("result-table").locator("tbody tr")).to_have_count(2)


def tiny(document: dict[str, Any]) -> None:
    """For Flink and Spark alike, which have no credits."""
    short_runs(document)
    document["policies"] = {}
    for source in document["workload"]["sources"].values():
        source["rate"]["per_s"] = 100


def test_who_executes_a_study_is_chosen_and_shown(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    page.goto(f"/studies/new?experiment={experiment(short_runs)}")
    page.get_by_role("radiogroup", name="How many seeds").get_by_text("3", exact=True).click()
    chosen = page.get_by_label("Executed by")
    expect(chosen).to_have_value("workers")
    expect(page.get_by_role("region", name="Execution")).to_contain_text("the results are the same")
    chosen.select_option("spark")
    expect(page.get_by_test_id("study-size")).to_have_attribute("data-runs", "3")
    assert_accessible(page)
    page.get_by_test_id("start-study").click()
    page.wait_for_url(re.compile(r"/studies/[0-9a-f-]{36}"))
    expect(page.get_by_test_id("study")).to_contain_text("Executed by")
    expect(page.get_by_test_id("study-note")).to_contain_text("no analysis worker is running")
    study = page.url.split("?")[0].rpartition("/")[2]
    assert api.get(f"/api/studies/{study}").json()["document"]["executor"] == "spark"
    assert api.post(f"/api/studies/{study}/cancel").status_code == 202
    expect(page.get_by_test_id("study-note")).to_have_count(0)


@pytest.mark.deep
def test_an_optimisation_from_its_choice_to_the_best_point(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    experiment_id = experiment(short_runs)
    page.goto(f"/studies/new?experiment={experiment_id}")
    page.get_by_test_id("add-axis").click()
    page.get_by_label("Search fields").fill("hosts count")
    count = page.get_by_test_id("fields").get_by_role("checkbox")
    expect(count).to_have_count(1)
    count.check()
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_label("Design", exact=True).last.select_option("optimise")
    expect(page.get_by_test_id("study-size")).to_contain_text("40 trials")
    assert_accessible(page)

    study = optimised(api, experiment_id)
    page.goto(f"/studies/{study}")
    history = page.get_by_test_id("history-workers")
    history.wait_for()
    expect(page.locator(".top [data-testid=run-state]")).to_have_attribute("data-state", "succeeded")
    expect(history).to_have_attribute("data-trials", "14")
    expect(history.get_by_test_id("plot")).to_have_attribute("data-drawn", "true")
    found = api.get(f"/api/studies/{study}/optimisation").json()
    [best] = [one for one in found["trials"] if one["point"] == found["best"][0]]
    counting = [one for one in found["trials"] if one["feasible"]]
    assert best["values"]["workers"] == min(one["values"]["workers"] for one in counting)
    expect(page.get_by_test_id("best")).to_contain_text(f"trial {best['point'] + 1}")
    page.get_by_test_id("best").get_by_role("link").click()
    expect(page).to_have_url(re.compile(f"point={best['point']}"))
    expect(page.get_by_test_id("point").get_by_role("link", name=re.compile("run"))).to_have_count(2)
    assert_accessible(page)
