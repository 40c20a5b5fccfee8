"""An experiment of one's own, drawn on an empty canvas from the palette alone: it runs, gives output, or says why not."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from .axe import assert_accessible
from .canvas import Canvas


def stored(api: httpx.Client, page: Page) -> dict[str, Any]:
    document: dict[str, Any] = api.get(f"/api/experiments/{page.url.rsplit('/', 1)[-1].split('?')[0]}").json()["document"]
    return document


def test_a_windowed_join_from_the_palette_gives_output(canvas: Canvas, page: Page, api: httpx.Client) -> None:
    """Persons and auctions, joined in windows: after the keys and the length of the window nothing is missing."""
    canvas.new()
    to_do = page.get_by_test_id("problems-button")
    expect(to_do).to_have_text("To do 2")
    expect(to_do.locator(".err, .warn")).to_have_count(0)
    canvas.drag_from_palette("stream-nexmark_person", 90, 60)
    canvas.drag_from_palette("stream-nexmark_auction", 90, 180)
    canvas.drag_from_palette("operator-window_join", 330, 120)
    canvas.drag_from_palette("operator-sink", 560, 120)
    canvas.connect("persons", "window_join", "left")
    canvas.connect("auctions", "window_join", "right")
    canvas.connect("window_join", "sink")
    canvas.operator("window_join").click()
    inspector = page.get_by_test_id("inspector")
    expect(inspector.locator(".remark.todo").first).to_have_text("choose a left key")
    expect(inspector.locator(".remark.err")).to_have_count(0)
    page.get_by_test_id("run").click(force=True)  # from now on, what is missing is wrong
    expect(page.get_by_test_id("problems")).to_contain_text("window_join: choose a left key")
    expect(inspector.locator(".remark.err").first).to_have_text("choose a left key")
    inspector.get_by_label("Left key").select_option("id")
    inspector.get_by_label("Right key").select_option("seller")
    inspector.get_by_label(re.compile("^Size")).fill("5")  # at the instant in which the edges follow the keys
    for label in ("hash(id)", "hash(seller)"):
        expect(page.get_by_test_id("stage").get_by_text(label, exact=True)).to_be_visible()
    expect(page.get_by_test_id("problems-button")).to_have_text("Valid")
    canvas.wait_until_saved()

    document = stored(api, page)
    (join,) = (operator for operator in document["query"]["operators"] if operator["kind"] == "window_join")
    assert join["params"]["window"]["kind"] == "tumbling"
    sources = document["workload"]["sources"]
    assert {source["watermarks"]["kind"] for source in sources.values()} == {"bounded"}
    assert sources["auctions"]["rate"]["per_s"] == 3 * sources["persons"]["rate"]["per_s"]

    canvas.run()
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")
    frames = api.get(f"/api/runs/{page.url.rsplit('/', 1)[-1].split('?')[0]}/frames").json()["frames"]
    assert sum(frame["latency_ms"]["count"] for frame in frames) > 1000


class Hand:
    """Does one thing after another, and counts them."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas, self.page, self.actions = canvas, canvas.page, 0

    def drag(self, item: str, x: float, y: float) -> None:
        self.actions += 1
        self.canvas.drag_from_palette(item, x, y)

    def connect(self, source: str, target: str, port: str = "in") -> None:
        self.actions += 1
        self.canvas.connect(source, target, port)

    def place(self, operator: str, host: str) -> None:
        self.actions += 1
        self.canvas.place(operator, host)

    def click(self, what: Locator) -> None:
        self.actions += 1
        what.click()

    def choose(self, pointer: str, option: str) -> None:
        """A value of a field of the inspector, by where it lies in the document."""
        self.actions += 1
        self.page.locator(f"[data-pointer='{pointer}'] select").first.select_option(option)

    def adopt(self, policy: str, kind: str) -> None:
        self.actions += 1
        self.page.get_by_test_id("inspector").get_by_label(policy, exact=True).select_option(kind)

    def fill(self, pointer: str, text: str) -> None:
        self.actions += 1
        field = self.page.locator(f"[data-pointer='{pointer}'] :is(input, textarea)")
        field.fill(text)
        field.press("Tab")


@pytest.mark.deep
def test_a_newcomer_draws_a_whole_experiment_in_sixty_actions(canvas: Canvas, page: Page, api: httpx.Client) -> None:
    """Two skewed sources, a filter, a join in windows and an aggregate on six hosts of two regions; checkpoints, a lost host, and DS2."""
    canvas.new()
    hand = Hand(canvas)
    hand.actions += 1
    for item, x, y in (
        ("stream-nexmark_person", 60, 40),
        ("stream-nexmark_auction", 60, 160),
        ("operator-filter", 230, 40),
        ("operator-window_join", 400, 100),
        ("operator-aggregate", 560, 100),
        ("operator-sink", 700, 100),
    ):
        hand.drag(item, x, y)
    hand.connect("persons", "filter")
    hand.connect("filter", "window_join", "left")
    hand.connect("auctions", "window_join", "right")
    hand.connect("window_join", "aggregate")
    hand.connect("aggregate", "sink")

    operators = {operator: f"/query/operators/{at}/params" for at, operator in enumerate(("", "", "filter", "window_join", "aggregate"))}
    hand.click(canvas.operator("auctions"))
    hand.fill("/workload/sources/auctions/stream/hot_ratio", "0.3")
    hand.click(canvas.operator("filter"))
    hand.fill(f"{operators['filter']}/predicate", "state != 'OR'")
    hand.click(canvas.operator("window_join"))
    hand.choose(f"{operators['window_join']}/left_key", "id")
    hand.choose(f"{operators['window_join']}/right_key", "seller")
    hand.fill(f"{operators['window_join']}/window/size_s", "1")
    hand.click(canvas.operator("aggregate"))
    hand.choose(f"{operators['aggregate']}/key", "state")

    hand.click(page.get_by_test_id("host-w1"))
    hand.fill("/cluster/hosts/0/count", "3")
    hand.drag("host-edge", 600, 420)
    hand.fill("/cluster/hosts/1/count", "3")
    hand.fill("/cluster/hosts/1/speed", "0.5")
    hand.click(page.get_by_role("button", name="Link regions"))
    hand.fill("/cluster/region_links/0/latency_ms", "20")
    hand.fill("/cluster/region_links/0/mbit_per_s", "100")

    hand.click(page.get_by_role("tab", name="Policies"))
    hand.adopt("Checkpointing", "Coordinated")
    hand.fill("/policies/checkpointing/interval_s", "5")
    hand.adopt("Scaling", "DS2")
    hand.fill("/policies/scaling/start_s", "10")
    hand.fill("/policies/scaling/every_s", "10")
    hand.click(page.get_by_role("tab", name="Faults"))
    hand.click(page.get_by_test_id("no-faults").get_by_role("button", name="Host loss"))
    hand.click(page.get_by_test_id("problems-button"))
    lost = page.get_by_test_id("problems").get_by_role("listitem").filter(has_text="host 'w1' is lost permanently")
    hand.click(lost.get_by_role("button", name="Show field"))
    expect(page.locator("[data-pointer='/faults/0/restart_after_s'] input")).to_be_focused()
    hand.fill("/faults/0/restart_after_s", "2")
    expect(page.get_by_test_id("problems-button")).to_have_text("Valid")
    canvas.wait_until_saved()
    hand.actions += 1
    canvas.run()
    assert hand.actions <= 60
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")
    frames = api.get(f"/api/runs/{page.url.rsplit('/', 1)[-1].split('?')[0]}/frames").json()["frames"]
    assert sum(frame["latency_ms"]["count"] for frame in frames) > 1000
    expect(page.get_by_test_id("no-output")).to_have_count(0)


def test_the_palette_is_one_stop_and_its_hosts_have_names(canvas: Canvas, page: Page) -> None:
    """The arrow keys move within the palette, Tab leaves it; a second host has the next name; a host's card gives its speed."""
    canvas.new()
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    entries = page.get_by_role("complementary", name="Palette").locator("[data-testid^=palette-]")
    expect(entries.first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(entries.nth(1)).to_be_focused()
    page.keyboard.press("End")
    expect(entries.last).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Templates")).to_be_focused()
    for _ in range(2):
        page.get_by_test_id("palette-host-edge").press("Enter")
    expect(page.get_by_test_id("host-edge1")).to_contain_text("1x")
    expect(page.get_by_test_id("host-edge-b1")).to_be_visible()


def test_a_group_of_the_palette_that_is_folded_stays_folded(canvas: Canvas, page: Page) -> None:
    """The sources fill most of the palette; whoever folds them has the operators at the top, also next time. A search looks into all."""
    canvas.new()
    palette = page.get_by_role("complementary", name="Palette")
    source, sources = page.get_by_test_id("palette-stream-nexmark_person"), palette.locator("summary", has_text="Sources")
    expect(source).to_be_visible()
    sources.click()
    expect(source).to_be_hidden()
    page.wait_for_function("localStorage.getItem('millrace.palette.folded') === 'Sources'")  # the browser tells of a fold a little later
    page.reload()
    expect(page.get_by_test_id("palette-operator-filter")).to_be_in_viewport()
    expect(source).to_be_hidden()
    palette.get_by_label("Search the palette").fill("persons")
    expect(source).to_be_visible()
    palette.get_by_label("Search the palette").fill("")
    sources.press("Enter")
    expect(source).to_be_visible()


def test_a_long_form_folds_what_is_advanced(canvas: Canvas, page: Page, experiment: Callable[..., str]) -> None:
    """DS2 with coordinated checkpoints: few fields stand open, the rest is one click away."""
    canvas.open(experiment())
    page.get_by_label("Inspector").get_by_role("tab", name="Policies").click()
    inspector = page.get_by_test_id("inspector")
    inspector.get_by_label("Checkpointing", exact=True).select_option("Coordinated")
    inspector.get_by_label("Scaling", exact=True).select_option("DS2")
    fields = inspector.locator("input:visible, select:visible")
    expect(inspector.locator("details.advanced").first).to_be_visible()
    open_fields = fields.count()
    for fold in inspector.locator("details.advanced > summary").all():
        fold.click()
    assert fields.count() > open_fields
    assert open_fields <= 20


def test_a_text_that_is_no_number_is_refused_at_its_field(
    canvas: Canvas, page: Page, api: httpx.Client, experiment: Callable[..., str]
) -> None:
    canvas.open(experiment())
    page.get_by_label("Inspector").get_by_role("tab", name="Workload").click()
    inspector = page.get_by_test_id("inspector")
    horizon = inspector.get_by_role("spinbutton", name=re.compile("^Horizon"))
    horizon.fill("20")
    for text, sentence in (
        ("1,5", "1,5 is not a number; write 1.5."),
        ("abc", "abc is not a number."),
        ("1e400", "1e400 is too large for a number."),
    ):
        horizon.fill(text)
        expect(horizon).to_have_value(text)
        expect(inspector.get_by_role("alert")).to_have_text(sentence)
        expect(page.get_by_test_id("run")).to_have_attribute("title", re.compile(f"Cannot run yet: Horizon: {re.escape(sentence)}"))
    page.get_by_test_id("run").click(force=True)
    expect(horizon).to_be_focused()
    assert_accessible(page)
    canvas.wait_until_saved()
    assert stored(api, page)["workload"]["horizon_s"] == 20
    horizon.fill("20.50")
    expect(horizon).to_have_value("20.50")
    horizon.press("ArrowUp")
    expect(horizon).to_have_value("21.5")
    expect(inspector.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_test_id("run")).to_have_attribute("aria-disabled", "false")


def test_a_run_without_output_says_why(canvas: Canvas, page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    """An event-time window behind a source without watermarks: a warning before the run, and the reason on the page of the run."""

    def without_watermarks(document: dict[str, Any]) -> None:
        document["workload"].update(horizon_s=2.0, warmup_s=0.0)
        (join,) = (operator for operator in document["query"]["operators"] if operator["id"] == "join")
        join["kind"] = "window_join"
        join["params"] = {"left_key": "id", "right_key": "seller", "window": {"kind": "tumbling", "size_s": 0.5}}
        for source in document["workload"]["sources"].values():
            source.pop("watermarks", None)

    canvas.open(experiment(without_watermarks))
    page.get_by_role("tab", name="Problems").click()
    expect(page.get_by_test_id("problems")).to_contain_text("sends no watermarks")
    canvas.run()
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")
    note = page.get_by_test_id("no-output")
    expect(note).to_contain_text("The sinks received no records. Source 'persons' sends no watermarks")
    assert_accessible(page)


def test_a_double_click_starts_one_run(canvas: Canvas, page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    experiment_id = experiment(lambda document: document["workload"].update(horizon_s=1.0, warmup_s=0.0))
    canvas.open(experiment_id)
    button = page.get_by_test_id("run")
    expect(button).to_have_attribute("aria-disabled", "false")
    button.dblclick()
    page.wait_for_url("**/runs/*")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")
    (line,) = (line for line in api.get("/api/experiments").json() if line["id"] == experiment_id)
    assert line["runs"] == 1
