"""Pictures to look at, in both themes and two sizes, under MILLRACE_PICTURES (default: a temporary directory). Checked: no page scrolls."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, expect

from .test_run import start

OVERFLOW = """() => {
  const page = document.scrollingElement;
  return [page.scrollWidth - page.clientWidth, page.scrollHeight - page.clientHeight];
}"""


def slow_join(document: dict[str, Any]) -> None:
    """Too little computing power behind bounded channels: backpressure, queues and growing latency to look at."""
    document["policies"] = {"flow_control": {"kind": "credits", "per_channel": 32}}
    document["cluster"]["hosts"][0]["speed"] = 0.15


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080)])
def test_pictures(
    new_context: Callable[..., BrowserContext],
    api: httpx.Client,
    experiment: Callable[..., str],
    tmp_path: Path,
    theme: str,
    width: int,
    height: int,
) -> None:
    folder = Path(os.environ.get("MILLRACE_PICTURES") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    page = new_context(width=width, height=height, theme=theme).new_page()
    experiment_id = experiment(slow_join)
    run_id = start(api, experiment_id)

    def picture(name: str) -> None:
        page.wait_for_timeout(300)
        page.screenshot(path=folder / f"{name}-{theme}-{width}.png")
        assert page.evaluate(OVERFLOW) == [0, 0], f"{name}: the page itself scrolls"

    page.goto(f"/experiments/{experiment_id}")
    page.get_by_test_id("operator-join").click()
    picture("canvas")
    page.goto(f"/runs/{run_id}")
    expect(page.get_by_test_id("run-state")).to_have_attribute("data-state", "succeeded", timeout=30_000)
    picture("run")
    page.goto("/runs")
    page.locator("table").wait_for()
    picture("runs")
