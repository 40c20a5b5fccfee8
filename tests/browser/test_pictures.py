"""Pictures of every page and state, in both themes, to look at. Checked: no page scrolls, and none has an error.

`scripts/pictures` keeps them in docs/pictures; without MILLRACE_PICTURES they go to a temporary directory.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from playwright.sync_api import BrowserContext, Page, expect

from tests.support.corner_cases import large_query

from .canvas import Canvas
from .conftest import ROOT
from .test_outage import from_a_file
from .test_run import make_long, start, wait_for
from .test_studies import optimised, rates, search, short_runs, started
from .waiting import settled, until_ended, wait_until_ended

OVERFLOW = """() => {
  const page = document.scrollingElement;
  return [page.scrollWidth - page.clientWidth, page.scrollHeight - page.clientHeight];
}"""
THEMES = ("light", "dark")
LIVE_FRAMES = 100  # enough to see how the lines go
NOBODY = "00000000-0000-0000-0000-000000000000"


class Album:
    """Takes a picture of what a page shows, once in each theme."""

    def __init__(self, folder: Path, suffix: str = "") -> None:
        self.folder = folder
        self.suffix = suffix

    def take(self, page: Page, name: str) -> None:
        for theme in THEMES:
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
            settled(page)
            page.screenshot(path=self.folder / f"{name}-{theme}{self.suffix}.png")
        assert page.evaluate(OVERFLOW) == [0, 0], f"{name}: the page itself scrolls"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = Path(os.environ.get("MILLRACE_PICTURES") or tmp_path)
    found.mkdir(parents=True, exist_ok=True)
    return found


def slow_join(document: dict[str, Any]) -> None:
    """Too little computing power behind bounded channels: backpressure, queues and growing latency to look at."""
    document["name"] = "NexMark Q3, one slow worker"
    document["policies"] = {"flow_control": {"kind": "credits", "per_channel": 32}}
    document["cluster"]["hosts"][0]["speed"] = 0.15


def misspelt(document: dict[str, Any]) -> None:
    next(one for one in document["query"]["operators"] if one["id"] == "filter")["params"]["predicate"] = "stat == 'OR'"


def faulty(document: dict[str, Any]) -> None:
    """One of each that is drawn differently: with an end, for a while, at random times."""
    document["name"] = "NexMark Q3, a bad day"
    at = {"kind": "at", "at_s": 8}
    document["faults"] = [
        {"kind": "slow_host", "host": "w1", "when": at, "for_ms": 7000, "factor": 0.4},
        {"kind": "pause", "host": "w2", "when": {"kind": "random", "mean_s": 5}, "for_ms": 600},
        {"kind": "partition", "sources": ["w3"], "from_s": 18, "to_s": 20.5},
        {"kind": "delay", "sources": ["w4"], "from_s": 24, "added_ms": 20},
    ]


def full_of_problems(document: dict[str, Any]) -> None:
    """On nodes, edges, hosts, in the workload and the policies."""
    misspelt(document)
    document["name"] = "Not ready to run"
    document["query"]["operators"].append({"id": "union", "kind": "union", "parallelism": 2})
    document["query"]["edges"][0]["partitioning"] = {"kind": "hash", "key": "seler"}
    document["workload"]["warmup_s"] = 45.0
    document["cluster"]["hosts"][0]["cores"] = 0


@pytest.mark.deep
def test_pictures_of_the_canvas(
    new_context: Callable[..., BrowserContext], signed_in: Any, experiment: Callable[..., str], folder: Path
) -> None:
    album = Album(folder)
    page = new_context(storage_state={**signed_in, "origins": []}).new_page()
    page.goto(f"/experiments/{experiment(slow_join)}")
    page.get_by_test_id("operator-join").wait_for()
    page.get_by_role("button", name="Take the tour").click()
    album.take(page, "canvas-tour")
    page.get_by_test_id("tour").get_by_role("button", name="End").click()
    page.get_by_test_id("operator-join").click()
    album.take(page, "canvas")
    page.keyboard.press("Control+k")
    page.get_by_role("dialog").wait_for()
    album.take(page, "commands")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    album.take(page, "keys")
    page.keyboard.press("Escape")
    page.get_by_test_id("palette-upload").click()
    page.get_by_role("dialog").wait_for()
    album.take(page, "upload")

    page.goto(f"/experiments/{experiment(misspelt)}")
    page.get_by_test_id("operator-filter").click()
    page.get_by_test_id("problems-button").click()
    album.take(page, "canvas-problem")


@pytest.mark.deep
def test_pictures_of_runs(
    new_context: Callable[..., BrowserContext], api: httpx.Client, experiment: Callable[..., str], folder: Path
) -> None:
    album = Album(folder)
    page = new_context().new_page()
    slow, usual = experiment(slow_join), experiment()
    runs = [start(api, slow), start(api, usual)]
    for run_id in runs:
        wait_until_ended(api, page, run_id)
    api.post("/api/runs/bulk", json={"action": "tag", "ids": runs, "tag": "slow hosts"}).raise_for_status()
    long_run = start(api, experiment(make_long))
    page.goto(f"/runs/{long_run}")
    wait_for(page, "drawnFrame", LIVE_FRAMES)
    album.take(page, "run-live")
    api.post(f"/api/runs/{long_run}/pause").raise_for_status()
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "paused")
    album.take(page, "run-paused")
    api.post(f"/api/runs/{long_run}/cancel").raise_for_status()
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "cancelled")
    album.take(page, "run-cancelled")

    page.goto(f"/runs/{runs[0]}?t=18")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")
    album.take(page, "run")
    page.get_by_role("button", name="Latency: table").click()
    album.take(page, "run-table")

    page.goto(f"/runs/{runs[1]}")
    page.get_by_role("tab", name="Records").click()
    page.get_by_test_id("ask-slowest").click()
    page.get_by_test_id("waterfall").wait_for()
    album.take(page, "run-records")

    page.goto(f"/runs/{runs[1]}?panel=notes")
    page.get_by_role("textbox", name="Notes on run").fill("Four workers keep up; the peak at 8 s is the join, not the sink.")
    page.get_by_text("Saved; visible to the whole lab").wait_for()
    album.take(page, "run-notes")

    for name, query in (("Slow and long", {"search": "p99>1000", "sort": "-p99"}), ("Of today", {"sort": "number"})):
        api.post("/api/views", json={"name": name, "query": query}).raise_for_status()
    page.goto("/runs")
    page.get_by_test_id("run-list").locator("table").wait_for()
    album.take(page, "runs")
    page.get_by_title("Views: saved lists").click()
    page.get_by_role("button", name="Of today", exact=True).wait_for()
    album.take(page, "runs-views")
    page.keyboard.press("Escape")
    for run_id in runs:
        page.get_by_label(f"Choose run {api.get(f'/api/runs/{run_id}').json()['number']}", exact=True).check()
    album.take(page, "runs-chosen")

    page.goto(f"/compare?runs={','.join(runs)}")
    page.get_by_test_id("figures").wait_for()
    page.get_by_test_id("compare-charts").hover(position={"x": 400, "y": 120})
    album.take(page, "compare")
    page.get_by_role("button", name="Latency: table").click()
    album.take(page, "compare-table")
    page.get_by_role("button", name="Add a run").click()
    page.get_by_role("dialog").get_by_role("checkbox").first.wait_for()
    album.take(page, "compare-choose")
    page.goto(f"/compare?runs={','.join(runs)}&side=attribution&align=own&at=6,9")
    page.get_by_test_id("attribution").wait_for()
    album.take(page, "compare-time")
    page.get_by_role("tab", name="Metrics").click()
    page.get_by_test_id("more-seeds").click()
    page.get_by_test_id("more-seeds").wait_for(state="detached")
    page.get_by_text("Means over seeds").wait_for()
    page.get_by_text("in progress").wait_for(state="detached")
    api.delete(f"/api/runs/{long_run}").raise_for_status()
    page.goto(f"/compare?runs={','.join(runs)},{long_run}")
    page.get_by_test_id("gone").wait_for()
    page.get_by_text("5 seeds").first.wait_for()
    album.take(page, "compare-seeds")


@pytest.mark.deep
def test_pictures_of_the_other_pages(new_context: Callable[..., BrowserContext], experiment: Callable[..., str], folder: Path) -> None:
    album = Album(folder)
    page = new_context().new_page()
    experiment()
    for name, path, ready in (
        ("templates", "/templates", "Flight delays by airport"),
        ("experiments", "/experiments", "NexMark Q3, four workers"),
        ("data-sets", "/datasets", "113,493"),
        ("help", "/help", "How Millrace works"),
        ("help-rates", "/help/rates", "Random walk"),
        ("help-join", "/help/operators/join", "Left key"),
        ("lessons", "/learn", "Which query should run first?"),
        ("lesson-rollback", "/learn/checkmate-3.5?step=8", "c32 is reachable from c22"),
        ("lesson-alignment", "/learn/checkmate-3.3?step=14", "Then it processes its buffered records: c2"),
        ("lesson-forcing", "/learn/checkmate-3.6?case=3&step=10", "So join first takes c31"),
        ("compare-none", "/compare", "Choose two to four runs to compare"),
        ("runs-none", "/runs?search=nothing+like+it", "No run matches"),
        ("run-missing", f"/runs/{NOBODY}", "Not found"),
        ("not-found", "/nowhere", "There is no page at this address"),
    ):
        page.goto(path)
        page.get_by_text(ready).first.wait_for()
        album.take(page, name)
    stranger = new_context(storage_state=None).new_page()
    stranger.goto("/")
    stranger.get_by_test_id("signed-out").wait_for()
    album.take(stranger, "signed-out")


@pytest.mark.deep
def test_pictures_of_studies(
    new_context: Callable[..., BrowserContext], api: httpx.Client, experiment: Callable[..., str], folder: Path
) -> None:
    album = Album(folder)
    page = new_context().new_page()
    experiment_id = experiment(short_runs)
    capacity = search(api, experiment_id)
    workers = {"name": "workers", "fields": ["/cluster/hosts/0/count"], "values": {"kind": "list", "of": [1, 2, 4]}}
    fields = rates(api.get(f"/api/experiments/{experiment_id}").json()["document"])
    load = {"name": "load", "fields": fields, "multiply": True, "values": {"kind": "linear", "from": 0.5, "to": 3, "count": 6}}
    name = "Latency grows with the load, later on more workers"
    sweep = started(api, experiment_id, name=name, axes=[workers, load], seeds=[1, 2, 3])
    best = optimised(api, experiment_id)
    for study in (sweep, capacity, best):
        assert until_ended(api, f"/api/studies/{study}", page)["state"] == "succeeded"
    page.goto("/studies")
    page.get_by_test_id(f"study-{sweep}").wait_for()
    album.take(page, "studies")
    for picture, path in (
        ("study", f"/studies/{sweep}?point=9"),
        ("study-heat", f"/studies/{sweep}?view=heat"),
        ("study-table", f"/studies/{sweep}?view=table"),
        ("study-search", f"/studies/{capacity}"),
        ("study-optimised", f"/studies/{best}"),
    ):
        page.goto(path)
        page.get_by_test_id("result-table" if picture == "study-table" else "plot").first.wait_for()
        album.take(page, picture)
    page.goto(f"/studies/new?study={sweep}")
    expect(page.get_by_test_id("study-size")).to_have_attribute("data-runs", "54")
    album.take(page, "study-new")
    page.get_by_test_id("add-axis").click()
    page.get_by_test_id("fields").wait_for()
    album.take(page, "study-fields")


@pytest.mark.deep
def test_pictures_of_trouble(
    new_context: Callable[..., BrowserContext], api: httpx.Client, experiment: Callable[..., str], folder: Path
) -> None:
    """Faults that are wanted, and what goes wrong without being asked for."""
    album = Album(folder)
    context = new_context()
    page = context.new_page()
    canvas = Canvas(page)
    canvas.open(experiment(faulty))
    page.get_by_role("tab", name="Faults").click()
    page.get_by_test_id("fault-0").locator(".what").click()
    album.take(page, "canvas-faults")
    canvas.open(experiment(full_of_problems))
    page.get_by_test_id("problems-button").click()
    page.get_by_test_id("problems").get_by_role("button", name="Show field").first.click()
    album.take(page, "canvas-problems")

    conflicting = experiment(slow_join)
    canvas.open(conflicting)
    stored = api.get(f"/api/experiments/{conflicting}").json()
    stored["document"]["workload"]["seed"] = 7
    stored["document"]["query"]["operators"][-1]["parallelism"] = 2
    api.put(f"/api/experiments/{conflicting}", json={"version": stored["version"], "document": stored["document"]}).raise_for_status()
    canvas.operator("join").click()
    page.keyboard.press("Control+d")
    expect(page.get_by_test_id("conflict")).to_be_visible()
    album.take(page, "canvas-conflict")
    page.get_by_role("button", name="Compare versions").click()
    page.get_by_role("dialog").wait_for()
    album.take(page, "canvas-conflict-compare")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="History", exact=True).click()
    page.get_by_test_id("versions").get_by_role("button").first.click()
    page.get_by_test_id("version").wait_for()
    album.take(page, "canvas-history")

    busy = start(api, experiment(make_long))  # the worker, so that the data set is gone before it comes to the next run
    file = {"file": ("trips.csv", "time,fare\n" + "".join(f"2024-01-01T00:00:{n:02d},{n}\n" for n in range(60)), "text/csv")}
    trips = api.post("/api/datasets", files=file, data={"name": "trips"}).raise_for_status().json()["id"]
    from_file = experiment(partial(from_a_file, dataset="trips"))
    failing = start(api, from_file)
    api.delete(f"/api/datasets/{trips}").raise_for_status()
    api.post(f"/api/runs/{busy}/cancel").raise_for_status()
    page.goto(f"/runs/{failing}")
    expect(page.get_by_test_id("run-error")).to_be_visible()
    album.take(page, "run-failed")
    canvas.open(from_file)
    page.get_by_test_id("run").click(force=True)
    expect(page.get_by_test_id("problems")).to_contain_text("trips")
    album.take(page, "canvas-data-gone")

    canvas.open(experiment(large_query))
    expect(page.get_by_test_id("problems-button")).to_have_text("Valid")
    album.take(page, "canvas-large")
    page.keyboard.press("Control+f")
    page.keyboard.type("filter-8-10")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    album.take(page, "canvas-large-near")

    canvas.open(experiment())
    page.wait_for_load_state("networkidle")
    context.clear_cookies()
    canvas.operator("filter").click()
    page.keyboard.press("Delete")
    expect(page.get_by_role("dialog", name="Your session has ended")).to_be_visible()
    album.take(page, "session-ended")


@pytest.mark.deep
def test_pictures_of_a_large_screen(
    new_context: Callable[..., BrowserContext], api: httpx.Client, experiment: Callable[..., str], tmp_path: Path
) -> None:
    """Only looked at by who asks for it; they are not kept."""
    album = Album(Path(os.environ.get("MILLRACE_LARGE_PICTURES") or tmp_path), "-1920")
    page = new_context(width=1920, height=1080).new_page()
    experiment_id = experiment(slow_join)
    run_id = start(api, experiment_id)
    page.goto(f"/experiments/{experiment_id}")
    page.get_by_test_id("operator-join").click()
    album.take(page, "canvas")
    page.goto(f"/runs/{run_id}")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")
    album.take(page, "run")
    page.goto("/runs")
    page.get_by_test_id("run-list").locator("table").wait_for()
    album.take(page, "runs")


def become(document: dict[str, Any], example: str) -> None:
    document.clear()
    document.update(yaml.safe_load((ROOT / "fixtures" / "experiments" / f"{example}.yaml").read_text()))


def under_ds2(document: dict[str, Any]) -> None:
    become(document, "autoscaling_map")
    document["policies"]["scaling"] = {"kind": "ds2"}


def with_a_loss(document: dict[str, Any]) -> None:
    become(document, "nexmark_q12")
    document["policies"]["checkpointing"] = {"kind": "uncoordinated", "interval_s": 3.0}
    document["faults"] = [{"kind": "host_loss", "host": "w2", "when": {"kind": "at", "at_s": 12.4}, "restart_after_s": 1.0}]


def under_klink(document: dict[str, Any]) -> None:
    """Eight queries on two cores, whose memory fills after half a minute."""
    become(document, "klink_ysb")
    document["query"]["queries"][0] |= {"copies": 8, "start_within_s": 5}
    document["query"]["operators"][4]["params"]["window"]["size_s"] = 5
    document["cluster"]["hosts"][0] |= {"cores": 2, "memory": {"kind": "klink_2020", "budget_mb": 60}}
    document["policies"] |= {"ingress": {"kind": "throttle", "memory_max": 1.0}}
    document["policies"]["scheduling"] |= {"memory_threshold": 0.8}
    document["workload"]["sources"]["events"]["rate"]["per_s"] = 5680


@pytest.mark.deep
def test_pictures_of_policies_at_work(
    new_context: Callable[..., BrowserContext], api: httpx.Client, experiment: Callable[..., str], folder: Path
) -> None:
    album = Album(folder)
    page = new_context().new_page()
    for name, change, shown, testid in (
        ("run-autoscaler", under_ds2, "panel=autoscaler&t=3000", "iteration"),
        ("run-recovery", with_a_loss, "panel=checkpoints&t=15", "checkpoint-list"),
        ("run-scheduler", under_klink, "panel=scheduler&t=36", "scheduled-watermarks"),
    ):
        run_id = start(api, experiment(change))
        page.goto(f"/runs/{run_id}")
        wait_until_ended(api, page, run_id)
        page.goto(f"/runs/{run_id}?{shown}")
        page.get_by_test_id(testid).wait_for()
        page.wait_for_load_state("networkidle")
        album.take(page, name)


@pytest.mark.deep
def test_pictures_of_figures(new_context: Callable[..., BrowserContext], api: httpx.Client, folder: Path) -> None:
    album = Album(folder)
    page = new_context().new_page()
    for figure in ("benchmark/3.5", "benchmark/3.7", "millrace/q1"):
        api.post(f"/api/figures/{figure}/reproductions", json={"scale": "smoke"}).raise_for_status()
        until_ended(api, f"/api/figures/{figure}/reproductions", page)
    for name, path in (
        ("figures", "/figures"),
        ("figure", "/figures/benchmark/3.7"),
        ("figure-reported", "/figures/benchmark/3.5"),
        ("figure-curve", "/figures/millrace/q1?point=0.0.4"),
        ("figure-table", "/figures/millrace/q1?view=table"),
        ("figure-not-run", "/figures/millrace/q12"),
    ):
        page.goto(path)
        page.get_by_test_id("figure-list" if name == "figures" else "assertions").wait_for()
        page.wait_for_load_state("networkidle")
        album.take(page, name)


@pytest.mark.deep
def test_pictures_of_the_lab(new_page: Callable[..., Page], experiment: Callable[..., str], folder: Path) -> None:
    album = Album(folder)
    page = new_page()
    experiment()
    for tab, opened in (("people", "Invite"), ("tokens", "Issue a token")):
        page.goto(f"/lab/{tab}")
        button = page.get_by_role("button", name=opened)
        button.wait_for()
        album.take(page, f"lab-{tab}")
        button.click()
        page.get_by_role("dialog").wait_for()
        album.take(page, f"lab-{tab}-new")
    for tab in ("storage", "audit"):
        page.goto(f"/lab/{tab}")
        page.get_by_role("table").first.wait_for()
        album.take(page, f"lab-{tab}")
