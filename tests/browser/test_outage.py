"""A run that is watched while the network, Redis, the web process, the session or the run itself goes away."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as parquet
from playwright.sync_api import Page, expect

from .test_run import probe, start, wait_for

# A minute is what is promised; the suite has less time. MILLRACE_OFFLINE_S=60 tries it in full.
OFFLINE_S = float(os.environ.get("MILLRACE_OFFLINE_S", "2"))
PERCENTILES = ("p50", "p95", "p99", "max")


def outlasting(outage_s: float) -> Callable[[dict[str, Any]], None]:
    """A run that still goes on when such an outage is over, by its many frames."""

    def change(document: dict[str, Any]) -> None:
        horizon_s = 120.0
        document["workload"].update(horizon_s=horizon_s)
        for source in document["workload"]["sources"].values():
            source["rate"] = {"kind": "constant", "per_s": 4000 if outage_s < 10 else 60_000}
        document["measurement"]["frame_ms"] = 50 if outage_s < 10 else 20

    return change


def stored(folder: Path) -> list[dict[str, Any]]:
    """The frames of a run as its worker stored them."""
    tables = [parquet.read_table(path).to_pylist() for path in sorted((folder / "live").glob("part-*.parquet"))]
    return [json.loads(row["json"]) for rows in tables for row in rows]


def test_no_gap_and_no_double_point_after_an_outage(page: Page, api: httpx.Client, experiment: Callable[..., str], workbench: Any) -> None:
    """The browser is offline, Redis and the web process are restarted meanwhile: what is drawn is what was stored, sample by sample."""
    run_id = start(api, experiment(outlasting(OFFLINE_S)))
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
    page.wait_for_timeout(max(0.0, OFFLINE_S - (time.monotonic() - began_s)) * 1000)
    cut = probe(page)["framesReceived"]
    still_going = api.get(f"/api/runs/{run_id}").json()["state"]
    page.context.set_offline(False)
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded", timeout=300_000)
    frames = stored(workbench.data / "runs" / run_id)
    wait_for(page, "framesReceived", len(frames))
    wait_for(page, "drawnFrame", len(frames) - 1)
    times, *lines = page.evaluate("window.__millrace.chart")
    print(f"offline {time.monotonic() - began_s:.1f} s with {before} frames, {cut} at its end, {still_going} then, {len(frames)} in all")
    assert still_going == "running", "the run ended during the outage; make it longer"
    assert cut < len(frames)
    assert [frame["n"] for frame in frames] == list(range(len(frames)))
    assert times == [frame["t_s"] for frame in frames]
    for name, line in zip(PERCENTILES, lines, strict=True):
        assert line == [frame["latency_ms"][name] for frame in frames], name
    assert probe(page)["gaps"] == 0
