"""A real browser on a real installation: Django, a Celery worker and Redis.

The files of this folder share one, and each has a lab of its own there, so no test meets what those of another file left, in whatever
order they run. Files whose tests stop parts of it, or change what belongs to no lab, say `OWN_INSTALLATION = True` and get one of their
own.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright

from tests.support.patience import PATIENCE_S

from .canvas import Canvas

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first of these is taken. The shell is the same engine without a browser's own windows, which cost half of the time."""
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",  # pages of one context share a process, and what it has compiled
)
QUIET_PLACE = "/api/health"
"""A page of ours that does nothing."""
FAILED = pytest.StashKey[bool]()
SHOWN = 3000  # characters
PATIENCE_MS = 1000 * PATIENCE_S
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def workbench(request: pytest.FixtureRequest) -> Any:
    """The installation, with the frontend as new as its sources."""
    from launcher.environment import built_frontend

    built_frontend()
    own = getattr(request.module, "OWN_INSTALLATION", False)
    return request.getfixturevalue("installation" if own else "shared_installation")


@pytest.fixture(scope="module")
def owner(request: pytest.FixtureRequest, workbench: Any) -> Any:
    """The owner of this file's lab: `cookie` and `token`."""
    own = getattr(request.module, "OWN_INSTALLATION", False)
    return workbench.clerk.ask(lab="" if own else request.module.__name__.rpartition(".")[2])


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        pytest.fail(f"none of {', '.join(CHROMIUM)} is there; install the package chromium-headless-shell")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=list(QUIET))
        yield started
        started.close()


@pytest.fixture(scope="module")
def signed_in(workbench: Any, owner: Any) -> Any:
    """The browser's store of somebody who is signed in, and wants no tour."""
    place = {"domain": "127.0.0.1", "path": "/", "expires": -1, "httpOnly": True, "secure": False, "sameSite": "Lax"}
    cookies = [{"name": name, "value": value, **place} for name, value in owner["cookie"].items()]
    return {"cookies": cookies, "origins": [{"origin": workbench.url, "localStorage": [{"name": "millrace.tour", "value": "off"}]}]}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Lets fixtures know how their test went."""
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


class Watch:
    """Errors in the pages of a context, requests to other machines, and requests without an answer."""

    def __init__(self, own: str):
        self.own = own
        self.faults: list[str] = []
        self.unanswered: dict[Request, None] = {}

    def over(self, context: BrowserContext) -> None:
        context.on("weberror", lambda error: self.faults.append(f"error in the page: {error.error}"))
        context.on("console", lambda message: self.faults.append(message.text) if "Content Security Policy" in message.text else None)
        context.on("request", self._asked)
        context.on("requestfinished", lambda request: self.unanswered.pop(request, None))
        context.on("requestfailed", lambda request: self.unanswered.pop(request, None))

    def _asked(self, request: Request) -> None:
        self.unanswered[request] = None
        if is_elsewhere(request.url, self.own):
            self.faults.append(f"request elsewhere: {request.url}")

    def tell(self, pages: Iterable[Page]) -> None:
        """What a test that failed has to say."""
        if self.unanswered:
            print("\nwithout an answer:", *(f"{one.method} {one.url}" for one in self.unanswered), sep="\n  ")
        for opened in pages:
            print(f"\n{opened.url} shows:\n{opened.locator('body').inner_text(timeout=5_000)[:SHOWN]}")

    def check(self) -> None:
        faults = list(self.faults)
        self.faults.clear()
        self.unanswered.clear()
        assert not faults, faults


@pytest.fixture
def new_context(
    request: pytest.FixtureRequest, workbench: Any, browser: Browser, signed_in: Any
) -> Iterator[Callable[..., BrowserContext]]:
    """Makes signed-in contexts; each fails its test on an error in a page or a request to another machine. Of a test that fails it
    prints what its pages showed."""
    contexts: list[BrowserContext] = []
    watch = Watch(workbench.url)

    def make(width: int = 1280, height: int = 800, theme: str = "light", **options: Any) -> BrowserContext:
        contexts.append(opened_context(browser, workbench, signed_in, width, height, theme, **options))
        watch.over(contexts[-1])
        return contexts[-1]

    yield make
    if request.node.stash.get(FAILED, False):
        watch.tell(opened for context in contexts for opened in context.pages)
    for context in contexts:
        leave(context.pages)
        context.close()
    watch.check()


def opened_context(
    browser: Browser, workbench: Any, signed_in: Any, width: int = 1280, height: int = 800, theme: str = "light", **options: Any
) -> BrowserContext:
    settings = {"storage_state": signed_in, **options}
    context = browser.new_context(base_url=workbench.url, viewport={"width": width, "height": height}, color_scheme=theme, **settings)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE_MS)
    return context


def leave(pages: Iterable[Page]) -> None:
    """An answer may just be on its way through a test's hands: else the next test fails."""
    for opened in pages:
        opened.unroute_all(behavior="ignoreErrors")


@pytest.fixture(scope="session")
def contexts(browser: Browser) -> Iterator[dict[str, tuple[BrowserContext, Watch]]]:
    """Contexts by installation. A page stays open in each: others of the same address are drawn by its process, which has compiled the
    frontend already."""
    found: dict[str, tuple[BrowserContext, Watch]] = {}
    yield found
    for context, _ in found.values():
        context.close()


@pytest.fixture(scope="module")
def shared_context(
    workbench: Any, browser: Browser, signed_in: Any, contexts: dict[str, tuple[BrowserContext, Watch]]
) -> tuple[BrowserContext, Watch]:
    """The context of the installation, signed in to this file's lab."""
    if workbench.url not in contexts:
        context, watch = opened_context(browser, workbench, signed_in), Watch(workbench.url)
        context.new_page().goto(QUIET_PLACE)
        watch.over(context)
        contexts[workbench.url] = context, watch
    context, _ = contexts[workbench.url]
    context.clear_cookies()
    context.add_cookies(signed_in["cookies"])
    return contexts[workbench.url]


@pytest.fixture
def new_page(request: pytest.FixtureRequest, shared_context: tuple[BrowserContext, Watch], signed_in: Any) -> Iterator[Callable[..., Page]]:
    """Opens pages in the shared context, each with a size and a theme of its own; each test finds the storage as at the start. Of a test
    that fails it prints what its pages showed."""
    context, watch = shared_context
    quiet = context.pages[0]

    def opened(width: int = 1280, height: int = 800, theme: str = "light", motion: str = "no-preference") -> Page:
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=theme, reduced_motion=motion)  # type: ignore[arg-type]
        return page

    yield opened
    pages = context.pages[1:]
    if request.node.stash.get(FAILED, False):
        watch.tell(pages)
    leave(pages)
    for page in pages:
        page.close()
    quiet.evaluate(
        "kept => { localStorage.clear(); for (const { name, value } of kept) localStorage.setItem(name, value); }",
        signed_in["origins"][0]["localStorage"],
    )
    watch.check()


@pytest.fixture
def page(request: pytest.FixtureRequest) -> Page:
    """A page of the shared context. A test marked `own_context` gets one of its own: what it changes holds for the whole context, such as
    its clock, its cookies, its permissions or its connection."""
    own = request.node.get_closest_marker("own_context")
    return request.getfixturevalue("new_context")().new_page() if own else request.getfixturevalue("new_page")()


def is_elsewhere(url: str, own: str) -> bool:
    return not url.startswith((own, own.replace("http", "ws", 1), "data:", "blob:"))


@pytest.fixture(scope="module")
def api(workbench: Any, owner: Any) -> Iterator[httpx.Client]:
    """The HTTP API with a bearer token, to prepare what a test looks at."""
    headers = {"Authorization": f"Bearer {owner['token']}"}
    with httpx.Client(base_url=workbench.url, headers=headers, timeout=PATIENCE_S, trust_env=False) as client:
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
