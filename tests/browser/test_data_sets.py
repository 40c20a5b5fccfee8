"""Data sets: uploaded, chosen for a source, deleted and had back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from .axe import assert_accessible
from .canvas import Canvas

ABROAD = """Zeit;class;Preis (€);menge
31.01.2026 12:00:00;a;1,5;1
31.01.2026 12:00:01;b;n/a;2
31.01.2026 12:00:02;a;1.250,25;x3
31.01.2026 12:00:03;b;-;4
31.01.2026 12:00:04;a;2,5;5
"""
FIRST = b"time,cab,fare\n2026-01-01T00:00:00Z,a,1.5\n2026-01-01T00:00:01Z,b,2\n"
OTHER = b"moment,cab,fare\n2026-01-01T00:00:00Z,a,1.5\n2026-01-01T00:00:01Z,b,2\n2026-01-01T00:00:02Z,c,4\n"


def test_a_data_set_is_uploaded_chosen_deleted_and_had_back(new_page: Callable[..., Page], api: httpx.Client, tmp_path: Path) -> None:
    file = tmp_path / "cabs.csv"
    page = new_page(theme="dark")
    page.goto("/datasets")
    for content in (FIRST, OTHER):
        file.write_bytes(content)
        page.get_by_test_id("upload-dataset").click()
        page.get_by_test_id("upload-file").set_input_files(file)
        dialog = page.get_by_role("dialog")
        send = dialog.get_by_role("button", name="Upload", exact=True)
        send.click()
        if content is OTHER:
            expect(dialog.get_by_role("alert").last).to_contain_text("choose another name")
            dialog.get_by_label("Name", exact=False).first.fill("cabs again")
            send.click()
        expect(dialog.get_by_label("Columns of", exact=False).get_by_role("row")).to_have_count(4)
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


@pytest.mark.deep
def test_types_are_chosen_before_the_upload_and_a_reserved_word_is_a_field(
    new_page: Callable[..., Page], api: httpx.Client, tmp_path: Path
) -> None:
    file = tmp_path / "rides abroad.csv"
    file.write_text(ABROAD)
    page = new_page(width=900, theme="light")
    page.goto("/datasets")
    page.get_by_test_id("upload-dataset").click()
    page.get_by_test_id("upload-file").set_input_files(file)
    dialog = page.get_by_role("dialog")
    upload = dialog.get_by_role("button", name="Upload", exact=True)

    expect(dialog.get_by_label("Separator")).to_have_value(";")
    expect(dialog.get_by_label("Type of column 1")).to_have_value("timestamp")
    expect(dialog.get_by_label("Type of column 3")).to_have_value("string")
    words = dialog.get_by_label("Null values")
    words.fill("n/a, -")
    words.press("Enter")
    dialog.get_by_label("Decimal mark").select_option(",")
    expect(dialog.get_by_label("Type of column 3")).to_have_value("float")
    expect(dialog.get_by_label("Thousands mark")).to_have_value(".")
    expect(dialog.get_by_role("table")).to_contain_text("has no value in 2 of 5 rows, first in line 3")
    expect(upload).to_be_disabled()
    expect(upload).to_have_attribute("title", "Fix the problem shown.")
    dialog.get_by_label("Missing values").select_option("skip_row")
    expect(dialog.get_by_role("cell", name="no value")).to_have_count(2)
    expect(upload).to_be_enabled()

    dialog.get_by_label("Type of column 4").select_option("int")
    expect(dialog.get_by_role("table")).to_contain_text("has 'x3' in line 4 (row 3), which is not a whole number")
    dialog.get_by_label("Type of column 4").select_option("left out")
    zone = dialog.get_by_label("Time zone")
    zone.fill("Europe/Berln")
    zone.press("Enter")
    expect(dialog.get_by_role("table")).to_contain_text("did you mean 'Europe/Berlin'?")
    zone.fill("Europe/Berlin")
    zone.press("Enter")
    name = dialog.get_by_label("Name of column 3")
    name.fill("class")
    name.press("Enter")
    expect(dialog.get_by_role("table")).to_contain_text("columns 2 and 3 are both named 'class'")
    name.fill("price")
    name.press("Enter")
    expect(dialog.get_by_role("cell", name="2026-01-31T11:00:00Z")).to_be_visible()
    expect(upload).to_be_enabled()
    assert_accessible(page)
    upload.click()
    expect(dialog).to_contain_text("2 rows of 5, without a value")
    expect(dialog).to_contain_text("Preis (€) is price")
    dialog.get_by_role("button", name="Done").click()

    canvas = Canvas(page)
    canvas.open(filtered(api, "rides abroad", "Zeit"))
    canvas.operator("filter").click()
    field = page.locator("#form-query-operators-1-params_predicate")
    expect(page.get_by_test_id("inspector").get_by_role("button", name="class", exact=True)).to_be_visible()  # the fields are known
    field.fill("")
    field.press_sequentially("cla")
    expect(page.get_by_test_id("completions").get_by_role("option")).to_contain_text('record["class"]')
    page.keyboard.press("Enter")
    expect(field).to_have_value('record["class"]')
    field.press_sequentially(" == 'a' and price > 2")
    canvas.wait_until_saved()
    canvas.run()
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")
    frames = api.get(f"/api/runs/{page.url.rsplit('/', 1)[-1].split('?')[0]}/frames").json()["frames"]
    assert sum(frame["latency_ms"]["count"] for frame in frames) == 2


def test_what_is_refused_stays_on_show_and_can_be_changed(new_page: Callable[..., Page], tmp_path: Path) -> None:
    file = tmp_path / "rides.csv"
    file.write_bytes(FIRST)
    page = new_page()
    page.goto("/datasets")
    page.get_by_test_id("upload-dataset").click()
    page.evaluate("() => { window.read = Blob.prototype.text; Blob.prototype.text = () => Promise.reject(new Error('a folder')) }")
    page.get_by_test_id("upload-file").set_input_files(file)
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("alert")).to_have_text("rides.csv cannot be read; choose a file, not a folder.")
    page.evaluate("() => { Blob.prototype.text = window.read }")
    page.get_by_test_id("upload-file").set_input_files(file)

    zone = dialog.get_by_label("Time zone")
    zone.fill("Europe/Berlin")
    zone.press("Enter")
    dialog.get_by_label("First row", exact=True).select_option("data")  # the columns have other names with it
    expect(dialog.get_by_role("row", name="time cab fare")).to_be_visible()
    expect(zone).to_have_value("Europe/Berlin")
    words = dialog.get_by_label("Null values")
    words.fill("n" * 300)
    words.press("Enter")
    expect(dialog.get_by_role("status")).to_have_text("The file cannot be read like this.")
    expect(words).to_have_value("n" * 300)
    expect(dialog.get_by_label("First row", exact=True)).to_have_value("data")
    words.fill("n/a")
    words.press("Enter")
    dialog.get_by_label("First row", exact=True).select_option("names")
    upload = dialog.get_by_role("button", name="Upload", exact=True)
    expect(upload).to_be_enabled()

    page.route("**/api/datasets", lambda route: None)  # never answered
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/api/datasets")):
        upload.click()
        dialog.get_by_role("button", name="Close", exact=True).last.click()
    expect(dialog).to_have_count(0)


def filtered(api: httpx.Client, dataset: str, timestamp: str) -> str:
    """Store an experiment that replays a data set through a filter; return its id."""
    document = {
        "format": 1,
        "name": "Rides abroad",
        "query": {
            "operators": [
                {"id": "rides", "kind": "source"},
                {"id": "filter", "kind": "filter", "params": {"predicate": "price > 0"}},
                {"id": "sink", "kind": "sink"},
            ],
            "edges": [
                {"source": "rides", "target": "filter", "partitioning": {"kind": "rebalance"}},
                {"source": "filter", "target": "sink", "partitioning": {"kind": "rebalance"}},
            ],
        },
        "cluster": {"hosts": [{"name": "w1"}]},
        "workload": {
            "horizon_s": 10.0,
            "sources": {
                "rides": {"stream": {"kind": "file", "dataset": dataset, "timestamp": timestamp}, "rate": {"kind": "recorded"}},
            },
        },
    }
    answer = api.post("/api/experiments", json={"document": document})
    answer.raise_for_status()
    return str(answer.json()["id"])
