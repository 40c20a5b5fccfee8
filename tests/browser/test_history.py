"""Out of the canvas and back as code, and back to what was. Catches: a copy that is not pasted as it was, edits that are lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from .canvas import Canvas

pytestmark = pytest.mark.slow


def paste(page: Page, text: str) -> None:
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.keyboard.press("Control+v")


def test_an_experiment_goes_out_as_code_and_comes_back(
    new_context: Callable[..., BrowserContext], experiment: Callable[..., str], tmp_path: Path
) -> None:
    context = new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    canvas = Canvas(page)
    canvas.open(experiment())
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Copy as Python").click()
    expect(page.get_by_test_id("toast")).to_contain_text("Copied as Python")
    code = page.evaluate("() => navigator.clipboard.readText()")
    assert '    dict(id="persons", kind="source", parallelism=4),' in code

    # An empty canvas is filled, which can be undone.
    canvas.new()
    paste(page, code.replace('"NexMark Q3, four workers"', '"Edited \N{PARTY POPPER}"').replace("horizon_s = 30", "horizon_s = 45"))
    expect(canvas.operator("filter")).to_be_visible()
    expect(page.get_by_label("Name of the experiment")).to_have_value("Edited \N{PARTY POPPER}")
    expect(page.get_by_test_id("problems-button")).to_contain_text("Valid")
    page.keyboard.press("Control+z")
    expect(page.locator(".node")).to_have_count(0)
    page.keyboard.press("Control+Shift+z")
    canvas.wait_until_saved()

    # One with operators is not overwritten unasked.
    paste(page, code)
    dialog = page.get_by_role("dialog", name="Import an experiment")
    expect(dialog).to_contain_text("5 operators")
    dialog.get_by_role("button", name="As a new experiment").click()
    expect(page.get_by_label("Name of the experiment")).to_have_value("NexMark Q3, four workers")
    expect(canvas.operator("filter")).to_be_visible()

    # What was not written here is refused with its line, and never executed.
    paste(page, f"import millrace\n\ndocument = open({str(tmp_path / 'owned')!r}, 'w')")
    expect(page.get_by_test_id("toast").last).to_contain_text("line 3 calls open(): only documents as Millrace writes them can be pasted")
    assert not (tmp_path / "owned").exists()
