"""What an experiment can say beyond the plain query: cycles, faults, rates of every kind, further latencies."""

from __future__ import annotations

import re
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
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 300})
    page.get_by_test_id("problems-button").click()
    page.get_by_test_id("problems").get_by_role("button", name="Show field").first.click()
    expect(page.get_by_role("checkbox", name="Feedback")).to_be_focused()
    page.get_by_role("checkbox", name="Feedback").check()
    expect(label).to_contain_text("feedback")


def test_the_preview_draws_rates_of_every_kind(canvas: Canvas, page: Page, experiment: Store) -> None:
    """Spikes are drawn as the server has them; what is broken leads to its field; a failed answer can be asked for again."""

    def spikes(document: dict[str, Any]) -> None:
        two_filters(document)
        document["workload"]["sources"]["persons"]["rate"] = {"kind": "spikes", "base_per_s": 1000, "peak_per_s": 5000}

    canvas.open(experiment(spikes))
    chart, message = page.get_by_test_id("preview"), page.get_by_test_id("preview-message")
    expect(chart).to_have_attribute("aria-label", "Offered rate over 30 seconds, 1,400 records per second on average")
    canvas.operator("persons").click()
    duration = page.locator("[data-pointer='/workload/sources/persons/rate/duration_s'] input")
    duration.fill("20")
    expect(message).to_contain_text("Duration is 20")
    message.get_by_role("button", name="Show field").click()
    expect(duration).to_be_focused()
    duration.fill("2")
    expect(chart).to_have_attribute("aria-label", re.compile("1,800 records"))

    page.route("**/api/preview", lambda route: route.abort())
    duration.fill("3")
    expect(message).to_contain_text("The server cannot be reached")
    page.unroute("**/api/preview")
    message.get_by_role("button", name="Try again").click()
    expect(chart).to_have_attribute("aria-label", re.compile("2,200 records"))


def test_faults_on_the_line_of_time(canvas: Canvas, page: Page, experiment: Store, api: httpx.Client) -> None:
    """From nothing to a pause that is dragged, stretched by keys, taken back step by step, duplicated, and led to by its problem."""
    experiment_id = experiment()
    canvas.open(experiment_id)
    page.get_by_role("tab", name="Faults").click()
    empty = page.get_by_test_id("no-faults")
    expect(empty).to_contain_text("No faults in this run")
    empty.get_by_role("button", name="Pause").click()
    row, bar = page.get_by_test_id("fault-0"), page.get_by_test_id("fault-0-bar")
    expect(row).to_contain_text("12 s to 15 s")
    expect(page.get_by_test_id("inspector")).to_contain_text("The host stalls")

    box, track = bar.bounding_box(), row.locator(".track").bounding_box()
    assert box is not None
    assert track is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 20, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 20 + track["width"] / 8, middle, steps=5)
    page.mouse.move(box["x"] + 20 + track["width"] / 6, middle, steps=5)
    page.mouse.up()
    expect(row).to_contain_text("17 s to 20 s")
    page.get_by_test_id("fault-0-end").press("Shift+ArrowRight")
    expect(row).to_contain_text("17 s to 21 s")
    expect(page.locator("[data-pointer='/faults/0/for_ms'] input")).to_have_value("4000")
    for words in ("17 s to 20 s", "12 s to 15 s"):
        page.keyboard.press("Control+z")
        expect(row).to_contain_text(words)
    page.keyboard.press("Control+Shift+z")
    expect(row).to_contain_text("17 s to 20 s")

    page.keyboard.press("Control+d")
    expect(page.get_by_test_id("fault-1")).to_be_visible()
    page.get_by_label("Fault", exact=True).select_option(label="Network partition")
    expect(page.get_by_test_id("fault-1")).to_contain_text("w1 ↔ all others")
    start = page.locator("[data-pointer='/faults/1/from_s'] input")
    start.fill("99")
    page.get_by_test_id("fault-0").locator(".what").click()
    page.get_by_role("tab", name="Problems").click()
    page.get_by_test_id("problems").get_by_role("button", name="Show field").first.click()
    expect(page.get_by_test_id("fault-1")).to_have_class(re.compile("selected err"))
    expect(page.locator("[data-pointer^='/faults/1/'] input:focus")).to_have_count(1)  # it gets the focus a frame later
    page.get_by_test_id("fault-1").locator(".what").press("Delete")
    expect(page.get_by_test_id("fault-1")).to_have_count(0)
    expect(page.get_by_test_id("problems-button")).to_have_text("Valid")
    canvas.wait_until_saved()
    pause = {"kind": "pause", "host": "w1", "when": {"kind": "at", "at_s": 17}, "for_ms": 3000}
    assert stored(api, experiment_id)["faults"] == [pause]


def test_further_latencies_host_memory_and_ingress(canvas: Canvas, page: Page, experiment: Store, api: httpx.Client) -> None:
    """Two more latencies with names of their own; a host that counts its memory, and sources that are held back by it."""
    experiment_id = experiment()
    canvas.open(experiment_id)
    page.get_by_role("tab", name="Measure").click()
    add = page.get_by_role("button", name="Add latency")
    add.click()
    add.click()
    second = page.get_by_test_id("latency-1")
    second.get_by_label("Name").fill("latency_2")
    expect(second).to_contain_text("is used twice")
    second.get_by_label("Name").fill("lag")
    second.get_by_label("From").select_option(label="deadline")
    expect(second).to_contain_text("the record's own event time to output")
    expect(second.get_by_label("Anchor")).to_have_count(0)
    page.get_by_role("button", name="Remove latency_2").click()
    expect(page.get_by_test_id("latency-0")).to_contain_text("the record's own event time")

    page.get_by_test_id("host-w1").click()
    page.get_by_label("Memory model").select_option(label="Budget")
    page.get_by_role("tab", name="Policies").click()
    page.get_by_label("Ingress", exact=True).select_option(label="Throttle")
    expect(page.get_by_test_id("inspector")).to_contain_text("ingress has no limit")
    page.locator("[data-pointer='/policies/ingress/memory_max'] input").fill("0.8")
    expect(page.get_by_test_id("problems-button")).to_have_text("Valid")
    canvas.wait_until_saved()
    document = stored(api, experiment_id)
    assert document["measurement"]["also"] == [{"name": "lag", "from": "deadline", "anchor": "newest", "to": "sink"}]
    assert document["cluster"]["hosts"][0]["memory"]["kind"] == "budget"
    assert document["policies"]["ingress"] == {"kind": "throttle", "resume": 1, "memory_max": 0.8}


def two_regions(document: dict[str, Any]) -> None:
    host = document["cluster"]["hosts"][0]
    document["cluster"]["hosts"] = [host | {"count": 2}, host | {"name": "slow", "count": 2, "speed": 0.25, "group": "virginia"}]


def test_two_regions_are_linked_on_the_canvas(canvas: Canvas, page: Page, experiment: Store, api: httpx.Client) -> None:
    """One link for all their hosts, drawn with what it gives; it follows the new name of a region."""
    experiment_id = experiment(two_regions)
    canvas.open(experiment_id)
    expect(page.get_by_test_id("host-slow1")).to_contain_text("1 core 0.25x")
    page.get_by_role("button", name="Link regions").click()
    latency = page.locator("[data-pointer='/cluster/region_links/0/latency_ms'] input")
    expect(latency).to_be_focused()
    latency.fill("40")
    page.locator("[data-pointer='/cluster/region_links/0/mbit_per_s'] input").fill("1000")
    label = page.get_by_test_id("region-link-0")
    expect(label).to_have_text("40 ms, 1 Gbit/s")
    expect(page.get_by_role("button", name="Link regions")).to_be_disabled()

    page.get_by_test_id("host-w1").click()
    region = page.locator("[data-pointer='/cluster/hosts/0/group'] input")
    region.fill("frankfurt")
    region.press("Enter")
    label.click()
    expect(page.locator("[data-pointer='/cluster/region_links/0/source'] select")).to_have_value("frankfurt")
    expect(page.get_by_test_id("problems-button")).to_have_text("Valid")
    canvas.wait_until_saved()
    assert stored(api, experiment_id)["cluster"]["region_links"] == [
        {"source": "frankfurt", "target": "virginia", "latency_ms": 40, "mbit_per_s": 1000}
    ]
