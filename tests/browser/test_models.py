"""The page of models: what comes with Millrace, and a corpus that a worker measures until somebody cancels it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from engine.corpus.corpora import write_card

from ..engine.learning import made_up
from .axe import assert_accessible


@pytest.mark.slow
def test_shipped_models_show_what_they_are_worth(page: Page) -> None:
    page.goto("/models")
    row = page.get_by_test_id("models-dev")
    expect(row).to_contain_text("comes with Millrace")
    expect(row.get_by_role("button", name="Delete models dev")).to_be_disabled()
    expect(page.get_by_test_id("train")).to_be_disabled()
    expect(page.get_by_test_id("corpora")).to_contain_text("No corpus here yet")
    assert_accessible(page)
    row.get_by_role("link", name="dev", exact=True).click()
    worth = page.get_by_test_id("worth-processing_latency")
    expect(worth.get_by_role("row").filter(has_text="Network")).to_have_count(1)
    expect(worth.get_by_role("row").filter(has_text="Flat vector, our strongest")).to_have_count(1)
    expect(page.get_by_test_id("training").locator(".js-plotly-plot")).to_have_count(5)
    assert_accessible(page)


@pytest.mark.slow
def test_a_corpus_is_measured_and_cancelled(page: Page, api: httpx.Client) -> None:
    page.goto("/models")
    page.get_by_test_id("new-corpus").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Not A Name")
    expect(dialog.get_by_test_id("make-corpus")).to_be_disabled()
    dialog.get_by_label("Name").fill("browser")
    dialog.get_by_label("Traces").fill("5000")
    dialog.get_by_label("Seed").fill("7")
    dialog.get_by_test_id("make-corpus").click()
    job = page.get_by_test_id("job-browser")
    expect(job).to_contain_text("of 5,000 traces")
    page.reload()
    expect(job).to_contain_text("of 5,000 traces")
    job.get_by_role("button", name="Cancel browser").click()
    expect(job).to_contain_text("Cancelled")
    corpus = page.get_by_test_id("corpus-browser")
    expect(corpus).to_contain_text("of 5,000 traces measured")
    expect(corpus.get_by_role("button", name="Train")).to_be_disabled()
    corpus.get_by_role("button", name="Delete corpus browser").click()
    expect(corpus).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(corpus).to_have_count(1)
    assert api.delete("/api/learning/corpora/browser").status_code == 204


@pytest.mark.deep
@pytest.mark.slow
def test_models_are_trained_live(page: Page, api: httpx.Client, owner: Any) -> None:
    """Curves grow while a worker trains, go on where they were when the page is loaded again, and end as models that can be asked."""
    corpus = made_up.corpus(Path(owner["home"]) / "corpora" / "made-up")
    write_card(corpus)
    page.goto("/models")
    page.get_by_test_id("corpus-made-up").get_by_role("button", name="Train").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name of the models").fill("live")
    dialog.get_by_label("Width of the network").fill("8")
    dialog.get_by_label("Models of each cost").fill("1")
    dialog.get_by_label("Epochs at most").fill("20")
    dialog.get_by_test_id("start-training").click()
    expect(page.get_by_test_id("job-live")).to_be_visible()

    page.goto("/models/live")
    curves = page.get_by_test_id("training").locator(".js-plotly-plot")
    expect(curves.first).to_be_visible()
    page.reload()
    expect(curves.first).to_be_visible()
    expect(page.get_by_test_id("worth-success")).to_be_visible()
    expect(curves).to_have_count(5)
    page.get_by_role("radio", name="Training loss").check(force=True)
    expect(page.get_by_role("img", name="Throughput: loss of 1 member by epoch")).to_be_visible()
    assert_accessible(page)
    trained = api.get("/api/learning/models/live").raise_for_status().json()["training"]
    drawn = {one["metric"]: [epoch["number"] for epoch in one["epochs"]] for one in trained}
    assert drawn.keys() == {"throughput", "processing_latency", "end_to_end_latency", "flows", "success"}
    assert all(epochs == list(range(1, len(epochs) + 1)) for epochs in drawn.values()), "no epoch is missing"
    assert api.delete("/api/learning/models/live").status_code == 204
    shutil.rmtree(corpus)


@pytest.mark.slow
def test_models_are_exported_imported_and_set_as_default(page: Page, api: httpx.Client, tmp_path: Path) -> None:
    page.goto("/models")
    with page.expect_download() as started:
        page.get_by_test_id("models-dev").get_by_role("link", name="Export models dev").click()
    file = tmp_path / started.value.suggested_filename
    started.value.save_as(file)
    page.get_by_test_id("import-models").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_test_id("import-go")).to_be_disabled()
    expect(dialog).to_contain_text("of at most 268 MB. It contains only data and is checked before import.")
    dialog.get_by_label("File").set_input_files(file)
    dialog.get_by_test_id("import-go").click()
    expect(dialog).to_contain_text("models 'dev' come with Millrace; choose another name")
    dialog.get_by_label("Name").fill("brought")
    assert_accessible(page)
    dialog.get_by_test_id("import-go").click()
    brought, shipped = page.get_by_test_id("models-brought"), page.get_by_test_id("models-dev")
    badge = ".badge"
    expect(brought.locator(badge)).to_have_text("default")
    shipped.get_by_role("button", name="Set as default: models dev").click()
    expect(shipped.locator(badge)).to_have_text("default")
    expect(brought.locator(badge)).to_have_count(0)
    page.get_by_test_id("import-corpora").click()
    dialog.get_by_label("File").set_input_files(file)
    dialog.get_by_test_id("import-go").click()
    expect(dialog).to_contain_text("holds models")
    dialog.get_by_role("button", name="Cancel").click()
    assert api.delete("/api/learning/models/brought").status_code == 204


@pytest.mark.slow
def test_closing_the_import_stops_the_upload(page: Page, tmp_path: Path) -> None:
    """An answer that comes late closes no other dialog."""
    held: list[Route] = []
    page.route("**/api/learning/import/models", lambda route: held.append(route))
    page.goto("/models")
    page.get_by_test_id("import-models").click()
    dialog = page.get_by_role("dialog")
    file = tmp_path / "some.zip"
    file.write_bytes(b"some")
    dialog.get_by_label("File").set_input_files(file)
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/import/models")):
        dialog.get_by_test_id("import-go").click()
        expect(dialog).to_contain_text("Uploading …")
        expect(dialog.get_by_test_id("import-go")).to_be_disabled()
        dialog.get_by_role("button", name="Cancel").click()
    page.get_by_test_id("import-corpora").click()
    expect(dialog).to_contain_text("Import a corpus")
