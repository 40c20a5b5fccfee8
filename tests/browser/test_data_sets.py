"""Data sets: uploaded, chosen for a source, deleted and had back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
from playwright.sync_api import BrowserContext, expect

from .axe import assert_accessible
from .canvas import Canvas

FIRST = b"time,cab,fare\n2026-01-01T00:00:00Z,a,1.5\n2026-01-01T00:00:01Z,b,2\n"
OTHER = b"moment,cab,fare\n2026-01-01T00:00:00Z,a,1.5\n2026-01-01T00:00:01Z,b,2\n2026-01-01T00:00:02Z,c,4\n"


def test_a_data_set_is_uploaded_chosen_deleted_and_had_back(
    new_context: Callable[..., BrowserContext], api: httpx.Client, tmp_path: Path
) -> None:
    file = tmp_path / "cabs.csv"
    page = new_context(theme="dark").new_page()
    page.goto("/datasets")
    for content in (FIRST, OTHER):
        file.write_bytes(content)
        page.get_by_test_id("upload-dataset").click()
        page.get_by_test_id("upload-file").set_input_files(file)
        dialog = page.get_by_role("dialog")
        if content is OTHER:
            expect(dialog.get_by_role("alert")).to_contain_text("choose another name")
            dialog.get_by_label("Name").fill("cabs again")
            dialog.get_by_role("button", name="Upload under this name").click()
        expect(dialog.get_by_role("row")).to_have_count(4)
        dialog.get_by_role("button", name="Done").click()
    expect(page.get_by_test_id("dataset-cabs again")).to_contain_text("3")
    assert_accessible(page)

    canvas = Canvas(page)
    canvas.new()
    page.get_by_role("button", name="cabs", exact=False).first.focus()
    page.keyboard.press("Enter")
    panel = page.get_by_label("Inspector")
    chosen = panel.get_by_label("Data set")
    expect(chosen).to_have_value("cabs")
    chosen.select_option("cabs again")
    expect(panel.get_by_text("is not usable as event time")).to_be_visible()
    panel.get_by_label("Timestamp column").select_option("moment")
    expect(panel.get_by_text("is not usable as event time")).to_have_count(0)
    canvas.wait_until_saved()
    address = page.url

    page.goto("/datasets?search=again")
    page.get_by_role("button", name="Delete cabs again").click()
    expect(page.get_by_test_id("toast")).to_contain_text("cabs again deleted; 1 experiment cannot run without it.")
    expect(page.get_by_test_id("dataset-cabs again")).to_have_count(0)
    other = page.context.new_page()
    other.goto(address)
    other.get_by_test_id("operator-cabs").click()
    kept = other.get_by_label("Inspector").get_by_label("Data set")
    expect(kept).to_have_value("cabs again")
    expect(kept.locator("option:checked")).to_have_text("cabs again (deleted)")
    expect(other.get_by_label("Inspector").get_by_text("'cabs again' is unknown")).to_be_visible()

    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_test_id("dataset-cabs again")).to_be_visible()
    for dataset in api.get("/api/datasets").json():
        if dataset["name"].startswith("cabs"):
            api.delete(f"/api/datasets/{dataset['id']}").raise_for_status()
