"""Drawing, placing, saving, and being told what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.support.tiers import only

from .canvas import Canvas

FILTER_FIELD = "#form-query-operators-2-params_predicate"


def test_draw_connect_place_and_run(canvas: Canvas, page: Page) -> None:
    """Three operators from the palette on an empty canvas, two edges, one placement by hand, and a run that succeeds."""
    canvas.new()
    canvas.drag_from_palette("stream-nexmark_person", 110, 90)
    canvas.drag_from_palette("operator-filter", 320, 90)
    canvas.drag_from_palette("operator-sink", 540, 90)
    canvas.connect("persons", "filter")
    canvas.connect("filter", "sink")
    canvas.place("sink", "w2")
    expect(canvas.operator("sink").locator("footer")).to_have_text("w2")
    expect(canvas.operator("filter").locator("footer")).to_have_text("w1–w4")
    expect(page.get_by_test_id("problems-button")).to_have_text("Valid")
    canvas.run()
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")
    expect(page.get_by_test_id("time-stack")).to_have_attribute("data-points", "120")
    expect(page.get_by_test_id("summary")).to_contain_text("Records in")


def test_a_problem_stands_at_its_node_and_leads_to_its_field(canvas: Canvas, page: Page, experiment: Callable[..., str]) -> None:
    def misspell(document: dict[str, Any]) -> None:
        next(one for one in document["query"]["operators"] if one["id"] == "filter")["params"]["predicate"] = "stat == 'OR'"

    canvas.open(experiment(misspell))
    expect(canvas.operator("filter")).to_have_attribute("data-problems", re.compile("[1-9]"))
    expect(canvas.operator("persons")).to_have_attribute("data-problems", "0")
    run = page.get_by_test_id("run")
    expect(run).to_have_attribute("aria-disabled", "true")
    expect(run).to_have_attribute("title", re.compile("stat"))
    run.click(force=True)  # it is marked as disabled, and still leads to the first problem
    expect(page.locator(FILTER_FIELD)).to_be_focused()
    expect(page.get_by_test_id("inspector")).to_contain_text("did you mean 'state'?")
    page.locator(FILTER_FIELD).fill("state == 'OR'")
    expect(canvas.operator("filter")).to_have_attribute("data-problems", "0")
    expect(run).to_have_attribute("aria-disabled", "false")


def test_refused_connections_say_why(canvas: Canvas, page: Page, experiment: Callable[..., str]) -> None:
    canvas.open(experiment())
    canvas.drag(page.get_by_test_id("port-join-out-out"), page.get_by_test_id("port-filter-out-out"))
    expect(page.get_by_test_id("toast")).to_contain_text("Both ends are outputs")
    canvas.drag(page.get_by_test_id("port-persons-out-out"), page.get_by_test_id("port-filter-in-in"))
    expect(page.get_by_test_id("toast").last).to_contain_text("already feeds")
    expect(page.locator("[data-testid^='edge-']")).to_have_count(4)


def test_undo_takes_back_one_step_at_a_time(canvas: Canvas, page: Page, experiment: Callable[..., str]) -> None:
    """A drag, a word that was typed, and a deletion are one step each."""
    canvas.open(experiment())
    before = canvas.operator("sink").bounding_box()
    header = canvas.operator("sink").locator("header b")
    box = header.bounding_box()
    assert box is not None
    assert before is not None
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 5, box["y"] - 60, steps=8)
    page.mouse.up()
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 300})
    page.get_by_label("Name of the experiment").press_sequentially("!!", delay=20)
    page.get_by_label("Name of the experiment").press("Tab")
    canvas.operator("filter").click()
    page.keyboard.press("Delete")
    expect(canvas.operator("filter")).to_have_count(0)
    page.keyboard.press("Control+z")
    expect(canvas.operator("filter")).to_be_visible()
    expect(page.get_by_test_id("edge-filter-join")).to_be_visible()
    page.keyboard.press("Control+z")
    expect(page.get_by_label("Name of the experiment")).not_to_have_value(re.compile("!"))
    page.keyboard.press("Control+z")
    after = canvas.operator("sink").bounding_box()
    assert after is not None
    assert abs(after["y"] - before["y"]) < 1
    expect(page.get_by_label("Undo")).to_be_disabled()
    for _ in range(3):
        page.keyboard.press("Control+Shift+z")
    expect(canvas.operator("filter")).to_have_count(0)


def test_edits_are_saved_and_a_conflict_loses_nothing(
    canvas: Canvas, page: Page, experiment: Callable[..., str], api: httpx.Client
) -> None:
    experiment_id = experiment()
    canvas.open(experiment_id)
    canvas.operator("join").click()
    page.keyboard.press("Control+c")
    page.keyboard.press("Control+v")
    expect(canvas.operator("join-2")).to_be_visible()
    canvas.wait_until_saved()
    stored = api.get(f"/api/experiments/{experiment_id}").json()
    assert [one["id"] for one in stored["document"]["query"]["operators"]][-1] == "join-2"

    theirs = {**stored["document"], "description": "changed by somebody else"}
    api.put(f"/api/experiments/{experiment_id}", json={"version": stored["version"], "document": theirs}).raise_for_status()
    canvas.operator("join-2").click()
    page.keyboard.press("Delete")
    expect(page.get_by_test_id("conflict")).to_be_visible()
    page.get_by_role("button", name="Compare versions").click()
    expect(page.get_by_role("dialog").get_by_role("cell", name="Description", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Keep mine").click()
    canvas.wait_until_saved()
    assert "join-2" not in str(api.get(f"/api/experiments/{experiment_id}").json()["document"]["query"])


def test_leaving_at_once_keeps_the_last_edit(canvas: Canvas, page: Page, experiment: Callable[..., str]) -> None:
    canvas.open(experiment())
    page.get_by_label("Name of the experiment").fill("changed in the last moment")
    page.get_by_role("link", name="Runs").click()
    page.get_by_label("Search runs").wait_for()
    page.go_back()
    expect(page.get_by_label("Name of the experiment")).to_have_value("changed in the last moment")
    expect(page.get_by_test_id("conflict")).to_have_count(0)


def test_an_uploaded_file_becomes_a_source(canvas: Canvas, page: Page, tmp_path: Any) -> None:
    rows = "".join(f"2024-01-01T00:00:{second:02d},{'ab'[second % 2]},{second * 0.5}\n" for second in range(60))
    (tmp_path / "ride times.csv").write_text("time,vendor,fare\n" + rows)
    canvas.new()
    page.get_by_test_id("palette-upload").click()
    page.get_by_test_id("upload-file").set_input_files(tmp_path / "ride times.csv")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Upload", exact=True).click()
    expect(dialog.get_by_label("Timestamp")).to_be_visible()
    expect(dialog).to_contain_text("60 rows")
    expect(dialog.get_by_role("row").filter(has_text="fare")).to_contain_text("float")
    dialog.get_by_text("n × speed").click()
    dialog.get_by_role("button", name="Add as source").click()
    expect(canvas.operator("ride-times")).to_be_visible()
    expect(page.get_by_test_id("inspector")).to_contain_text("Uploaded file")


def test_a_bad_file_is_refused_with_the_line(canvas: Canvas, page: Page, tmp_path: Any) -> None:
    (tmp_path / "ragged.csv").write_text("time,fare\n2024-01-01T00:00:00,1\n2024-01-01T00:00:01,1,2\n")
    canvas.new()
    page.get_by_test_id("palette-upload").click()
    page.get_by_test_id("upload-file").set_input_files(tmp_path / "ragged.csv")
    expect(page.get_by_role("alert")).to_contain_text("line 3")
    expect(page.get_by_role("button", name="Upload", exact=True)).to_be_disabled()


@pytest.mark.parametrize("theme", only(["light", "dark"], ci=["dark"]))
def test_everything_can_be_done_by_keyboard(new_page: Callable[..., Page], api: httpx.Client, theme: str) -> None:
    """Search the palette, add three operators, connect, move, place, and run, without the mouse."""
    page = new_page(theme=theme)
    canvas = Canvas(page)
    canvas.new()
    for word in ("bids", "filter", "sink"):
        page.keyboard.press("/")
        page.keyboard.type(word)
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        expect(canvas.operator(word)).to_be_visible()
    # From the sink, which is selected, back to the first one; then along the line while it is connected.
    page.keyboard.press("Control+ArrowLeft")
    page.keyboard.press("Control+ArrowLeft")
    for source, target in (("bids", "filter"), ("filter", "sink")):
        expect(page.locator("#operator-id")).to_have_value(source)
        page.keyboard.press("c")
        expect(page.locator("[data-connect]")).to_be_focused()
        page.keyboard.type(target)  # the list of inputs chooses by what is typed
        expect(page.get_by_test_id(f"edge-{source}-{target}")).to_be_visible()
        page.keyboard.press("Control+k")
        page.keyboard.type("operator right")
        page.keyboard.press("Enter")
    expect(page.locator("#operator-id")).to_have_value("sink")
    page.keyboard.press("p")
    expect(page.locator("[data-place]")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("w3")
    page.keyboard.press("Enter")
    expect(canvas.operator("sink").locator("footer")).to_have_text("w3")
    canvas.operator("sink").locator("xpath=ancestor::*[contains(@class,'react-flow__node')][1]").focus()
    page.keyboard.press("Shift+ArrowDown")
    expect(page.get_by_test_id("problems-button")).to_have_text("Valid")
    canvas.wait_until_saved()
    document = api.get(f"/api/experiments/{page.url.rsplit('/', 1)[-1]}").json()["document"]
    assert document["ui"]["positions"]["sink"]["y"] > document["ui"]["positions"]["filter"]["y"]
    assert document["placement"]["hosts"]["sink"] == ["w3"]
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/runs/*")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")


def test_a_signed_out_visitor_is_told_how_to_sign_in(new_context: Callable[..., BrowserContext]) -> None:
    page = new_context(storage_state=None).new_page()
    page.goto("/")
    expect(page.get_by_test_id("signed-out")).to_contain_text("signin_url")
