"""Somebody asks where the operators of a query should run, looks at a candidate, applies it, takes it back, and changes the query."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from playwright.sync_api import Page, expect

from .axe import assert_accessible
from .canvas import Canvas
from .waiting import until

EXAMPLE = Path(__file__).parents[2] / "fixtures" / "experiments" / "edge_to_cloud.yaml"


def edge_to_cloud(document: dict[str, Any]) -> None:
    document.clear()
    document.update(yaml.safe_load(EXAMPLE.read_text()))


def stored_placement(api: httpx.Client, id: str) -> dict[str, Any]:
    placement: dict[str, Any] = api.get(f"/api/experiments/{id}").json()["document"]["placement"]
    return placement


@pytest.mark.slow
def test_a_placement_is_suggested_applied_and_taken_back(
    canvas: Canvas, page: Page, api: httpx.Client, experiment: Callable[..., str], workbench: Any
) -> None:
    id = experiment(edge_to_cloud)
    canvas.open(id)
    suggest = page.get_by_test_id("suggest")
    expect(suggest).to_be_disabled()
    expect(suggest).to_have_attribute("title", re.compile("the process that gives advice is not running; it starts with scripts/up"))
    workbench.start("advice")
    expect(suggest).to_be_enabled()
    suggest.click()
    panel = page.get_by_test_id("advice")
    rows = panel.get_by_test_id("advice-candidates").locator("tbody tr")
    expect(rows.nth(5)).to_be_visible()
    expect(panel.get_by_test_id("advice-about")).to_contain_text("4,000 traces of a modelled cluster. Nothing was run.")
    present = rows.filter(has_text="present")
    expect(present).to_have_count(1)
    expect(panel.get_by_test_id("advice-reasons-why").get_by_role("listitem").first).to_contain_text("in place of")
    assert_accessible(page)

    rows.first.hover()
    expect(page.get_by_test_id("placement-preview")).to_be_visible()
    rows.first.get_by_role("button").click()
    expect(rows.first).to_have_attribute("data-in-place", "true")
    drawn = yaml.safe_load(EXAMPLE.read_text())["placement"]
    applied = until(lambda: (now := stored_placement(api, id)) != drawn and now, "the placement to be saved", page)
    assert applied["kind"] == "explicit"
    assert applied["hosts"].keys() == drawn["hosts"].keys()
    page.keyboard.press("Control+z")
    expect(present).to_have_attribute("data-in-place", "true")

    panel.get_by_role("radio", name="Throughput").check(force=True)
    expect(panel.get_by_role("columnheader", name="Throughput")).to_be_visible()
    page.keyboard.press("s")
    expect(panel).to_have_count(0)


@pytest.mark.deep
@pytest.mark.slow
def test_suggested_placements_are_measured_and_compared(
    canvas: Canvas, page: Page, api: httpx.Client, experiment: Callable[..., str], workbench: Any
) -> None:
    """The ticked candidates run as a study, which says what was predicted of each and what came true."""

    def short(document: dict[str, Any]) -> None:
        edge_to_cloud(document)
        document["workload"] |= {"horizon_s": 4, "warmup_s": 1}

    canvas.open(experiment(short))
    workbench.start("advice")
    suggest = page.get_by_test_id("suggest")
    expect(suggest).to_be_enabled()
    suggest.click()
    panel = page.get_by_test_id("advice")
    measure = panel.get_by_test_id("measure")
    expect(measure).to_have_text("Measure 5 placements")
    for place in (3, 4):
        panel.get_by_test_id(f"candidate-{place}").get_by_role("checkbox").uncheck()
    expect(measure).to_have_text("Measure 3 placements")
    measure.click()
    predicted = page.get_by_test_id("predicted")
    expect(predicted.get_by_role("table")).to_have_count(3)
    latency = predicted.get_by_role("table").first
    expect(latency.locator("caption")).to_contain_text("Processing latency, off by")
    expect(latency.locator("tbody tr")).to_have_count(3)
    expect(latency.locator("tbody tr").filter(has_text="present")).to_have_count(1)
    expect(predicted.get_by_text("not yet")).to_have_count(0)
    assert_accessible(page)
    id = page.url.partition("/studies/")[2].partition("?")[0]
    study = api.get(f"/api/studies/{id}").json()
    assert study["predictions"]["models"] == "dev"
    assert len(study["predictions"]["points"]) == 3
