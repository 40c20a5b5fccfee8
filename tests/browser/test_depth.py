"""What an experiment can say beyond the plain query: cycles, faults, rates of every kind, further latencies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
from playwright.sync_api import Page, expect

from .canvas import Canvas

Store = Callable[..., str]


def stored(api: httpx.Client, experiment_id: str) -> dict[str, Any]:
    document: dict[str, Any] = api.get(f"/api/experiments/{experiment_id}").json()["document"]
    return document


def two_filters(document: dict[str, Any]) -> None:
    """persons -> first -> second -> sink, all records alike."""
    predicate = {"predicate": "id > 0"}
    document["query"] = {
        "operators": [
            {"id": "persons", "kind": "source", "parallelism": 2},
            {"id": "first", "kind": "filter", "parallelism": 2, "params": predicate},
            {"id": "second", "kind": "filter", "parallelism": 2, "params": predicate},
            {"id": "sink", "kind": "sink", "parallelism": 2},
        ],
        "edges": [
            {"source": "persons", "target": "first", "partitioning": {"kind": "forward"}},
            {"source": "first", "target": "second", "partitioning": {"kind": "forward"}},
            {"source": "second", "target": "sink", "partitioning": {"kind": "forward"}},
        ],
    }
    document["workload"]["sources"].pop("auctions")
    document["ui"] = {"positions": {id: {"x": 192 * n, "y": 64} for n, id in enumerate(("persons", "first", "second", "sink"))}}


def test_what_closes_a_cycle_becomes_a_feedback_edge(canvas: Canvas, page: Page, experiment: Store, api: httpx.Client) -> None:
    """Said while dragging; drawn back above; switched in the panel; the problem of an edge leads to the switch."""
    experiment_id = experiment(two_filters)
    canvas.open(experiment_id)
    start, end = page.get_by_test_id("port-second-out-out"), page.get_by_test_id("port-first-in-in")
    start.hover()
    page.mouse.down()
    end.hover()
    expect(page.get_by_test_id("connection-hint")).to_contain_text("Feedback edge: it closes a cycle")
    page.mouse.up()
    label = page.get_by_test_id("edge-second-first")
    expect(label).to_contain_text("feedback, forward")
    above, operator = label.bounding_box(), canvas.operator("first").bounding_box()
    assert above is not None
    assert operator is not None
    assert above["y"] + above["height"] < operator["y"]
    expect(page.get_by_test_id("problems-button")).to_have_text("Valid")
    canvas.wait_until_saved()
    assert stored(api, experiment_id)["query"]["edges"][-1]["feedback"] is True

    label.click()
    page.get_by_role("checkbox", name="Feedback").uncheck()
    expect(page.get_by_test_id("inspector")).to_contain_text("mark the one that leads back with feedback: true")
    page.keyboard.press("Control+z")
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 300})
    page.keyboard.press("Control+z")
    expect(label).to_contain_text("feedback")
