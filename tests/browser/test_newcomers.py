"""A package from outside brings a policy and an operator with parameters of new types: found in API, palette and inspector, and obeyed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from playwright.sync_api import Browser, Page, expect

from tests.conftest import running_installation
from tests.support.patience import PATIENCE_S
from tests.support.plugins import KINDS, installed

from .axe import assert_accessible
from .canvas import Canvas

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """An installation whose processes find the package among those that are installed."""
    from launcher.environment import built_frontend

    built_frontend()
    package = tmp_path_factory.mktemp("package")
    installed(package)
    with running_installation(tmp_path_factory.mktemp("extended"), PYTHONPATH=str(package)) as installation:
        yield installation


@pytest.fixture
def visitor(extended: Any, browser: Browser) -> Iterator[Page]:
    context = browser.new_context(base_url=extended.url, viewport={"width": 1280, "height": 800})
    faults: list[str] = []
    context.on("weberror", lambda error: faults.append(str(error.error)))
    page = context.new_page()
    page.goto(extended.manage("signin_url", "--base", extended.url))
    page.get_by_test_id("stage").wait_for()
    page.get_by_role("button", name="No, thanks").click()
    yield page
    context.close()
    assert not faults, faults


@pytest.fixture
def api_of_extended(extended: Any) -> Iterator[httpx.Client]:
    token = extended.manage("api_token", "newcomers").split()[-1]
    with httpx.Client(base_url=extended.url, headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE_S, trust_env=False) as client:
        yield client


def bids_on_edge_and_cloud() -> dict[str, Any]:
    """NexMark Q1 on four hosts, two of them at the edge."""
    document: dict[str, Any] = yaml.safe_load((ROOT / "fixtures" / "experiments" / "nexmark_q1.yaml").read_text())
    document["name"] = "Edge and cloud"
    document["workload"].update(horizon_s=4.0, warmup_s=0.0)
    host = document["cluster"]["hosts"][0] | {"count": 2}
    document["cluster"]["hosts"] = [host | {"name": "edge", "group": "edge"}, host | {"name": "cloud", "group": "cloud"}]
    return document


def frames_of(api: httpx.Client, page: Page) -> list[dict[str, Any]]:
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded")
    answer: dict[str, Any] = api.get(f"/api/runs/{page.url.rsplit('/', 1)[-1].split('?')[0]}/frames").json()
    frames: list[dict[str, Any]] = answer["frames"]
    return frames


@pytest.mark.deep
def test_a_newcomers_policy_and_operator_are_found_and_obeyed(visitor: Page, api_of_extended: httpx.Client) -> None:
    api, page, canvas = api_of_extended, visitor, Canvas(visitor)
    registry = api.get("/api/registry").json()
    assert "weighted" in [kind["kind"] for kind in registry["placements"]]
    assert "band" in [kind["kind"] for kind in registry["operators"]]
    assert "weighted" in api.get("/api/schema").json()["properties"]["placement"]["discriminator"]["mapping"]
    experiment = api.post("/api/experiments", json={"document": bids_on_edge_and_cloud()}).json()["id"]
    canvas.open(experiment)

    # the policy: in the list of its family, with its text, its source, and a form for its parameter
    canvas.stage.click(position={"x": 5, "y": 5})
    inspector = page.get_by_test_id("inspector")
    page.get_by_role("tab", name="Policies").click()
    inspector.get_by_label("Placement").select_option(label="Weighted groups")
    expect(inspector).to_contain_text("Instances over the groups of hosts in the given shares")
    expect(inspector).to_contain_text("Newcomer et al., section 3")
    shares = inspector.get_by_role("group", name="Shares")
    shares.get_by_placeholder("name").fill("egde")
    shares.get_by_role("button", name="Add").click()
    expect(inspector).to_contain_text("did you mean 'edge'?")
    shares.get_by_role("button", name="Remove egde").click()
    shares.get_by_placeholder("name").fill("edge")
    shares.get_by_placeholder("name").press("Enter")
    shares.get_by_role("spinbutton", name="edge").fill("3")
    expect(page.get_by_test_id("problems-button")).to_have_text("Valid")
    assert_accessible(page)

    # the operator: in the palette, with a form for its parameters; in the place of the map
    canvas.operator("euros").click()
    page.keyboard.press("Delete")
    palette = page.get_by_label("Search the palette")
    palette.fill("band")
    page.get_by_test_id("palette-operator-band").dblclick()
    palette.press("Escape")
    canvas.operator("band").wait_for()
    canvas.operator("band").click()
    page.locator("#operator-parallelism").fill("4")
    page.get_by_test_id("inspector").get_by_role("button", name="One less").click()
    expect(page.locator("#operator-parallelism")).to_have_value("3")
    page.get_by_test_id("inspector").get_by_role("button", name="One more").click()
    document = api.get(f"/api/experiments/{experiment}").json()
    canvas.wait_until_saved()
    document = api.get(f"/api/experiments/{experiment}").json()["document"]
    assert document["placement"] == {"kind": "weighted", "shares": {"edge": 3}}
    assert [operator["id"] for operator in document["query"]["operators"] if operator["parallelism"] == 4] == ["bids", "sink", "band"]
    connect(page, canvas, "bids", "band")
    connect(page, canvas, "band", "sink")
    canvas.operator("band").click()
    inspector.get_by_label("Field").select_option("price")
    bounds = inspector.locator("[data-pointer='/query/operators/2/params/bounds'] input")
    expect(bounds).to_have_count(2)
    expect(inspector).to_contain_text("Least and greatest value that passes")
    inspector.get_by_label("Bounds 1").fill("0")
    bounds.nth(1).fill("1000000000000")
    expect(page.get_by_test_id("problems-button")).to_have_text("Valid")

    assert_accessible(page)

    # what they do is in the result: all records, at the edge alone; then none of them
    canvas.wait_until_saved()
    canvas.run()
    everything = frames_of(api, page)
    busy = {name: any(frame["hosts"][name]["busy"] for frame in everything) for name in everything[0]["hosts"]}
    assert busy == {"edge1": True, "edge2": True, "cloud1": False, "cloud2": False}
    delivered = sum(frame["latency_ms"]["count"] for frame in everything)
    assert delivered > 1000

    page.goto(f"/experiments/{experiment}")
    canvas.operator("band").click()
    bounds.nth(1).fill("0")
    expect(page.get_by_test_id("problems-button")).to_have_text("Valid")
    canvas.wait_until_saved()
    canvas.run()
    assert sum(frame["latency_ms"]["count"] for frame in frames_of(api, page)) == 0


def connect(page: Page, canvas: Canvas, source: str, target: str) -> None:
    """By the inspector's own field."""
    canvas.operator(source).click()
    expect(page.locator("#operator-id")).to_have_value(source)  # the other operator's fields are gone
    page.get_by_role("button", name=re.compile("^Connect")).click()
    page.locator("[data-connect]").select_option(label=target)
    expect(page.get_by_test_id(f"edge-{source}-{target}")).to_be_attached()


IN_A_DOCUMENT: dict[str, tuple[list[str | int], Any, str]] = {
    "operators": (["query", "operators", 1], {"id": "euros", "kind": "band", "params": {"field": "price", "bounds": [0, 9]}}, "Field"),
    "checkpointings": (["policies", "checkpointing"], {"kind": "growing", "growth": 3}, "Growth"),
    "scalings": (["policies", "scaling"], {"kind": "backlog", "records_per_instance": 1000}, "Per instance"),
    "placements": (["placement"], {"kind": "weighted", "shares": {"edge": 1}}, "edge"),
    "faults": (
        ["faults"],
        [{"kind": "hot_host", "host": "edge1", "when": {"kind": "at", "at_s": 1}, "for_ms": 500, "step_ms": 90}],
        "Step",
    ),
    "rates": (["workload", "sources", "bids", "rate"], {"kind": "sawtooth", "top_per_s": 400, "every_s": 4}, "Top"),
}
"""By family where a document has the newcomer, what stands there, and the label of one of its parameters."""


@pytest.mark.deep
def test_every_kind_of_the_package_is_in_the_api_and_in_help(visitor: Page, api_of_extended: httpx.Client) -> None:
    registry = api_of_extended.get("/api/registry").json()
    for family, entries in KINDS.items():
        for entry in entries:
            name = entry.partition(" = ")[0]
            kind = next(kind for kind in registry[family] if kind["kind"] == name)
            visitor.goto(f"/help/{family}/{name}")
            expect(visitor.get_by_role("heading", name=kind["title"], exact=True).first).to_be_visible()


@pytest.mark.deep
@pytest.mark.parametrize("family", IN_A_DOCUMENT)
def test_a_study_varies_the_parameters_of_a_kind_of_the_package(visitor: Page, api_of_extended: httpx.Client, family: str) -> None:
    path, value, label = IN_A_DOCUMENT[family]
    document = bids_on_edge_and_cloud()
    holder: Any = document
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = value
    experiment = api_of_extended.post("/api/experiments", json={"document": document}).json()["id"]
    visitor.goto(f"/studies/new?experiment={experiment}")
    visitor.get_by_test_id("start-study").wait_for()
    visitor.keyboard.press("a")
    visitor.keyboard.type(label)
    expect(visitor.get_by_test_id("fields").get_by_text(label).first).to_be_visible()
