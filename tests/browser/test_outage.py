"""A run that is watched while the network, Redis, the web process, the session or the run itself goes away."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as parquet
import pytest
from playwright.sync_api import Page, expect

from .test_run import make_long, probe, start, until_made, wait_for
from .waiting import drawn, until

OWN_INSTALLATION = True

# A minute is what is promised; the suite has less time, and only waits until the run has gone on. MILLRACE_OFFLINE_S=60 tries it in full.
OFFLINE_S = float(os.environ.get("MILLRACE_OFFLINE_S", "0"))
MISSED = 40  # frames, at least
PERCENTILES = ("p50", "p95", "p99", "max")


def endless(document: dict[str, Any]) -> None:
    """Twenty frames a second at a pace of 1, for longer than any outage takes: the test ends it."""
    document["workload"]["horizon_s"] = 900.0
    document["measurement"]["frame_ms"] = 50


def from_a_file(document: dict[str, Any], dataset: str = "gone") -> None:
    """A source that reads an uploaded file, and a sink."""
    document["query"] = {
        "operators": [{"id": "rides", "kind": "source"}, {"id": "sink", "kind": "sink"}],
        "edges": [{"source": "rides", "target": "sink", "partitioning": {"kind": "forward"}}],
    }
    stream = {"kind": "file", "dataset": dataset, "timestamp": "time"}
    document["workload"]["sources"] = {"rides": {"stream": stream, "rate": {"kind": "recorded", "speed": 1.0}}}


def stored(folder: Path) -> list[dict[str, Any]]:
    """The frames of a run as its worker stored them."""
    tables = [parquet.read_table(path).to_pylist() for path in sorted((folder / "live").glob("part-*.parquet"))]
    return [json.loads(row["json"]) for rows in tables for row in rows]


@pytest.mark.own_context
def test_no_gap_and_no_double_point_after_an_outage(page: Page, api: httpx.Client, experiment: Callable[..., str], workbench: Any) -> None:
    """The browser is offline, Redis and the web process are restarted meanwhile: what is drawn is what was stored, sample by sample."""
    run_id = start(api, experiment(endless), pace=1.0)
    page.goto(f"/runs/{run_id}")
    wait_for(page, "framesReceived", 20)
    page.context.set_offline(True)
    before = probe(page)["framesReceived"]
    began_s = time.monotonic()
    for name in ("redis", "web"):
        service = next(service for service in workbench.services if service.name == name)
        service.ask_to_stop()
        service.stop(time.monotonic() + 5)
        service.start()
    workbench.wait_until_healthy(lambda: False)
    until_made(api, page, run_id, before + MISSED)
    until(lambda: time.monotonic() >= began_s + OFFLINE_S, "the outage is over", page, timeout_s=OFFLINE_S + 1)
    cut = probe(page)["framesReceived"]
    still_going = api.get(f"/api/runs/{run_id}").json()["state"]
    page.context.set_offline(False)
    wait_for(page, "framesReceived", cut + 2 * MISSED)
    api.post(f"/api/runs/{run_id}/cancel").raise_for_status()
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "cancelled")
    frames = stored(workbench.data / "runs" / run_id)
    wait_for(page, "framesReceived", len(frames))
    wait_for(page, "drawnFrame", len(frames) - 1)
    times, *lines = page.evaluate("window.__millrace.chart")
    print(f"offline {time.monotonic() - began_s:.1f} s with {before} frames, {cut} at its end, {still_going} then, {len(frames)} in all")
    assert still_going == "running"
    assert cut < len(frames)
    assert [frame["n"] for frame in frames] == list(range(len(frames)))
    assert times == [frame["t_s"] for frame in frames]
    for name, line in zip(PERCENTILES, lines, strict=True):
        assert line == [frame["latency_ms"][name] for frame in frames], name
    assert probe(page)["gaps"] == 0


def hide(page: Page, hidden: bool) -> None:
    """As if another tab were in front, or not any more."""
    page.evaluate(
        "hidden => { Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });"
        " document.dispatchEvent(new Event('visibilitychange')); }",
        hidden,
    )


@pytest.mark.own_context
def test_what_may_happen_while_a_run_is_watched(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    """Hidden and shown again, signed out and in again, another run cancelled before its first frame, and this one deleted."""
    run_id = start(api, experiment(make_long))
    page.goto(f"/runs/{run_id}")
    wait_for(page, "framesReceived", 8)
    hide(page, True)
    paused = probe(page)["framesReceived"]
    until_made(api, page, run_id, paused + 8)
    drawn(page)
    assert probe(page)["framesReceived"] == paused, "nothing comes while the page is hidden"
    hide(page, False)
    wait_for(page, "drawnFrame", paused + 4)

    cookies = page.context.cookies()
    page.context.clear_cookies()
    hide(page, True)
    hide(page, False)
    refused = page.get_by_test_id("refused")
    expect(refused).to_contain_text("no longer signed in")
    kept = probe(page)["framesReceived"]
    assert int(page.get_by_test_id("time-stack").get_attribute("data-points") or 0) == kept
    ended = page.get_by_role("dialog", name="Your session has ended")
    expect(ended).to_be_visible()  # the page has asked who is there, before somebody is again
    page.context.add_cookies(cookies)  # type: ignore[arg-type]
    ended.get_by_role("button", name="I am signed in now").click()
    expect(refused).to_have_count(0)
    wait_for(page, "framesReceived", kept + 4)
    assert probe(page)["gaps"] == 0

    waiting = start(api, experiment())
    api.post(f"/api/runs/{waiting}/cancel").raise_for_status()
    api.delete(f"/api/runs/{run_id}").raise_for_status()
    expect(refused).to_contain_text("was deleted")
    expect(page.get_by_test_id("rerun")).to_be_disabled()
    assert int(page.get_by_test_id("time-stack").get_attribute("data-points") or 0) >= kept
    page.goto(f"/runs/{waiting}")
    expect(page.get_by_text("The run was cancelled before its first frame")).to_be_visible()
    expect(page.get_by_role("link", name="Open experiment").first).to_be_visible()


@pytest.mark.deep
def test_runs_that_failed_or_are_of_another_engine(page: Page, api: httpx.Client, experiment: Callable[..., str], workbench: Any) -> None:
    old = start(api, experiment())
    page.goto(f"/runs/{old}")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")
    with sqlite3.connect(workbench.data / "millrace.sqlite3", timeout=20) as database:
        database.execute("update lab_run set engine_version = '0.1', digest = ? where id = ?", ("0" * 64, old.replace("-", "")))
    page.goto(f"/runs/{old}?panel=records")
    page.get_by_test_id("ask-slowest").click()
    expect(page.get_by_text("the repeated run has another digest")).to_be_visible()
    expect(page.get_by_role("button", name="Ask again")).to_be_visible()
    page.get_by_role("tab", name="Summary").click()
    expect(page.get_by_test_id("summary")).to_contain_text("Engine version0.1")

    busy = start(api, experiment(make_long))  # the worker, so that the file is gone before it comes to the next run
    file = {"file": ("gone.csv", "time,fare\n" + "".join(f"2024-01-01T00:00:{n:02d},{n}\n" for n in range(60)), "text/csv")}
    api.post("/api/datasets", files=file, data={"name": "gone"}).raise_for_status()
    failing = start(api, experiment(from_a_file))
    for path in (workbench.data / "datasets").glob("*/gone.parquet"):
        path.unlink()
    api.post(f"/api/runs/{busy}/cancel").raise_for_status()
    page.goto(f"/runs/{failing}")
    expect(page.get_by_test_id("run-error")).to_be_visible()
    expect(page.get_by_role("link", name="Change the experiment")).to_be_visible()
