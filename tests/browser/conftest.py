"""A real browser on a real installation: Django, a Celery worker and Redis, started for each file of tests in this folder.

Each file has a lab of its own, so no test meets what those of another file left there, in whatever order they run.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from .canvas import Canvas

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = "/usr/bin/chromium"
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
FAILED = pytest.StashKey[bool]()
SHOWN = 3000  # characters
expect.set_options(timeout=20_000)  # a page that comes in the end has come: how soon is a matter of benchmarks


@pytest.fixture(scope="module")
def workbench(request: pytest.FixtureRequest) -> Any:
    """The installation, with the frontend as new as its sources."""
    from launcher.environment import built_frontend

    built_frontend()
    return request.getfixturevalue("installation")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists():
        pytest.fail(f"{CHROMIUM} is missing; install the package chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield started
        started.close()


@pytest.fixture(scope="module")
def signed_in(workbench: Any, browser: Browser) -> Any:
    """The cookies of somebody who used the one-time link, and wants no tour."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(workbench.manage("signin_url", "--base", workbench.url))
    page.get_by_test_id("stage").wait_for(timeout=20_000)
    page.get_by_role("button", name="No, thanks").click()
    state = context.storage_state()
    context.close()
    return state


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Lets fixtures know how their test went."""
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture
def new_context(
    request: pytest.FixtureRequest, workbench: Any, browser: Browser, signed_in: Any
) -> Iterator[Callable[..., BrowserContext]]:
    """Makes signed-in contexts; each fails its test on an error in a page or a request to another machine. Of a test that fails it
    prints what its pages showed."""
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def make(width: int = 1280, height: int = 800, theme: str = "light", **options: Any) -> BrowserContext:
        settings = {"storage_state": signed_in, **options}
        context = browser.new_context(base_url=workbench.url, viewport={"width": width, "height": height}, color_scheme=theme, **settings)  # type: ignore[arg-type]
        context.on("weberror", lambda error: faults.append(f"error in the page: {error.error}"))
        context.on("console", lambda message: faults.append(message.text) if "Content Security Policy" in message.text else None)
        context.on(
            "request",
            lambda request: faults.append(f"request elsewhere: {request.url}") if is_elsewhere(request.url, workbench.url) else None,
        )
        contexts.append(context)
        return context

    yield make
    for context in contexts:
        for opened in context.pages:
            if request.node.stash.get(FAILED, False):
                print(f"\n{opened.url} shows:\n{opened.locator('body').inner_text(timeout=5_000)[:SHOWN]}")
            opened.unroute_all(behavior="ignoreErrors")  # an answer may just be on its way through a test's hands: else the next test fails
        context.close()
    assert not faults, faults


def is_elsewhere(url: str, own: str) -> bool:
    return not url.startswith((own, own.replace("http", "ws", 1), "data:", "blob:"))


@pytest.fixture
def page(new_context: Callable[..., BrowserContext]) -> Page:
    return new_context().new_page()


@pytest.fixture(scope="module")
def api(workbench: Any) -> Iterator[httpx.Client]:
    """The HTTP API with a bearer token, to prepare what a test looks at."""
    token = workbench.manage("api_token", "browser tests").split()[-1]
    with httpx.Client(base_url=workbench.url, headers={"Authorization": f"Bearer {token}"}, timeout=30, trust_env=False) as client:
        yield client


@pytest.fixture
def experiment(api: httpx.Client) -> Callable[..., str]:
    """Stores a copy of the example NexMark Q3 over 30 s, changed by the caller; returns its id."""

    def store(change: Callable[[dict[str, Any]], None] = lambda document: None) -> str:
        document = yaml.safe_load((ROOT / "fixtures" / "experiments" / "nexmark_q3.yaml").read_text())
        document["workload"].update(horizon_s=30.0, warmup_s=5.0)
        change(document)
        answer = api.post("/api/experiments", json={"document": document})
        answer.raise_for_status()
        return str(answer.json()["id"])

    return store


@pytest.fixture
def canvas(page: Page) -> Canvas:
    return Canvas(page)
