"""How tests wait: for a condition, with a limit and a sentence for when it does not come. No test waits for the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx
from playwright.sync_api import Page, expect

from tests.support.patience import PATIENCE_S

POLL_S = 0.05
UNFINISHED = "[aria-label=Loading], [data-testid=plot][data-drawn=false], [data-testid=preview][data-stale=true]"
MOVED = """Promise.allSettled(document.getAnimations().filter((one) => one.effect.getComputedTiming().iterations !== Infinity)
  .map((one) => one.finished)).then(() => document.fonts.ready).then(() => true)"""
TWO_FRAMES = "() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(() => go())))"


def until(condition: Callable[[], Any], what: str | Callable[[], str], page: Page | None = None, timeout_s: float = PATIENCE_S) -> Any:
    """Poll until the condition is true; return what it returned.

    what: names the condition, for the failure. A function is called only then. page: its events are handled between two polls.
    """
    deadline_s = time.monotonic() + timeout_s
    while not (met := condition()):
        if time.monotonic() >= deadline_s:
            raise AssertionError(f"not within {timeout_s:g} s: {what if isinstance(what, str) else what()}")
        if page:
            page.wait_for_timeout(1000 * POLL_S)
        else:
            time.sleep(POLL_S)
    return met


def until_ended(api: httpx.Client, address: str, page: Page | None = None) -> dict[str, Any]:
    """Poll a run, a study or a list of reproductions until it, or the newest of the list, is neither queued nor running; return it."""

    def read() -> dict[str, Any]:
        found = api.get(address).raise_for_status().json()
        row: dict[str, Any] = found[0] if isinstance(found, list) else found
        return row

    def ended() -> dict[str, Any] | None:
        row = read()
        return None if row["state"] in ("queued", "running") else row

    row: dict[str, Any] = until(ended, lambda: f"{address} has ended; it is {read()['state']}", page)
    return row


def wait_until_ended(api: httpx.Client, page: Page, run_id: str) -> dict[str, Any]:
    return until_ended(api, f"/api/runs/{run_id}", page)


def drawn(page: Page) -> None:
    """Wait until the page has drawn what was just set: the second frame begins after the first one was drawn."""
    page.evaluate(TWO_FRAMES)


def settled(page: Page) -> None:
    """Wait until the page shows all it is going to show: nothing loads, every chart is drawn, nothing moves."""
    drawn(page)
    expect(page.locator(UNFINISHED)).to_have_count(0)
    page.evaluate(MOVED)
    drawn(page)
