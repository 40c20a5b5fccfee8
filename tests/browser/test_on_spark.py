"""A run's query on a real Spark, in the browser: refused at the field, live over a reload and a dead JVM, stopped, resumed, compared."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from ..support.calibrated import MACHINE
from .axe import assert_accessible
from .waiting import until, until_ended

OWN_INSTALLATION = True


def started(api: httpx.Client, experiment_id: str) -> str:
    answer = api.post(f"/api/experiments/{experiment_id}/runs", json={})
    assert answer.status_code == 201, answer.text
    id = str(answer.json()["id"])
    until_ended(api, f"/api/runs/{id}")
    return id


def short(document: dict[str, Any]) -> None:
    document["workload"] |= {"horizon_s": 4.0, "warmup_s": 0.0}
    for source in document["workload"]["sources"].values():
        source["rate"] = {"kind": "constant", "per_s": 1000}


def test_reasons_why_not_are_told_with_their_fields(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    def with_rounds(document: dict[str, Any]) -> None:
        short(document)
        document["policies"]["checkpointing"] = {"kind": "coordinated", "interval_s": 1}

    page.goto(f"/runs/{started(api, experiment(with_rounds))}?panel=spark")
    page.get_by_role("button", name="Execute on Spark").click()
    expect(page.get_by_test_id("spark-refused")).to_contain_text("/policies/checkpointing Spark has a checkpointing protocol of its own")
    assert_accessible(page)


def test_a_calibration_is_asked_for_and_shown(page: Page, api: httpx.Client, experiment: Callable[..., str], workbench: Any) -> None:
    page.goto(f"/runs/{started(api, experiment(short))}?panel=spark")
    page.get_by_role("button", name="Calibration").click()
    dialog = page.get_by_role("dialog", name="Calibration of this machine")
    expect(dialog).to_contain_text("This machine is not calibrated yet.")
    dialog.get_by_role("button", name="Calibrate", exact=True).click()
    expect(dialog).to_contain_text("Waiting for the analysis worker")
    expect(dialog.get_by_role("button", name="Calibrate", exact=True)).to_be_disabled()
    dialog.get_by_role("button", name="Cancel", exact=True).click()
    expect(dialog.get_by_role("button", name="Calibrate", exact=True)).to_be_enabled()
    MACHINE.write(workbench.data / "calibration.json")
    page.reload()
    page.get_by_role("button", name="Calibration").click()
    expect(dialog).to_contain_text("2 cores; Spark 4.3.0; calibrated on 2026-12-02.")
    expect(dialog.get_by_role("row", name="Planning, each source 100.0 ms")).to_be_visible()
    assert_accessible(page)


@pytest.mark.spark
@pytest.mark.deep
def test_micro_batches_are_live_and_go_on_whatever_dies(
    page: Page, api: httpx.Client, experiment: Callable[..., str], workbench: Any
) -> None:
    run = started(api, experiment(short))
    MACHINE.write(workbench.data / "calibration.json")
    page.goto(f"/runs/{run}?panel=spark")
    page.get_by_label("Micro-batches").select_option("50")
    page.get_by_role("button", name="Execute on Spark").click()
    expect(page.get_by_text("Waiting for the analysis worker")).to_be_visible()
    expect(page.get_by_role("button", name="Execute on Spark")).to_be_disabled()
    workbench.start("analysis")
    rows = page.get_by_test_id("micro-batches").locator("tbody tr")
    rows.nth(2).wait_for()
    page.reload()
    rows.nth(2).wait_for()
    os.kill(java_of(workbench.data), signal.SIGKILL)
    known = rows.count()
    until(lambda: rows.count() >= known + 2, lambda: f"Spark goes on behind {known} micro-batches", page)
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_test_id("spark-verdict")).to_contain_text("Equal: the model and Spark deliver the same")
    speed = page.get_by_test_id("spark-prediction")
    expect(speed.get_by_role("row", name="Throughput")).to_contain_text("than measured")
    expect(speed).to_contain_text("The calibration is of another machine: 2 cores; this one is")
    numbers = [int(number) for number in page.get_by_test_id("micro-batches").locator("tbody td:first-child").all_inner_texts()]
    assert numbers[::-1] == list(range(len(numbers)))
    assert len(numbers) >= 48, "Spark may put two files into the micro-batch after a stop"
    assert_accessible(page)


def java_of(data: Path) -> int:
    """The JVM of the installation with this data."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"SparkSubmit" in (process / "cmdline").read_bytes() and str(data).encode() in (process / "environ").read_bytes():
                return int(process.name)
        except OSError:
            continue
    raise AssertionError("Java does not run")
