"""Editing a drawn query as people of other editors are used to: commands, keys, search, copying, what may go wrong with names."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

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
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("Delete operators and connect what they stood between")
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
        ("- 1\n- 2", "no experiment"),
        ("query: {operators: 7}", "no operators"),
        ("<script>document.title = 'owned'</script>", "no experiment"),
    ):
        paste(broken)
        expect(page.get_by_test_id("toast").last).to_contain_text(why)
    expect(page.locator(".node")).to_have_count(2)
    paste("query: {operators: [{kind: sink}, {id: [1], kind: 3, parallelism: many}, null], edges: [{source: a}, 5]}\nui: {positions: 3}")
    expect(page.locator(".node")).to_have_count(4)
    page.keyboard.press("Control+z")
    expect(page.locator(".node")).to_have_count(2)
