"""What people at the pages see, and how soon: python -m benchmarks.viewers [PART ...] [--json]

A real installation (Redis, a worker, the web server), a real run, a real Chromium; the frontend must have been built.

* cold: from the address to the drawn page, with an empty cache, and what is downloaded for it.
* large: a query of 500 operators and 2,000 edges: from its address to its drawing, and the time between two drawings while it is panned and
  zoomed, of those drawings in which the view moved (idle ones would flatter).
* obeyed: from the click to what the page says: paused, one frame more, going on, cancelled; in the middle of a frame, too. And from when a
  worker takes a run to the first point on the page.
* lag: from when the worker sends a message to when its frames are on the screen, with 20 viewers: 19 WebSocket clients and one page. The
  clients' own lag is from sending to receiving.
* interaction: from an input to the next paint while a run is live, as the browser measures it ('event' entries, in steps of 8 ms).
* hour: growth of the browser's memory over the frames of an hour of virtual time at 4 frames/s. They are real frames of a finished run,
  repeated with new numbers, one in a message; but they come faster than in an hour, a few between two drawings (`drawings` says how many).
* real_hour: the same over an hour on the clock: a run of an hour at the pace of real time, 4 frames/s, on one open page. Only when named.
"""

from __future__ import annotations

import argparse
import asyncio
import concurrent.futures
import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import websockets
import yaml
from playwright.sync_api import Page, WebSocketRoute, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from launcher.services import Installation, free_port  # noqa: E402

from tests.support.corner_cases import large_query  # noqa: E402

CHROMIUM = "/usr/bin/chromium"
VIEWERS = 20
HOUR_S = 3600
HOUR_FRAMES = HOUR_S * 4
WEIGHED_EVERY_S = 600
DRAWN_EVERY = 4  # messages after which the page is waited for


def live_document(horizon_s: float = 400.0) -> dict[str, Any]:
    """NexMark Q3 under a constant load that keeps the engine busy for some ten seconds at least."""
    document: dict[str, Any] = yaml.safe_load((ROOT / "fixtures" / "experiments" / "nexmark_q3.yaml").read_text())
    document["workload"].update(horizon_s=horizon_s, warmup_s=5.0)
    for source in document["workload"]["sources"].values():
        source["rate"] = {"kind": "constant", "per_s": 15_000}
    return document


def percentiles(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {"count": len(ordered), **{f"p{p}": round(ordered[int(p / 100 * (len(ordered) - 1))], 1) for p in (50, 95, 100)}}


class Workbench:
    """The installation with a signed-in page."""

    def __init__(self, installation: Installation, page: Page) -> None:
        self.installation, self.page = installation, page
        page.goto(installation.manage("signin_url", "--base", installation.url))
        page.get_by_test_id("stage").wait_for(timeout=30_000)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        token = next(one["value"] for one in self.page.context.cookies() if one["name"] == "csrftoken")
        answer = self.page.request.fetch(
            self.installation.url + path, method=method, data=body, headers={"X-CSRFToken": token, "Referer": self.installation.url}
        )
        assert answer.ok, answer.text()
        return answer.json()

    def start(self, document: dict[str, Any], pace: float | None = None) -> str:
        experiment = self.ask("POST", "/api/experiments", {"document": document})["id"]
        return str(self.ask("POST", f"/api/experiments/{experiment}/runs", {"pace": pace})["id"])

    def probe(self, name: str) -> Any:
        return self.page.evaluate(f"window.__millrace ? window.__millrace.{name} : null")

    def wait(self, name: str, at_least: int, timeout_s: float = 120.0) -> None:
        deadline_s = time.monotonic() + timeout_s
        while (self.probe(name) or 0) < at_least:
            assert time.monotonic() < deadline_s, f"{name} has not reached {at_least}"
            self.page.wait_for_timeout(5)

    def state(self) -> str:
        return self.page.get_by_test_id("run-state").get_attribute("data-state") or ""


@contextlib.contextmanager
def workbench() -> Iterator[Workbench]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        for name in ("REDIS_URL", "DATABASE_URL", "DJANGO_SETTINGS_MODULE"):
            os.environ.pop(name, None)
        installation = Installation(data, free_port(data / "port"), workers=1)
        try:
            installation.start_first()
            installation.manage("migrate", "--verbosity", "0")
            installation.start("web")
            installation.manage("load_fixtures")
            installation.wait_until_healthy(lambda: False)
            with sync_playwright() as playwright:
                options = ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"]
                browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
                yield Workbench(installation, browser.new_context(viewport={"width": 1280, "height": 800}).new_page())
                browser.close()
        finally:
            installation.stop()


# --- cold ---------------------------------------------------------------------------------------------------------------------------------

COLD_TRIES = 9
COLD_PLACES = {
    "canvas": ("/experiments/{experiment}", "stage"),
    "runs": ("/runs", "run-list"),
    "templates": ("/templates", "template-nexmark_q3"),
}
DOWNLOADED = """() => performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation"))
  .filter(({name}) => !name.includes("/api/")).reduce(([kb, files], {transferSize}) => [kb + transferSize / 1000, files + 1], [0, 0])"""


def cold(at: Workbench) -> dict[str, Any]:
    browser = at.page.context.browser
    assert browser
    experiment = at.ask("POST", "/api/experiments", {"document": live_document()})["id"]
    found = {}
    for name, (path, ready) in COLD_PLACES.items():
        took_ms = []
        for _ in range(COLD_TRIES):
            context = browser.new_context(viewport={"width": 1280, "height": 800}, storage_state=at.page.context.storage_state())
            page = context.new_page()
            page.goto(at.installation.url + path.format(experiment=experiment), wait_until="commit")
            page.get_by_test_id(ready).first.wait_for()
            took_ms.append(page.evaluate("performance.now()"))
            kb, files = page.evaluate(DOWNLOADED)
            context.close()
        found[name] = {"drawn_ms": percentiles(took_ms), "least_ms": round(min(took_ms)), "kb": round(kb), "files": files}
    return found


# --- large --------------------------------------------------------------------------------------------------------------------------------

WATCH = """() => {
  const view = document.querySelector(".react-flow__viewport");
  window.moved = [];
  let before = performance.now(), where = view.style.transform;
  const frame = (now) => {
    if (view.style.transform !== where) window.moved.push(now - before);
    [before, where] = [now, view.style.transform];
    window.watching = requestAnimationFrame(frame);
  };
  window.watching = requestAnimationFrame(frame);
}"""
SEEN = "() => { cancelAnimationFrame(watching); return moved; }"
DRAWN = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
LOADS = 5


def large(at: Workbench) -> dict[str, Any]:
    page, document = at.page, live_document()
    large_query(document)
    experiment = at.ask("POST", "/api/experiments", {"document": document})["id"]
    loaded_ms = []
    for _ in range(LOADS):
        began_s = time.monotonic()
        page.goto(f"{at.installation.url}/experiments/{experiment}")
        page.get_by_test_id("operator-filter-12-10").wait_for()
        page.evaluate(DRAWN)
        loaded_ms.append(1000 * (time.monotonic() - began_s))
    page.mouse.move(600, 300)

    def between_drawings_ms(by_x: float, by_y: float) -> dict[str, float]:
        page.evaluate(WATCH)
        for step in range(120):
            sign = 1 if step % 60 < 30 else -1
            page.mouse.wheel(sign * by_x, sign * by_y)
            page.wait_for_timeout(10)
        return percentiles(page.evaluate(SEEN))

    found = {"loaded_ms": percentiles(loaded_ms), "pan_ms": between_drawings_ms(20, 10)}
    page.keyboard.down("Control")
    found["zoom_ms"] = between_drawings_ms(0, -30)
    for _ in range(12):
        page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    page.wait_for_timeout(300)
    return {**found, "pan_near_ms": between_drawings_ms(20, 10)}


# --- obeyed -------------------------------------------------------------------------------------------------------------------------------

WISHES, CANCELS = 20, 8


def obeyed(at: Workbench) -> dict[str, Any]:
    page = at.page
    took_ms: dict[str, list[float]] = {}

    def opened(document: dict[str, Any], pace: float | None = None) -> str:
        run_id = at.start(document, pace)
        page.goto(f"{at.installation.url}/runs/{run_id}")
        in_state("running")
        return run_id

    def in_state(state: str) -> None:
        page.locator(f"[data-testid=run-state][data-state={state}]").wait_for()

    def measured(wish: str, button: str, until: Callable[[], None]) -> None:
        began_s = time.monotonic()
        page.get_by_test_id(button).click()
        until()
        took_ms.setdefault(wish, []).append(1000 * (time.monotonic() - began_s))

    def one_more_frame() -> Callable[[], None]:
        seen = at.probe("framesReceived")
        return lambda: at.wait("framesReceived", seen + 1)

    run_id = opened(live_document(), pace=8.0)
    at.wait("framesReceived", 8)
    for _ in range(WISHES):
        measured("pause", "engine-pause", lambda: in_state("paused"))
        measured("step", "engine-step", one_more_frame())
        in_state("paused")
        measured("resume", "engine-pause", lambda: in_state("running"))
    at.ask("POST", f"/api/runs/{run_id}/cancel", {})
    in_state("cancelled")

    one_frame = live_document()
    one_frame["measurement"]["frame_ms"] = 1000 * one_frame["workload"]["horizon_s"]
    for _ in range(CANCELS):
        run_id = opened(live_document())
        at.wait("framesReceived", 8)
        first_point_s = page.evaluate("(performance.timeOrigin + window.__millrace.firstPointMs) / 1000")
        taken_s = datetime.fromisoformat(at.ask("GET", f"/api/runs/{run_id}")["started_at"]).timestamp()
        took_ms.setdefault("first point", []).append(1000 * (first_point_s - taken_s))
        measured("cancel", "cancel", lambda: in_state("cancelled"))
        opened(one_frame)
        page.wait_for_timeout(500)
        measured("cancel within a frame", "cancel", lambda: in_state("cancelled"))
    return {wish: percentiles(values) for wish, values in took_ms.items()}


# --- lag ----------------------------------------------------------------------------------------------------------------------------------


Lag = tuple[float, float]
"""When a message came, as Unix time, and how long it took in ms."""


async def watch(url: str, origin: str, headers: dict[str, str]) -> list[Lag]:
    """Lag of each live message."""
    lags = []
    opened_s = time.time()
    async with websockets.connect(url, origin=origin, additional_headers=headers, max_size=None, proxy=None) as socket:
        async for text in socket:
            received_s = time.time()
            message = json.loads(text)
            if message["type"] == "end":
                break
            if message.get("at_s", 0) >= opened_s:
                lags.append((received_s, 1000 * (received_s - message["at_s"])))
    return lags


async def watch_all(base: str, run_id: str, headers: dict[str, str], viewers: int) -> list[Lag]:
    url = f"{base.replace('http', 'ws', 1)}/ws/runs/{run_id}?after=-1"
    return [lag for lags in await asyncio.gather(*(watch(url, base, headers) for _ in range(viewers))) for lag in lags]


def lag(at: Workbench) -> dict[str, Any]:
    run_id = at.start(live_document())
    base = at.installation.url
    at.page.goto(f"{base}/runs/{run_id}")
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in at.page.context.cookies())
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        clients = thread.submit(asyncio.run, watch_all(base, run_id, {"Cookie": cookies}, VIEWERS - 1))
        while not clients.done():
            at.page.wait_for_timeout(200)
        received = [lag_ms for _, lag_ms in clients.result()]
    return {"viewers": VIEWERS, "page_ms": percentiles(at.probe("lagsMs")), "clients_ms": percentiles(received)}


# --- interaction --------------------------------------------------------------------------------------------------------------------------

OBSERVE = """() => {
  window.eventDurations = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (entry.interactionId) window.eventDurations.push([entry.interactionId, entry.duration]);
  }).observe({ type: 'event', durationThreshold: 16, buffered: true });
}"""


def interaction(at: Workbench) -> dict[str, Any]:
    """Clicks and keys all over the page of a live run; an interaction's time is the longest of its events. Below 16 ms counts as 16."""
    run_id = at.start(live_document())
    page = at.page
    page.goto(f"{at.installation.url}/runs/{run_id}")
    at.wait("framesReceived", 8)
    page.evaluate(OBSERVE)
    box = page.get_by_test_id("time-stack").bounding_box()
    assert box is not None
    done, rounds = 0, 0
    while at.state() == "running" and rounds < 12:
        rounds += 1
        x = box["x"] + 60 + (37 * rounds) % 300
        page.mouse.move(x - 20, box["y"] + 90)
        page.mouse.click(x, box["y"] + 90)
        for key in (",", ".", "ArrowLeft", "+", "-", "0", "k", "k", "l"):
            page.keyboard.press(key)
        for name in ("Events", "Time", "Records"):
            page.get_by_role("tab", name=name).click()
        page.get_by_role("button", name="Throughput: table").click()
        page.get_by_role("button", name="Throughput: chart").click()
        menu = page.get_by_role("button", name="Charts", exact=True)
        menu.click()
        page.get_by_label("Queues", exact=True).click()
        menu.click()
        done += 18
    still = at.state()
    page.wait_for_timeout(500)
    longest: dict[int, float] = {}
    for id, duration_ms in page.evaluate("window.eventDurations"):
        longest[id] = max(duration_ms, longest.get(id, 0))
    noticed = sorted(longest.values())
    durations_ms = [16.0] * max(0, done - len(noticed)) + noticed
    at.ask("POST", f"/api/runs/{run_id}/cancel", {})
    return {"interactions": done, "run": still, "paint_ms": percentiles(durations_ms)}


# --- an hour ------------------------------------------------------------------------------------------------------------------------------


def memory_mb(page: Page) -> dict[str, float]:
    """After a garbage collection: the page's JavaScript heap, and what the browser's renderers hold for themselves alone."""
    session = page.context.new_cdp_session(page)
    for _ in range(2):
        session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    session.detach()
    private_kb = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"--type=renderer" in (process / "cmdline").read_bytes() and is_below(int(process.name), os.getpid()):
                lines = (process / "smaps_rollup").read_text().splitlines()
                private_kb += sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))
        except OSError:
            continue
    return {"js_heap": metrics["JSHeapUsedSize"] / 1e6, "renderers": private_kb / 1000}


def is_below(process: int, ancestor: int) -> bool:
    while process > 1:
        if process == ancestor:
            return True
        process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    return False


def hour(at: Workbench) -> dict[str, Any]:
    page = at.page
    run_id = at.start(live_document(horizon_s=60.0))
    page.goto(f"{at.installation.url}/runs/{run_id}")
    page.locator("[data-testid=run-state][data-state=succeeded]").wait_for(timeout=120_000)
    frames = at.ask("GET", f"/api/runs/{run_id}/frames?limit=1000")["frames"]
    row = {**at.ask("GET", f"/api/runs/{run_id}"), "state": "running", "summary": None, "finished_at": None, "horizon_s": 3600.0}
    row["document"]["workload"]["horizon_s"] = 3600.0
    routes: list[WebSocketRoute] = []
    page.route(f"**/api/runs/{run_id}", lambda route: route.fulfill(json=row))
    page.route_web_socket("**/ws/runs/**", lambda route: routes.append(route))
    page.goto(f"{at.installation.url}/runs/{run_id}")
    while not routes:
        page.wait_for_timeout(50)
    began_s, before = time.monotonic(), {}
    for n in range(HOUR_FRAMES):
        frame = {**frames[n % len(frames)], "n": n, "t_s": (n + 1) / 4}
        routes[-1].send(json.dumps({"type": "frames", "at_s": time.time(), "frames": [frame]}))
        if n % DRAWN_EVERY == 0:
            at.wait("drawnFrame", n)
        if n == 240:  # the first minute: everything is loaded and drawn
            before = memory_mb(page)
    at.wait("drawnFrame", HOUR_FRAMES - 1)
    after = memory_mb(page)
    grown = {f"{name}_growth_mb": round(after[name] - before[name], 1) for name in before}
    return {
        "frames": at.probe("framesReceived"),
        "drawings": at.probe("drawings"),
        "took_s": round(time.monotonic() - began_s, 1),
        **grown,
        "after_mb": after,
    }


def real_hour(at: Workbench) -> dict[str, Any]:
    document = live_document(horizon_s=HOUR_S)
    for source in document["workload"]["sources"].values():
        source["rate"]["per_s"] = 500
    run_id = at.start(document, pace=1.0)
    at.page.goto(f"{at.installation.url}/runs/{run_id}")
    at.wait("drawnFrame", 240)  # the first minute: everything is loaded and drawn
    began_s, before = time.monotonic(), memory_mb(at.page)
    weighed, last_s = [before], began_s
    while at.state() == "running":
        at.page.wait_for_timeout(1000)
        if time.monotonic() - last_s >= WEIGHED_EVERY_S:
            last_s = time.monotonic()
            weighed.append(memory_mb(at.page))
    at.wait("drawnFrame", HOUR_FRAMES - 1)
    after = memory_mb(at.page)
    return {
        "frames": at.probe("framesReceived"),
        "gaps": at.probe("gaps"),
        "drawings": at.probe("drawings"),
        "run": at.state(),
        "took_s": round(time.monotonic() - began_s, 1),
        **{f"{name}_growth_mb": round(after[name] - before[name], 1) for name in before},
        "page_ms": percentiles(at.probe("lagsMs")),
        "weighed_mb": [*weighed, after],
    }


PARTS = {"cold": cold, "large": large, "obeyed": obeyed, "lag": lag, "interaction": interaction, "hour": hour, "real_hour": real_hour}
UNASKED = tuple(name for name in PARTS if name != "real_hour")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="which to measure; all but real_hour if none is named")
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    asked = parser.parse_args()
    with workbench() as at:
        found = {name: PARTS[name](at) for name in asked.parts or UNASKED}
    print(json.dumps(found, indent=None if asked.json else 2))


if __name__ == "__main__":
    main()
