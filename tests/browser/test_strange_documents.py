"""Documents and situations that nobody planned: strange names, newer schemas, lost data sets, a session that ends, a large query."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.support.corner_cases import large_query

from .canvas import Canvas
from .waiting import until

STRANGE = ("\u202eمرحبا\u202c 🌊👩‍🔬", "<script>window.owned = 1</script><img src=x onerror='window.owned = 1'>", "x" * 10_000)


def test_strange_names_are_shown_as_they_are(canvas: Canvas, page: Page, experiment: Callable[..., str], api: httpx.Client) -> None:
    """In every text field of the canvas: kept or refused with a reason, never run, never a page that is broken."""

    def name_all(document: dict[str, Any]) -> None:
        document["name"] = STRANGE[1]
        document["description"] = STRANGE[0]
        document["cluster"]["hosts"].append({"name": STRANGE[1], "group": STRANGE[0]})

    experiment_id = experiment(name_all)
    canvas.open(experiment_id)
    expect(page.get_by_label("Name of the experiment")).to_have_value(STRANGE[1])
    for text in STRANGE:
        page.get_by_label("Name of the experiment").fill(text)
        page.get_by_role("tab", name=re.compile("About|Operator|Host")).first.click()
        canvas.operator("filter").click()
        page.locator("#operator-id").fill(text)
        expect(page.get_by_test_id("inspector").get_by_text("This is not a valid id.")).to_be_visible()
        page.locator("#operator-id").press("Escape")
        page.locator("#form-query-operators-2-params_predicate").fill(text)
        page.keyboard.press("Escape")
        page.get_by_role("button", name=re.compile("^Hosts")).click()
        page.locator("[data-place]").fill(text)
        page.locator("[data-place]").press("Enter")
        page.get_by_label("Search the palette").fill(text)
        page.get_by_label("Search the palette").press("Escape")
        page.locator(".host").first.click()
        page.get_by_test_id("inspector").get_by_label(re.compile("^Name")).fill(text)
        expect(page.get_by_test_id("problems-button")).to_contain_text("Problems")
        page.get_by_test_id("problems-button").click()
        expect(page.get_by_test_id("problems")).to_be_visible()
        canvas.wait_until_saved()
        assert page.evaluate("window.owned") is None
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    stored = api.get(f"/api/experiments/{experiment_id}").json()["document"]
    assert stored["name"] == STRANGE[-1]
    page.reload()
    expect(page.get_by_label("Name of the experiment")).to_have_value(STRANGE[-1])


def test_a_document_of_tomorrow_is_shown_and_kept(canvas: Canvas, page: Page, experiment: Callable[..., str], api: httpx.Client) -> None:
    """Kinds, fields and a format that this page does not know; and a data set that is gone."""

    def grow(document: dict[str, Any]) -> None:
        document["format"] = 99
        document["sketches"] = [{"of": "tomorrow"}]
        document["policies"]["tides"] = {"kind": "spring", "height_m": 3}
        join = next(one for one in document["query"]["operators"] if one["id"] == "join")
        join["kind"] = "quantum_join"
        document["workload"]["sources"]["persons"]["stream"] = {"kind": "file", "dataset": "gone.csv", "timestamp": "time"}

    experiment_id = experiment(grow)
    canvas.open(experiment_id)
    expect(page.locator("[data-testid^='edge-']")).to_have_count(4)
    canvas.operator("join").click()
    expect(page.get_by_test_id("inspector")).to_contain_text("does not know the operator kind")
    page.get_by_test_id("problems-button").click()
    expect(page.get_by_test_id("problems")).to_contain_text("99")
    canvas.operator("sink").click()
    page.get_by_label("One more", exact=True).click()
    canvas.wait_until_saved()
    stored = api.get(f"/api/experiments/{experiment_id}").json()["document"]
    assert stored["sketches"] == [{"of": "tomorrow"}]
    assert stored["policies"]["tides"] == {"kind": "spring", "height_m": 3}

    def lose(document: dict[str, Any]) -> None:
        document["workload"]["sources"]["persons"]["stream"] = {"kind": "file", "dataset": "gone.csv", "timestamp": "time"}

    canvas.open(experiment(lose))
    page.get_by_test_id("run").click(force=True)
    expect(page.get_by_test_id("problems")).to_contain_text("gone.csv")
    expect(page.locator("#operator-id")).to_have_value("persons")


def test_a_new_policy_with_a_new_kind_of_parameter_has_its_form(canvas: Canvas, page: Page, experiment: Callable[..., str]) -> None:
    """The page is told of a policy by the registry and the schema alone; it offers every parameter, also of a type unknown to it."""
    parameters = {
        "depth_m": {"type": "number", "default": 2.5, "minimum": 1, "maximum": 9, "x-unit": "fathoms", "description": "How deep it is."},
        "moods": {"type": "array", "items": {"enum": ["calm", "rough"], "type": "string"}},
        "shape": {"type": "hologram", "description": "A type of tomorrow."},
        "gentle": {"type": "boolean", "default": True},
        "phase": {"oneOf": [{"type": "string"}, {"type": "number"}]},
    }
    schema = {"type": "object", "additionalProperties": False, "properties": parameters}
    kind = {"kind": "spring", "title": "Spring tide", "family": "tides", "group": "", "icon": "", "inputs": [], "outputs": []}
    kind |= {"doc": "The highest tide.", "source": "Tidal streams, section 4.2", "schema": schema}

    def registry(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"tides": [kind]})

    def document_schema(route: Route) -> None:
        answer = route.fetch()
        json = answer.json()
        json["$defs"]["Policies"]["properties"]["tide"] = {
            "default": {"kind": "spring"},
            "title": "Tide",
            "description": "The moon's part.",
        }
        route.fulfill(response=answer, json=json)

    page.route("**/api/registry", registry)
    page.route("**/api/schema", document_schema)
    canvas.open(experiment())
    page.get_by_role("tab", name="Policies").click()
    panel = page.get_by_test_id("inspector")
    expect(panel.get_by_role("button", name=re.compile("^Tide"))).to_contain_text("Spring tide")
    for text in (
        "The highest tide.",
        "Tidal streams, section 4.2",
        "fathoms",
        "default 2.5, 1 to 9",
        "How deep it is.",
        "A type of tomorrow.",
    ):
        expect(panel).to_contain_text(text)
    panel.get_by_label("Depth").fill("4")
    panel.get_by_label("Shape").fill('{"sides": 7}')
    panel.get_by_label("Phase").fill("first quarter")
    panel.get_by_label("Gentle").uncheck()
    panel.get_by_role("button", name="Add mood").click()
    canvas.wait_until_saved()
    kept = page.evaluate("id => fetch(`/api/experiments/${id}`).then(answer => answer.json())", page.url.rsplit("/", 1)[-1])
    tide = kept["document"]["policies"]["tide"]
    assert {name: tide[name] for name in ("kind", "depth_m", "shape", "gentle", "phase")} == {
        "kind": "spring",
        "depth_m": 4,
        "shape": {"sides": 7},
        "gentle": False,
        "phase": "first quarter",
    }


def test_a_session_that_ends_loses_nothing(
    new_context: Callable[..., BrowserContext],
    experiment: Callable[..., str],
    api: httpx.Client,
) -> None:
    """Edits stay in the page, and in this browser when the page is closed; signed in again they are saved."""
    context = new_context()
    page = context.new_page()
    canvas = Canvas(page)
    experiment_id = experiment()
    canvas.open(experiment_id)
    canvas.operator("filter").click()
    page.wait_for_load_state("networkidle")  # what is still asked for would bring the dialog before the edit
    cookies = context.cookies()
    context.clear_cookies(name=re.compile("^millrace_"))
    page.keyboard.press("Delete")
    dialog = page.get_by_role("dialog", name="Your session has ended")
    expect(dialog).to_be_visible()
    expect(canvas.operator("filter")).to_have_count(0)
    context.add_cookies(cookies)  # type: ignore[arg-type]
    dialog.get_by_role("button", name="I am signed in now").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_test_id("saved")).to_have_attribute("data-state", "saved")
    assert "filter" not in str(api.get(f"/api/experiments/{experiment_id}").json()["document"]["query"])

    context.clear_cookies(name=re.compile("^millrace_"))
    page.get_by_label("Name of the experiment").fill("edited without a session")
    expect(page.get_by_test_id("saved")).to_have_attribute("data-state", "failed")
    page.close()
    context.add_cookies(cookies)  # type: ignore[arg-type]
    canvas = Canvas(context.new_page())
    canvas.open(experiment_id)
    expect(canvas.page.get_by_label("Name of the experiment")).to_have_value("edited without a session")
    canvas.wait_until_saved()
    assert api.get(f"/api/experiments/{experiment_id}").json()["document"]["name"] == "edited without a session"


def test_two_tabs_see_each_other_s_edits_as_a_difference(new_page: Callable[..., Page], experiment: Callable[..., str]) -> None:
    one, two = Canvas(new_page()), Canvas(new_page())
    experiment_id = experiment()
    one.open(experiment_id)
    two.open(experiment_id)
    one.page.get_by_label("One instance more of sink").dispatch_event("click")
    one.wait_until_saved()
    two.operator("filter").click()
    two.page.keyboard.press("Delete")
    expect(two.page.get_by_test_id("conflict")).to_be_visible()
    two.page.get_by_role("button", name="Compare versions").click()
    rows = two.page.get_by_role("dialog").get_by_role("row")
    expect(rows.filter(has_text="sink: Parallelism")).to_have_count(1)
    expect(rows.filter(has_text=re.compile("^join: "))).to_have_count(0)
    two.page.keyboard.press("Escape")
    two.page.get_by_role("button", name="Take theirs").click()
    expect(two.operator("filter")).to_be_visible()
    expect(two.page.get_by_test_id("parallelism-sink")).to_have_text("×5")


# --- five hundred operators ---------------------------------------------------------------------------------------------------------------


@pytest.mark.deep
def test_five_hundred_operators_are_moved_and_searched(canvas: Canvas, page: Page, experiment: Callable[..., str]) -> None:
    canvas.open(experiment(large_query))
    canvas.operator("filter-12-10").wait_for()
    expect(page.get_by_test_id("problems-button")).to_have_text("Valid")
    view = page.locator(".react-flow__viewport")
    before = view.get_attribute("style") or ""
    page.mouse.move(600, 300)
    page.mouse.wheel(200, 100)
    expect(view).not_to_have_attribute("style", before)
    page.get_by_label("Fit", exact=True).click()
    page.keyboard.press("Control+f")
    page.keyboard.type("filter-17-3")
    page.keyboard.press("Enter")
    expect(page.locator("#operator-id")).to_have_value("filter-17-3")
    expect(page.locator("[data-testid^='edge-']").first).to_be_visible()


MIDDLE_OF_EDGE = """([source, target]) => {
  const middle = (id) => {
    const { left, top, width, height } = document.querySelector(`[data-testid="operator-${id}"]`).getBoundingClientRect();
    return [left, left + width, top + (39 / 75) * height];
  };
  const [, right, from] = middle(source), [left, , to] = middle(target);
  return [(left + right) / 2, (from + to) / 2];
}"""


@pytest.mark.deep
def test_edges_of_a_large_query_are_selected_by_mouse_and_by_key(canvas: Canvas, page: Page, experiment: Callable[..., str]) -> None:
    """Edges that are drawn together are no elements of the page; a click and keys select them all the same, from afar and from near."""
    canvas.open(experiment(large_query))
    expect(page.get_by_test_id("problems-button")).to_have_text("Valid")
    title, panel = page.get_by_role("tab", name="Edge"), page.get_by_test_id("inspector")
    x, y = page.evaluate(MIDDLE_OF_EDGE, ["filter-8-0", "filter-9-0"])
    page.mouse.click(x, y)
    expect(title).to_be_visible()
    expect(panel.locator(".doc").first).to_have_text("filter-8-0 → filter-9-0")
    expect(page.locator(".edge-layer .selected")).to_have_attribute("d", re.compile("^M"))
    page.mouse.click(x, y - 20)
    expect(title).to_have_count(0)

    page.keyboard.press("Control+f")
    page.keyboard.type("filter-8-10")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press(".")
    expect(page.get_by_test_id("edge-filter-8-10-filter-9-10")).to_be_focused()
    for target in ("filter-9-13", "filter-9-16", "filter-9-19"):
        page.keyboard.press(".")
        expect(panel.locator(".doc").first).to_have_text(f"filter-8-10 → {target}")
    page.keyboard.press(",")
    expect(panel.locator(".doc").first).to_have_text("filter-8-10 → filter-9-16")
    page.keyboard.press("Control+ArrowRight")
    expect(page.locator("#operator-id")).to_have_value("filter-9-16")


def test_all_of_a_very_long_query_fits(canvas: Canvas, page: Page, experiment: Callable[..., str]) -> None:
    def lengthen(document: dict[str, Any]) -> None:
        large_query(document)
        document["ui"]["positions"] = {one["id"]: {"x": 192 * at, "y": 0} for at, one in enumerate(document["query"]["operators"])}

    canvas.open(experiment(lengthen))
    stage = canvas.stage.bounding_box()
    first, last = canvas.operator("source-0-0").bounding_box(), canvas.operator("sink-24-19").bounding_box()
    assert stage is not None
    assert first is not None
    assert last is not None
    assert first["x"] > stage["x"]
    assert last["x"] + last["width"] < stage["x"] + stage["width"]
    fitted = canvas.view()
    page.mouse.move(600, 300)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    until(lambda: canvas.view() != fitted, "the wheel has made the query larger", page)
    page.keyboard.up("Control")
    page.get_by_label("Fit", exact=True).click()
    canvas.wait_until_still()
    assert canvas.operator("sink-24-19").bounding_box() == pytest.approx(last, abs=1)


@pytest.mark.deep
def test_the_layout_of_a_large_query_leaves_the_page_alone_and_can_be_stopped(
    canvas: Canvas, page: Page, experiment: Callable[..., str]
) -> None:
    """It works beside the page: frames go on; Cancel leaves all as it was; what it did is one step."""
    canvas.open(experiment(large_query))
    before = canvas.operator("filter-12-10").bounding_box()
    page.keyboard.press("l")
    note = page.get_by_test_id("arranging")
    expect(note).to_contain_text("Laying out 500 operators")
    note.get_by_role("button", name="Cancel").click()
    expect(note).to_have_count(0)
    canvas.wait_until_still()
    assert canvas.operator("filter-12-10").bounding_box() == before
    expect(page.get_by_label("Undo")).to_be_disabled()

    page.keyboard.press("l")
    expect(note).to_be_visible()
    expect(note).to_have_count(0)
    # One step: had the layout that was stopped gone on, it would have ended by now as well.
    expect(page.get_by_label("Undo")).to_have_attribute("title", re.compile("1 steps"))
    until(lambda: canvas.operator("filter-12-10").bounding_box() != before, "the layout is shown", page)
    page.keyboard.press("Control+z")
    expect(page.get_by_label("Undo")).to_be_disabled()
