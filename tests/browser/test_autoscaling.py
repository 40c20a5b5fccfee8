"""Scaling in the browser: what a policy decided and why it did not, rescales over all charts, and a rescale by hand."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import yaml
from playwright.sync_api import Page, expect

from .axe import assert_accessible
from .canvas import Canvas
from .conftest import ROOT
from .reasons import assert_reasons
from .test_run import start
from .waiting import wait_until_ended

Change = Callable[[dict[str, Any]], None]


def sessions(**scaling: Any) -> Change:
    """The study's query of sessions over 25 minutes, under a policy."""

    def change(document: dict[str, Any]) -> None:
        document.clear()
        document.update(yaml.safe_load((ROOT / "fixtures" / "experiments" / "autoscaling_session.yaml").read_text()))
        document["workload"]["horizon_s"] = 1500.0
        document["policies"]["scaling"] = scaling

    return change


TOLD = {"keep": "Nothing to do: ", "order": "A rescale was ordered.", "no_metrics": "Skipped for lack of metrics", "busy": "Skipped: "}
"""Of an iteration, by its verdict, if nothing was aborted."""


def frames_of(api: httpx.Client, run_id: str) -> list[dict[str, Any]]:
    frames: list[dict[str, Any]] = api.get(f"/api/runs/{run_id}/frames?limit=1000").raise_for_status().json()["frames"]
    return frames


def hold(page: Page, run_id: str, t_s: float, panel: str = "autoscaler") -> None:
    page.goto(f"/runs/{run_id}?t={t_s}&panel={panel}")


def test_what_a_policy_decides_is_shown_live_and_afterwards(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    run_id = start(api, experiment(sessions(kind="ds2")), pace=20)
    page.goto(f"/runs/{run_id}?panel=autoscaler")
    why = page.get_by_test_id("why-not")
    expect(why).to_contain_text("Before its first iteration")
    expect(page.get_by_test_id("no-iteration")).to_be_visible()
    assert_accessible(page)
    expect(page.get_by_test_id("iteration")).to_contain_text("Iteration 1")  # it comes by itself
    expect(page.get_by_test_id("vertex-sessions")).to_contain_text("true rate")
    api.post(f"/api/runs/{run_id}/pace", json={"pace": None}).raise_for_status()
    wait_until_ended(api, page, run_id)

    frames = frames_of(api, run_id)
    orders = [one for frame in frames for one in frame["scaling"]["decisions"] if one["verdict"] == "order"]
    told = [one for frame in frames for one in frame["scaling"]["actions"]]
    done = [one for one in told if one["outcome"] == "done"]
    assert orders
    assert done
    first, order = done[0], orders[0]
    changed = [id for id, p in first["after"].items() if p != first["before"][id]]
    before, after = first["before"][changed[0]], first["after"][changed[0]]

    # The order, in four columns, and not yet what came of it.
    held = next(frame for frame in frames if frame["t_s"] >= order["t_s"])
    hold(page, run_id, held["t_s"])
    row = page.get_by_test_id(f"vertex-{changed[0]}")
    expect(row).to_contain_text(f"×{before}")
    expect(row).to_contain_text("optimum")
    expect(row).to_contain_text(f"advice{order['advice'][changed[0]]}")
    expect(row.get_by_role("cell").last).to_contain_text(f"{before} → {after}")
    expect(row.get_by_role("cell").last).to_contain_text("in progress")
    expect(page.get_by_test_id(f"parallelism-{changed[0]}")).to_have_count(1)
    page.get_by_role("button", name="Next iteration").press("Enter")
    expect(page.get_by_test_id("iteration")).to_contain_text("Iteration 2")

    # Bands lie over all charts; the staircase has its step where the arrangement took place.
    for chart in ("latency", "throughput", "workers"):
        expect(page.get_by_test_id(f"chart-{chart}").get_by_test_id("band-1")).to_have_count(1)
    page.get_by_role("button", name="Instances: table").press("Enter")
    steps = page.get_by_test_id("chart-workers").get_by_role("row")
    expect(steps.filter(has_text=f"{first['arranged_s']:.2f}")).to_have_count(1)
    page.get_by_role("button", name="Instances: chart").press("Enter")
    hold(page, run_id, next(frame["t_s"] for frame in frames if frame["t_s"] > first["ended_s"]))
    expect(page.get_by_test_id("workers-now")).to_have_text(f"{sum(first['after'].values())} of at most 70")
    expect(page.get_by_test_id("band-keys")).to_have_text("rescaledown")
    expect(page.get_by_test_id("workers-policy")).to_have_text("DS2")

    # A pointer on a band is told the parts of its time.
    box = page.get_by_test_id("chart-latency").get_by_test_id("band-1").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.get_by_test_id("band-card")).to_contain_text(re.compile(r"Rescale 1.*drain.*store.*restart.*fetch.*down"))
    page.mouse.move(1, 1)

    # In the cooldown nothing happens, and the page says why.
    cooling = next(frame for frame in frames if frame["scaling"]["state"] == "cooldown")
    hold(page, run_id, cooling["t_s"])
    expect(why).to_contain_text(f"Cooldown after the order at {order['t_s']:g} s, until {cooling['scaling']['until_s']:g} s")
    expect(why).to_contain_text("the policy reads no metrics and makes no decisions")
    rows = page.get_by_test_id("rescales").get_by_role("row")
    expect(rows).to_have_count(1 + len({one["number"] for one in told}))
    expect(page.get_by_test_id("rescales").locator("[aria-current]")).to_contain_text(f"{order['t_s']:g} s")
    expect(rows.last.get_by_role("cell").nth(4)).to_have_text(drain_told(frames, first))
    assert_accessible(page)
    assert_reasons(page)

    page.get_by_role("tab", name="Events").click()
    expect(page.get_by_test_id("events")).to_contain_text("Rescale 1 ordered by the policy")
    expect(page.get_by_test_id("events")).to_contain_text("Rescale 1 done")
    page.get_by_role("tab", name="Summary").click()
    summary = page.get_by_test_id("summary")
    expect(summary).to_contain_text("Instance hours")
    expect(summary.get_by_role("cell", name="topic wait")).to_have_text("topic waitappend to reading")
    expect(summary.get_by_role("cell", name="topic wait")).to_have_attribute("title", re.compile("over all records"))
    expect(summary.get_by_title(re.compile("^Of the means over 15 s"))).to_contain_text("Wait in topics, p95")

    # The topology has the parallelism of the moment.
    for t_s, p in ((order["t_s"], before), (frames[-1]["t_s"], frames[-1]["scaling"]["parallelism"][changed[0]])):
        hold(page, run_id, t_s, "events")
        expect(page.get_by_test_id(f"parallelism-{changed[0]}")).to_have_text(f"×{p}")

    other = start(api, experiment(sessions(kind="hpa_cpu")))
    wait_until_ended(api, page, other)
    page.goto(f"/compare?runs={run_id},{other}")
    charts = page.get_by_test_id("compare-charts")
    expect(charts.get_by_role("heading", name="Instances")).to_be_visible()
    panel, waiting = charts.bounding_box(), charts.locator(".plot").last.bounding_box()  # a fourth chart has its room, and its axis
    assert panel
    assert waiting
    assert waiting["height"] > 50
    assert waiting["y"] + waiting["height"] + 20 <= panel["y"] + panel["height"]
    assert_accessible(page)


def drain_told(frames: list[dict[str, Any]], action: dict[str, Any]) -> str | re.Pattern[str]:
    """What the list says of the time to drain of the first rescale."""
    later = [one for frame in frames for one in frame["scaling"]["actions"] if one["number"] > action["number"] and one["stopped_s"]]
    next_s = min((one["stopped_s"] for one in later), default=float("inf"))
    for frame in frames:
        low = max(action["lag_before"], frame["offered_per_s"])
        if action["ended_s"] <= frame["t_s"] <= next_s and sum(frame["scaling"]["lag"].values()) <= low:
            took_s = frame["t_s"] - action["ended_s"]
            digits = 0 if took_s >= 100 else 1 if took_s >= 10 else 2
            return f"{round(took_s, digits):g} s"
    return re.compile("^–: (Rescale .* stopped the sources at .*, before it had drained|.* records were waiting at the end of the run)$")


PAINTED = """(share) => {
    const canvas = document.querySelector("[data-testid=chart-workers] canvas");
    const [x, y] = [Math.round(canvas.width * share), Math.round(canvas.height * 0.8)];
    return canvas.getContext("2d").getImageData(x, y, 1, 1).data[3] > 0;
}"""
"""Whether an area of the staircase lies at this share of its width."""


@pytest.mark.deep
def test_the_staircase_goes_on_where_nothing_changes(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    """A step more is no sign of a new frame: there is none in a run that nobody rescales."""
    run_id = start(api, experiment(sessions(kind="manual")), pace=300)
    page.goto(f"/runs/{run_id}")
    expect(page.get_by_test_id("workers-now")).to_have_text("30 of at most 70")
    expect(page.get_by_test_id("virtual-time")).to_contain_text("1500.00")
    assert page.evaluate(PAINTED, 0.5)
    assert page.evaluate(PAINTED, 0.95)


@pytest.mark.deep
def test_a_rescale_that_the_end_of_the_run_cut_off_is_under_way_no_more(
    page: Page, api: httpx.Client, experiment: Callable[..., str]
) -> None:
    run_id = start(api, experiment(sessions(kind="manual", orders=[{"at_s": 150.0, "parallelism": {"sessions": 12}}])), pace=15)
    page.goto(f"/runs/{run_id}?panel=autoscaler")
    why = page.get_by_test_id("why-not")
    expect(why).to_contain_text("Rescale 1 is in progress")
    api.post(f"/api/runs/{run_id}/cancel").raise_for_status()
    expect(why).to_contain_text(re.compile(r"Rescale 1 was still in progress when the run ended, at \d+ s: "))
    row = page.get_by_test_id("rescales").get_by_role("row").last
    for cell in (2, 3, 4):  # down, backlog, time to drain
        expect(row.get_by_role("cell").nth(cell)).to_have_text("–: The run ended first")
    assert_accessible(page)


@pytest.mark.deep
def test_an_aborted_rescale_says_why(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    """An order that a newer one overtakes while it waits for an open rescale."""
    orders = [{"at_s": at_s, "parallelism": {"sessions": p}} for at_s, p in ((150.0, 12), (151.0, 13), (152.0, 14))]
    run_id = start(api, experiment(sessions(kind="manual", orders=orders)))
    wait_until_ended(api, page, run_id)
    told = {one["number"]: one for frame in frames_of(api, run_id) for one in frame["scaling"]["actions"]}
    assert [told[number]["outcome"] for number in (1, 2, 3)] == ["done", "aborted", "done"]
    page.goto(f"/runs/{run_id}?panel=autoscaler")
    expect(page.get_by_test_id("band-keys")).to_have_text("rescaleaborteddown")
    row = page.get_by_test_id("rescales").get_by_role("row").filter(has_text="151 s")
    expect(row).to_contain_text(f"aborted: {told[2]['why']}")
    for cell in (2, 3, 4):  # down, backlog, time to drain
        expect(row.get_by_role("cell").nth(cell)).to_have_text("–: No source stopped")
        expect(row.get_by_role("cell").nth(cell)).to_have_attribute("title", "No source stopped")
    expect(row.get_by_role("cell").last).to_have_text("–: No savepoint was written")
    row.get_by_role("button").press("Enter")
    expect(page.get_by_test_id("virtual-time")).to_contain_text("165.00")  # the frame that covers it
    page.get_by_role("tab", name="Events").click()
    expect(page.get_by_test_id("events")).to_contain_text("Rescale 2 aborted")
    assert_accessible(page)
    assert_reasons(page)


@pytest.mark.deep
def test_a_link_to_any_moment_shows_the_frame_that_covers_it(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    """With its cursor at the end of that frame, as the panels have it; at the right edge the label stays inside."""
    run_id = start(api, experiment(sessions(kind="manual")))
    wait_until_ended(api, page, run_id)
    label = page.get_by_test_id("moment-label")
    for t_s, shown in ((601, "615.00"), (1490, "1500.00"), (9999, "1500.00")):
        page.goto(f"/runs/{run_id}?t={t_s}")
        expect(page.get_by_test_id("virtual-time")).to_contain_text(shown)
        expect(label).to_have_text(f"{shown} s")
        expect(page).to_have_url(re.compile(rf"[?&]t={float(shown):g}$"))
        stack, inner = page.get_by_test_id("time-stack").bounding_box(), label.bounding_box()
        assert stack
        assert inner
        assert inner["x"] + inner["width"] <= stack["x"] + stack["width"]


@pytest.mark.deep
def test_the_transport_bar_fits(new_page: Callable[..., Page], api: httpx.Client, experiment: Callable[..., str]) -> None:
    """All of it, also while a stretch is zoomed into; what has lost its words to the width still has its name."""
    run_id = start(api, experiment(sessions(kind="none")))
    for theme, width in (("light", 1024), ("dark", 1280)):
        page = new_page(width=width, height=768, theme=theme)
        wait_until_ended(api, page, run_id)
        page.goto(f"/runs/{run_id}?t=600&from=300&to=900")
        bar = page.get_by_label("View controls")
        expect(bar.get_by_role("button", name="Whole run")).to_be_visible()
        for name in ("Fork", "Charts", "Speed", "To the end"):
            expect(bar.get_by_role("button", name=name)).to_be_visible()
        boxes = sorted((one.bounding_box() for one in bar.locator("> :not(h2)").all()), key=lambda box: box["x"])
        assert boxes[-1]["x"] + boxes[-1]["width"] <= width
        assert all(one["x"] + one["width"] <= other["x"] for one, other in itertools.pairwise(boxes)), boxes
        assert_accessible(page)


@pytest.mark.deep
def test_iterations_of_one_frame_are_gone_through(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    def change(document: dict[str, Any]) -> None:
        sessions(kind="ds2", cooldown_s=15)(document)
        document.setdefault("measurement", {})["frame_ms"] = 300_000

    run_id = start(api, experiment(change))
    wait_until_ended(api, page, run_id)
    frames = frames_of(api, run_id)
    n = next(n for n, frame in enumerate(frames) if len(frame["scaling"]["decisions"]) >= 3)
    decisions = frames[n]["scaling"]["decisions"]
    times = [one["t_s"] for one in decisions]
    before = sum(len(frame["scaling"]["decisions"]) for frame in frames[:n])
    hold(page, run_id, frames[n]["t_s"])
    shown = page.get_by_test_id("iteration")
    expect(shown).to_contain_text(f"Iteration {before + len(times)} ")
    for back, t_s in enumerate(reversed(times[:-1]), 1):
        page.get_by_role("button", name="Previous iteration").press("Enter")
        expect(shown).to_contain_text(f"Iteration {before + len(times) - back} ")
        expect(page.get_by_title("Show this moment", exact=True)).to_have_text(f"{t_s:g} s")
        expect(page.get_by_test_id("why-not")).to_contain_text(TOLD[decisions[-1 - back]["verdict"]])
    page.get_by_role("button", name="Next iteration").press("Enter")
    expect(shown).to_contain_text(f"Iteration {before + 2} ")
    hold(page, run_id, frames[n + 1]["t_s"])
    expect(shown).to_contain_text(f"Iteration {before + len(times) + len(frames[n + 1]['scaling']['decisions'])} ")

    # What a rescale's time consisted of is there without a pointer, too.
    assert any(frame["scaling"]["actions"] for frame in frames)
    expect(page.get_by_test_id("rescales").get_by_role("row").nth(1)).to_contain_text(re.compile(r"drain .*store .*restart "))
    assert_accessible(page)


@pytest.mark.deep
def test_bottlenecks_are_outlined(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    run_id = start(api, experiment(sessions(kind="dhalion")))
    wait_until_ended(api, page, run_id)
    slow = [one for frame in frames_of(api, run_id) for one in frame["scaling"]["decisions"] if one["bottlenecks"]]
    assert slow, "there was a bottleneck"
    hold(page, run_id, slow[0]["t_s"], "events")
    outlined = page.get_by_test_id(f"topology-{slow[0]['bottlenecks'][0]}")
    expect(outlined).to_have_class(re.compile("bottleneck"))
    expect(outlined).to_have_attribute("title", re.compile("A bottleneck according to the policy"))
    page.get_by_role("tab", name="Autoscaler").click()
    expect(page.get_by_test_id(f"vertex-{slow[0]['bottlenecks'][0]}")).to_contain_text("bottleneck")
    assert_accessible(page)


def test_a_run_is_rescaled_by_hand_and_followed(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    run_id = start(api, experiment(sessions(kind="none")))
    wait_until_ended(api, page, run_id)
    page.goto(f"/runs/{run_id}")
    expect(page.get_by_test_id("chart-latency")).to_be_visible()
    expect(page.get_by_test_id("chart-workers")).to_have_count(0)
    expect(page.get_by_role("tab", name="Autoscaler")).to_have_count(0)
    rescale = page.get_by_test_id("rescale")
    expect(rescale).to_have_attribute("aria-disabled", "true")
    expect(rescale).to_have_attribute("title", "The input ends here: scrub back to a moment before the horizon")
    page.goto(f"/runs/{run_id}?t=150")
    expect(rescale).not_to_have_attribute("aria-disabled", "true")
    rescale.press("Enter")
    go = page.get_by_test_id("rescale-go")
    expect(go).to_be_disabled()
    expect(go).to_have_attribute("title", "No parallelism changed yet")
    in_place = page.get_by_test_id("rescaling-in_place")
    expect(in_place.get_by_role("radio")).to_be_disabled()
    expect(in_place).to_contain_text("is set in an experiment")
    assert_accessible(page)
    assert_reasons(page)
    windows = page.get_by_label("Parallelism of sessions")
    expect(windows).to_have_value("10")
    page.get_by_role("button", name="One instance more of sessions").press("Enter")
    expect(windows).to_have_value("11")
    windows.fill("0")
    expect(go).to_be_disabled()
    windows.fill("130")
    windows.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("128 key groups")  # the server knows
    windows.fill("12")
    windows.press("Enter")
    page.wait_for_url(lambda url: "/runs/" in url and run_id not in url)
    made = page.url.split("/runs/")[-1].split("?")[0]
    wait_until_ended(api, page, made)
    one, other = frames_of(api, run_id), frames_of(api, made)
    told = [one for frame in other for one in frame["scaling"]["actions"]]
    assert (told[-1]["outcome"], told[-1]["after"]["sessions"], told[0]["ordered_s"]) == ("done", 12, 150)
    page.goto(f"/runs/{made}?panel=autoscaler")
    expect(page.get_by_test_id("forked")).to_have_text("Fork at 150.00 s")
    expect(page.get_by_test_id("chart-workers").get_by_test_id("band-1")).to_have_count(1)
    expect(page.get_by_test_id("why-not")).to_contain_text("No policy decides: rescales happen only when ordered. No orders left.")
    expect(page.get_by_test_id("rescales")).to_contain_text("sessions 10 → 12")
    assert len(one) == len(other)
    assert_accessible(page)

    # Where a run is scaled, it is rescaled by hand where scaling is looked at, at the frame that is held.
    expect(page.get_by_test_id("rescale")).to_have_count(2)
    for place in ("chart-workers", "rescales"):
        page.goto(f"/runs/{made}?panel=autoscaler")
        rescale = page.get_by_test_id(place).get_by_test_id("rescale")
        expect(rescale).to_have_attribute("title", "The input ends here: scrub back to a moment before the horizon")
        rescale.hover()  # what lies under the pointer is no choice of a moment
        expect(rescale).to_have_attribute("aria-disabled", "true")
        page.goto(f"/runs/{made}?panel=autoscaler&t=300")
        expect(rescale).to_have_attribute("title", re.compile("at 300.00 s, in a fork of this run"))
        rescale.click()
        expect(page.get_by_role("dialog", name="Rescale at 300.00 s")).to_be_visible()
        expect(page.get_by_label("Parallelism of sessions")).to_have_value("12")
        assert_accessible(page)


def test_what_cannot_be_rescaled_says_why(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    run_id = start(api, experiment(lambda document: document["workload"].update(horizon_s=6.0, warmup_s=1.0)))
    wait_until_ended(api, page, run_id)
    page.goto(f"/runs/{run_id}?t=3")
    expect(page.get_by_test_id("rescale")).to_be_enabled()  # a key does not wait for that, as a click does
    page.get_by_test_id("rescale").press("Enter")
    join = page.get_by_label("Parallelism of filter, join, sink")
    expect(join).to_be_disabled()
    expect(join).to_have_attribute("title", re.compile("stays at 4: .*modulo"))
    expect(page.get_by_label("Parallelism of persons")).to_be_enabled()
    assert_accessible(page)
    assert_reasons(page)


def test_bounds_and_orders_are_edited(page: Page, canvas: Canvas, api: httpx.Client, experiment: Callable[..., str]) -> None:
    id = experiment()
    canvas.open(id)
    page.get_by_role("tab", name="Policies").click()
    page.get_by_label("Scaling", exact=True).select_option(label="DS2")
    bounds = page.locator("[data-pointer='/policies/scaling/operators']")
    bounds.get_by_role("combobox").select_option("join")
    group = bounds.get_by_role("group", name="join")
    group.get_by_label("Minimum").fill("2")
    group.get_by_label("Maximum").fill("6")
    expect(bounds.get_by_role("option", name=re.compile("^join"))).to_have_count(0)
    group.get_by_label("Maximum").fill("1")
    expect(bounds).to_contain_text("Maximum is 1, below min (2); it must be at least min")
    expect(group.locator(".part.err")).to_have_text("Maximum")
    group.get_by_label("Maximum").fill("6")
    expect(group.locator(".part.err")).to_have_count(0)
    page.locator("[data-pointer='/policies/scaling/orders']").get_by_role("button", name="Add order").click()
    page.locator("[data-pointer='/policies/scaling/orders/0/at_s'] input").fill("12")
    order = page.locator("[data-pointer='/policies/scaling/orders/0/parallelism']")
    order.get_by_role("combobox").select_option("join")
    order.get_by_role("spinbutton", name="join").fill("3")
    # What few people change is folded, until one of its fields has a problem.
    few = page.locator("details.advanced", has=page.locator("[data-pointer='/policies/scaling/metrics/window_s']"))
    window = few.locator("[data-pointer='/policies/scaling/metrics/window_s'] input")
    expect(few.locator("summary")).to_contain_text("10 fields")
    expect(window).to_be_hidden()
    few.locator("summary").click()
    window.fill("16")
    expect(few).to_contain_text("Window is 16, but Scrape is 5; Window must be a multiple of Scrape")
    expect(few.locator("summary")).to_contain_text("10 fields, 1 changed")
    page.get_by_role("tab", name="Measure").click()
    page.get_by_role("tab", name="Policies").click()
    expect(window).to_be_visible()
    window.fill("15")
    assert_accessible(page)
    canvas.wait_until_saved()
    scaling = api.get(f"/api/experiments/{id}").json()["document"]["policies"]["scaling"]
    assert scaling["operators"] == {"join": {"min": 2, "max": 6}}
    assert scaling["orders"] == [{"at_s": 12, "parallelism": {"join": 3}}]


def moving(document: dict[str, Any]) -> None:
    document.clear()
    document.update(yaml.safe_load((ROOT / "fixtures" / "experiments" / "moving_operators.yaml").read_text()))


def test_operators_that_move_are_shown_with_their_hosts(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    run_id = start(api, experiment(moving))
    wait_until_ended(api, page, run_id)
    hold(page, run_id, 75)  # after the first move
    why = page.get_by_test_id("why-not")
    expect(why).to_contain_text("Moves readings to cloud, plausible to cloud, alerts to cloud: traffic between hosts would go from")
    expect(why).to_contain_text("A move was ordered.")
    expect(page.get_by_test_id("vertex-plausible")).to_contain_text("on station")
    expect(page.get_by_test_id("vertex-plausible")).to_contain_text("to sums")
    expect(page.get_by_test_id("vertex-plausible")).to_contain_text("station → cloud")
    expect(page.get_by_test_id("vertex-sums")).to_contain_text("stays")
    moves = page.get_by_test_id("rescales")
    expect(moves.get_by_role("heading")).to_have_text("Moves")
    expect(moves).to_contain_text("readings gateway → cloud")
    expect(page.get_by_test_id("rescale").first).to_have_attribute(
        "title", "Operators of this run move to other hosts, with one instance each"
    )
    assert_accessible(page)
    assert_reasons(page)
