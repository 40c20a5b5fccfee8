"""Editing a drawn query as people of other editors are used to: commands, keys, search, copying, what may go wrong with names."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import BrowserContext, Locator, Page, expect

from .canvas import Canvas


def test_commands_by_name_and_by_key(canvas: Canvas, page: Page, experiment: Callable[..., str]) -> None:
    """The palette and the list of keys show the same commands; selecting along edges and deleting with reconnection obey both."""
    canvas.open(experiment())
    page.keyboard.press("Control+k")
    expect(page.get_by_label("Search commands")).to_be_focused()
    upstream = page.get_by_role("option", name="Select upstream")
    page.keyboard.type("upstream sel")
    expect(upstream).to_have_attribute("aria-disabled", "true")
    expect(upstream).to_contain_text("Select an operator first.")
    page.keyboard.press("Escape")

    canvas.operator("join").click()
    page.keyboard.press("Control+k")
    page.keyboard.type("upstream")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("inspector")).to_contain_text("4 operators selected")
    canvas.operator("filter").click()
    page.keyboard.press("d")
    expect(page.get_by_test_id("inspector")).to_contain_text("filter, join, sink")

    canvas.operator("filter").click()
    page.keyboard.press("Control+Delete")
    expect(page.get_by_test_id("edge-persons-join")).to_have_text("hash(id)")
    page.keyboard.press("Control+z")
    expect(page.get_by_test_id("edge-persons-join")).to_have_count(0)
    page.keyboard.press("Control+k")
    page.keyboard.type("add union")
    page.keyboard.press("Enter")
    expect(canvas.operator("union")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("Delete operators and reconnect their neighbours")
    page.keyboard.press("Control+a")  # keys belong to the dialog
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    expect(page.locator(".node.selected")).to_have_count(0)


def test_copies_go_to_another_experiment_and_other_texts_are_refused(
    new_context: Callable[..., BrowserContext], experiment: Callable[..., str]
) -> None:
    """Also by the clipboard's text: a document of one's own comes in, a broken one is refused with a reason and changes nothing."""
    context = new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    canvas = Canvas(page)
    canvas.open(experiment())
    canvas.operator("persons").click()
    canvas.operator("filter").click(modifiers=["Control"])
    page.keyboard.press("Control+c")
    expect(page.get_by_test_id("toast")).to_contain_text("Copied 2 operators")
    canvas.new()
    page.keyboard.press("Control+v")
    expect(page.get_by_test_id("edge-persons-filter")).to_be_visible()
    expect(page.get_by_test_id("inspector")).to_contain_text("2 operators selected")

    def paste(text: str) -> None:
        page.evaluate("text => navigator.clipboard.writeText(text)", text)
        page.keyboard.press("Control+v")

    for broken, why in (
        ("query: {operators: [", "neither YAML nor JSON"),
        ("- 1\n- 2", "not an experiment"),
        ("query: {operators: 7}", "no operators"),
        ("<script>document.title = 'owned'</script>", "not an experiment"),
    ):
        paste(broken)
        expect(page.get_by_test_id("toast").last).to_contain_text(why)
    expect(page.locator(".node")).to_have_count(2)
    paste("query: {operators: [{kind: sink}, {id: [1], kind: 3, parallelism: many}, null], edges: [{source: a}, 5]}\nui: {positions: 3}")
    expect(page.locator(".node")).to_have_count(4)
    page.keyboard.press("Control+z")
    expect(page.locator(".node")).to_have_count(2)


def test_find_and_go_from_operator_to_operator(canvas: Canvas, page: Page, experiment: Callable[..., str]) -> None:
    canvas.open(experiment())
    page.keyboard.press("Control+f")
    field = page.get_by_label("Find on the canvas")
    expect(field).to_be_focused()
    page.keyboard.type("join")
    expect(page.get_by_test_id("find")).to_contain_text("4 matches")
    page.keyboard.press("Enter")
    expect(page.locator("#operator-id")).to_have_value("join")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("find")).to_contain_text("2 of 4")
    expect(page.get_by_test_id("records-card")).to_be_visible()
    page.keyboard.press("Escape")
    expect(field).to_have_count(0)

    canvas.operator("persons").click()
    page.keyboard.press("Control+ArrowRight")
    page.keyboard.press("Control+ArrowRight")
    expect(page.locator("#operator-id")).to_have_value("join")
    page.keyboard.press("Control+ArrowLeft")
    expect(page.locator("#operator-id")).to_have_value("filter")


def test_expressions_are_completed_from_the_records_and_the_functions(canvas: Canvas, page: Page, experiment: Callable[..., str]) -> None:
    canvas.open(experiment())
    canvas.operator("filter").click()
    field = page.locator("#form-query-operators-2-params_predicate")
    expect(page.get_by_test_id("inspector")).to_contain_text("city")  # the fields of the records are known
    field.fill("")
    field.press_sequentially("sta")
    offered = page.get_by_test_id("completions")
    expect(offered.get_by_role("option")).to_have_text([re.compile("^state.*string"), re.compile(r"^startswith\(\)")])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(field).to_have_value("startswith()")
    expect(page.locator(".called")).to_contain_text("startswith(text: string, start: constant string)")
    field.press_sequentially("ci")
    page.keyboard.press("Tab")
    field.press_sequentially(", 'P')")
    expect(field).to_have_value("startswith(city, 'P'))")
    page.keyboard.press("Backspace")
    expect(page.get_by_test_id("problems-button")).to_have_text("Valid")


def test_the_picture_can_be_taken_along(canvas: Canvas, page: Page, experiment: Callable[..., str]) -> None:
    canvas.open(experiment())
    for kind, begin in (("SVG", b"<svg xmlns"), ("PNG", b"\x89PNG")):
        page.get_by_title("More").click()
        with page.expect_download() as download:
            page.get_by_role("button", name=f"picture as {kind}").click()
        assert download.value.path().read_bytes().startswith(begin)


def middle_of(locator: Locator) -> tuple[float, float]:
    box = locator.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_drag_says_beforehand_what_comes_of_it(canvas: Canvas, page: Page, experiment: Callable[..., str]) -> None:
    """Records that do not fit are refused before the button is let go; an operator over a host says where it would be placed."""
    canvas.open(experiment())
    page.mouse.move(*middle_of(page.get_by_test_id("port-auctions-out-out")))
    page.mouse.down()
    page.mouse.move(*middle_of(page.get_by_test_id("port-filter-in-in")), steps=8)
    hint = page.get_by_test_id("connection-hint")
    expect(hint).to_contain_text("This input of filter gets (id, name, email, card, city, …) from persons; auctions would send (id, item,")
    page.mouse.up()
    expect(page.get_by_test_id("edge-auctions-filter")).to_have_count(0)

    page.mouse.move(*middle_of(canvas.operator("sink").locator("header b")))
    page.mouse.down()
    page.mouse.move(*middle_of(page.get_by_test_id("host-w3")), steps=8)
    expect(page.get_by_test_id("landing-hint")).to_contain_text("place sink on w3")
    expect(page.get_by_test_id("host-w3")).to_have_class(re.compile("target"))
    page.mouse.up()
    expect(page.get_by_test_id("landing-hint")).to_have_count(0)
    expect(canvas.operator("sink")).to_contain_text("w3")


def test_a_key_takes_its_edge_with_it_and_what_is_missing_is_found(canvas: Canvas, page: Page) -> None:
    canvas.new()
    page.get_by_test_id("run").dispatch_event("click")
    expect(page.get_by_label("Search the palette")).to_be_focused()
    for word in ("persons", "aggr", "sink"):
        page.get_by_label("Search the palette").fill(word)
        page.keyboard.press("Enter")
    canvas.connect("persons", "aggregate")
    canvas.operator("aggregate").click()
    page.locator("select#form-query-operators-1-params_key").select_option("city")  # free text until the fields are known
    expect(page.get_by_test_id("edge-persons-aggregate")).to_have_text("hash(city)")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+z")
    expect(page.get_by_test_id("edge-persons-aggregate")).to_have_text("forward")
