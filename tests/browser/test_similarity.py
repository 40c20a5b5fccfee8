"""Somebody looks for near-duplicates in vectors of their own: uploads them, draws the join at once, runs it, watches worksets move, and
asks where a record goes."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from playwright.sync_api import Page, expect

from .axe import assert_accessible
from .canvas import Canvas
from .waiting import wait_until_ended

SECONDS = 45
PER_S = 100


def embeddings(path: Path) -> None:
    """Vectors of two coordinates, most of them near few directions, with the time at which each came."""
    random = np.random.default_rng(7)
    count = SECONDS * PER_S
    turns = np.where(
        random.random(count) < 0.6, random.choice([0.1, 0.22, 0.3], count) + random.normal(0, 0.02, count), random.uniform(-1, 1, count)
    )
    vectors = np.stack([np.cos(np.pi * turns), np.sin(np.pi * turns)], axis=1)
    times = np.datetime64("2026-01-01T00:00:00", "us") + (np.arange(count) * 1_000_000 // PER_S).astype("timedelta64[us]")
    parquet.write_table(pa.table({"time": times, "id": np.arange(count), "embedding": list(vectors)}), path)


@pytest.mark.deep
@pytest.mark.slow
def test_near_duplicates_of_an_uploaded_set(canvas: Canvas, page: Page, api: httpx.Client, tmp_path: Path) -> None:
    file = tmp_path / "embeddings.parquet"
    embeddings(file)
    page.goto("/datasets")
    page.get_by_test_id("upload-dataset").click()
    page.get_by_test_id("upload-file").set_input_files(file)
    page.get_by_role("dialog").get_by_role("button", name="Done").click()

    canvas.new()
    page.get_by_role("button", name=re.compile("^embeddings")).first.dblclick()
    expect(canvas.operator("embeddings")).to_be_visible()
    canvas.wait_until_saved()
    page.get_by_test_id("palette-similarity-self-join").dblclick()
    expect(page.get_by_test_id("edge-embeddings-spaces")).to_be_attached()
    inspector = page.get_by_test_id("inspector")
    expect(inspector.get_by_test_id("in-step")).to_contain_text("spaces, worksets, join")
    page.get_by_test_id("palette-operator-sink").dblclick()
    page.get_by_label("Fit", exact=True).click()
    canvas.wait_until_still()
    canvas.connect("join", "sink")
    canvas.operator("join").click()
    inspector.get_by_role("textbox", name="Target selectivity").fill("2")
    inspector.get_by_test_id("set-threshold").click()
    expect(inspector.get_by_role("status")).to_contain_text(re.compile(r"At 0\.0\d+, 2 % of .* pairs match: records of \w+"))
    inspector.get_by_label(re.compile("^Threshold")).fill("0.004")
    page.get_by_role("tab", name="Policies").click()
    inspector.get_by_role("button", name="Balancing None").click()
    inspector.get_by_label("Balancing", exact=True).select_option("s3j")
    inspector.get_by_label("Mechanism").select_option("online")
    inspector.get_by_label(re.compile("^Every")).fill("4")
    expect(page.get_by_test_id("problems-button")).to_have_text("Valid")
    canvas.wait_until_saved()
    canvas.run()
    run_id = page.url.rsplit("/", 1)[-1].split("?")[0]
    wait_until_ended(api, page, run_id)

    page.get_by_role("tab", name="Balancing").click()
    moves = page.get_by_test_id("moves").locator("tbody tr")
    expect(moves.first).to_be_visible()
    expect(page.get_by_test_id("balancing")).to_contain_text("of records moved")
    page.get_by_role("tab", name="Space").click()
    space = page.get_by_test_id("spaces")
    expect(space.get_by_test_id("selectivity")).to_contain_text(re.compile(r"about [\d.]+ % of pairs match"))
    space.get_by_role("button", name="Check all pairs").click()
    expect(space.get_by_test_id("exactness")).to_have_text(re.compile(r"^Exact: [\d,.kM]+ pairs"))
    route = space.get_by_test_id("record-route")
    route.get_by_label(re.compile("A record in direction")).fill("18")
    expect(route).to_contain_text("nearest centroid")
    expect(route).to_contain_text(re.compile(r"Workset \d+\.\d+ on worker \d+, (inner|outlier)|New workset"))
    assert space.locator("path.stop").count() >= 1
    assert_accessible(page)
    circle = space.locator("svg.circle").bounding_box()
    assert circle is not None
    page.mouse.click(circle["x"] + circle["width"] / 2, circle["y"] + 8)
    expect(route.get_by_label(re.compile("A record in direction"))).to_have_value(re.compile(r"^9[01]|^89"))
    route.get_by_role("button", name="Clear").click()
    expect(space.locator("path.stop")).to_have_count(0)
    expect(space.get_by_test_id("space-stages").locator("tbody tr")).to_have_count(3)
    stored = space.get_by_test_id("stored-record")
    space.locator("circle.record").last.click()  # drawn last, so no other record lies over it
    expect(stored).to_contain_text(re.compile(r"At home in workset \d+\.\d+ on worker \d+"))
    expect(stored).to_contain_text(re.compile(r"Compared with [\d,.kM]+ records? there"))
    assert space.locator("path.stop").count() >= 1
    stored.get_by_role("button", name="Clear").click()
    stored.get_by_label(re.compile("Stored record")).select_option(index=2)
    expect(space.locator("circle.opened")).to_have_count(1)
    stored.get_by_role("button", name="Clear").click()
    expect(space.locator("path.stop")).to_have_count(0)

    page.get_by_role("slider", name="Moment shown").press("Home")
    for _ in range(3):
        page.get_by_role("button", name="One frame forward").click()
    by_hand = space.get_by_role("form", name="Move worksets by hand")
    by_hand.get_by_label("Workset").fill("0.999999")
    expect(by_hand.get_by_test_id("move-workset")).to_be_disabled()
    by_hand.get_by_label("Workset").fill("0.1")
    by_hand.get_by_label("to worker").select_option("3")
    by_hand.get_by_test_id("move-workset").click()
    expect(page).not_to_have_url(re.compile(run_id))
    fork_id = page.url.rsplit("/", 1)[-1].split("?")[0]
    wait_until_ended(api, page, fork_id)
    ordered = api.get(f"/api/runs/{fork_id}").json()["summary"]["balancing"]["actions"][0]
    assert [move[:4] for move in ordered["moves"]] == [[0, 1, 0, 3]]

    summary = api.get(f"/api/runs/{run_id}").json()["summary"]
    assert summary["operators"]["join"]["out"] > 1000
    assert summary["balancing"]["hand_overs"][0]["bytes"] > 0
