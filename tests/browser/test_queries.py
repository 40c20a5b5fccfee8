"""Somebody names a query on the canvas, runs it in copies, and sees how each of them fares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
from playwright.sync_api import Page, expect

from .axe import assert_accessible
from .canvas import Canvas
from .test_studies import short_runs


def test_a_query_is_named_run_in_copies_and_measured(canvas: Canvas, page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    def narrow(document: dict[str, Any]) -> None:
        short_runs(document)
        for operator in document["query"]["operators"]:
            operator["parallelism"] = 1

    id = experiment(narrow)
    canvas.open(id)
    operators = [operator["id"] for operator in api.get(f"/api/experiments/{id}").json()["document"]["query"]["operators"]]
    page.keyboard.press("ControlOrMeta+a")
    page.get_by_role("button", name="Name as query").click()
    form = page.get_by_test_id("query-0")
    form.get_by_label("Name").fill("Joins")
    expect(form.get_by_text("Lower-case letters")).not_to_have_count(0)
    form.get_by_label("Name").fill("joins")
    form.get_by_label("Copies").fill("3")
    form.get_by_label("Start within").fill("1")
    expect(canvas.operator(operators[0])).to_contain_text("3×")
    assert_accessible(page)
    canvas.operator(operators[-1]).click()
    page.get_by_role("button", name="Query joins, 3 copies").click()
    page.get_by_label("Query of the operator").select_option("-1")
    expect(canvas.operator(operators[-1])).not_to_contain_text("3×")
    page.keyboard.press("ControlOrMeta+z")
    expect(canvas.operator(operators[-1])).to_contain_text("3×")

    run = page.get_by_test_id("run")
    expect(run).to_have_attribute("aria-disabled", "false")
    run.click()
    page.wait_for_url("**/runs/*")
    page.get_by_role("tab", name="Queries").click()
    copies = page.get_by_test_id("copies").locator("tbody tr")
    expect(copies).to_have_count(3)
    expect(copies.nth(2)).to_contain_text("joins-3")
    expect(page.get_by_test_id("query-joins")).to_contain_text("joins, 3 copies")
    page.get_by_role("button", name="Mean latency").click()
    expect(page.get_by_role("columnheader", name="Mean latency")).to_have_attribute("aria-sort", "descending")
    assert_accessible(page)
    expect(page.get_by_role("tab", name="Summary")).to_be_visible()  # it has ended

    page.goto("/runs?search=queries.joins.slowest_copy_ms>0")
    expect(page.get_by_test_id("run-list").locator("tbody tr")).to_have_count(1)
