"""Somebody watches the worksets of a similarity join: where they lie, whose they are, and which worker has most to compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from engine.spec.experiment.document import read_document

from ..support.agreement import EXPERIMENTS
from .axe import assert_accessible
from .test_run import start
from .waiting import wait_until_ended


def joined(document: dict[str, Any]) -> None:
    """The example, with fewer records."""
    document.clear()
    document.update(read_document(EXPERIMENTS / "similarity_join.yaml"))
    document["workload"]["horizon_s"] = 21
    for source in document["workload"]["sources"].values():
        source["rate"]["per_s"] = 200


@pytest.mark.slow
def test_worksets_are_shown_with_their_owners(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    run_id = start(api, experiment(joined))
    page.goto(f"/runs/{run_id}")
    wait_until_ended(api, page, run_id)
    page.get_by_role("tab", name="Space").click()
    space = page.get_by_test_id("spaces")
    workers = space.get_by_test_id("space-workers").locator("tbody tr")
    expect(workers).to_have_count(5)
    expect(space.get_by_role("columnheader", name="p99, ms")).to_be_visible()
    lines = space.locator("path.workset")
    found = lines.count()
    assert found > 200
    expect(space).to_contain_text(f"{found} worksets")
    assert_accessible(page)

    page.get_by_role("slider", name="Moment shown").press("Home")
    page.get_by_role("button", name="One frame forward").click()
    page.get_by_role("button", name="One frame forward").click()
    first = workers.nth(2).locator("td").nth(1).inner_text()  # the smallest space, before anything has moved
    page.get_by_role("slider", name="Moment shown").press("End")
    expect(workers.nth(2).locator("td").nth(1)).not_to_have_text(first)
    assert int(workers.nth(2).locator("td").nth(1).inner_text()) > int(first)
    page.get_by_role("tab", name="Balancing").click()
    expect(page.get_by_test_id("worker-loads").locator("tbody tr")).to_have_count(5)
