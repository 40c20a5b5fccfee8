"""Out of the canvas and back as code, and back to what was. Catches: a copy that is not pasted as it was, edits that are lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from .axe import assert_accessible
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


def test_the_history_shows_who_changed_what_and_goes_back(
    canvas: Canvas, page: Page, experiment: Callable[..., str], api: httpx.Client
) -> None:
    experiment_id = experiment()
    canvas.open(experiment_id)
    name = page.get_by_label("Name of the experiment")
    name.fill("Renamed")
    page.get_by_role("button", name="History", exact=True).click()
    versions = page.get_by_test_id("versions").get_by_role("listitem")
    expect(versions).to_have_count(2)
    expect(versions.first).to_contain_text("You")
    versions.first.get_by_role("button").first.click()
    expect(page.get_by_test_id("version")).to_contain_text("1 difference from the version before")
    expect(page.get_by_role("button", name="Restore")).to_have_attribute("title", "This is the newest version.")
    assert_accessible(page)
    page.get_by_role("button", name="Show differences").click()
    expect(page.get_by_role("dialog").get_by_role("row").filter(has_text="Name")).to_contain_text("Renamed")
    page.keyboard.press("Escape")

    versions.nth(1).get_by_role("button").first.click()
    page.get_by_role("button", name="Restore").click()
    expect(name).to_have_value("NexMark Q3, four workers")
    expect(versions).to_have_count(3)
    expect(versions.first).to_contain_text("restored from 1")
    assert api.get(f"/api/experiments/{experiment_id}").json()["document"]["name"] == "NexMark Q3, four workers"
    page.keyboard.press("Control+z")
    expect(name).to_have_value("Renamed")
    expect(versions).to_have_count(4)


def test_a_second_tab_is_told_of_a_save_at_once(new_page: Callable[..., Page], experiment: Callable[..., str]) -> None:
    experiment_id = experiment()
    one, two = Canvas(new_page()), Canvas(new_page())
    for tab in (one, two):
        tab.open(experiment_id)
    for tab in (one, two):
        expect(tab.page.get_by_test_id("others")).to_contain_text("You have this experiment open in another tab")
    one.page.get_by_label("Name of the experiment").fill("From the first tab")
    told = two.page.get_by_test_id("conflict")
    expect(told).to_contain_text("You, in another tab, saved this experiment just now. This page shows an older version.")
    told.get_by_role("button", name="Show it").click()
    expect(two.page.get_by_label("Name of the experiment")).to_have_value("From the first tab")
    expect(told).to_have_count(0)
    two.page.get_by_label("Name of the experiment").fill("From the second tab")
    behind = one.page.get_by_test_id("conflict")
    expect(behind).to_contain_text("You, in another tab,")
    expect(told).to_have_count(0)
    two.page.get_by_label("Name of the experiment").fill("From the second tab again")
    expect(two.page.get_by_test_id("saved")).to_have_attribute("data-state", "saved")
    behind.get_by_role("button", name="Compare versions").click()
    expect(one.page.get_by_role("dialog")).to_contain_text("From the second tab again")
    one.page.keyboard.press("Escape")
    two.page.close()
    expect(one.page.get_by_test_id("others")).to_have_count(0)
