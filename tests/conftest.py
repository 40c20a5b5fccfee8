"""Fixtures for tests that need the whole of Millrace running, and how thoroughly random cases are tried.

Each tier (`tests.support.tiers`) tries the same random cases every time, so that a change is judged by what it changes.
`HYPOTHESIS_PROFILE=soak` looks for new cases, for as long as that takes. Tests that need more or fewer cases say how many times as many.
What only the web tests need stands in tests/web/conftest.py.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.support.clerk import Clerk
from tests.support.tiers import EXAMPLES, TIER

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))  # launcher, which scripts/up is made of

os.environ.setdefault("MILLRACE_LOOPS", "shared")  # tests run hundreds of queries: they compile a few loops in place of hundreds
# Spark's queries of tests end before its JVM's second compiler pays: without it they cost three fifths of the CPU time
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

settings.register_profile(
    "all",
    max_examples=EXAMPLES["all"],
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    print_blob=True,
)
for name in ("fast", "ci"):
    settings.register_profile(name, settings.get_profile("all"), max_examples=EXAMPLES[name])
settings.register_profile("unshrunk", settings.get_profile(TIER), phases=[Phase.explicit, Phase.generate])
settings.register_profile("soak", settings.get_profile("all"), max_examples=4000, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", TIER))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out the tests of tests/not_quick.txt")


NOT_QUICK = frozenset((ROOT / "tests" / "not_quick.txt").read_text().split())
TEST_FUNCTION = re.compile(r"^ *(?:async )?def (test_\w+)", re.MULTILINE)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The thousands of tests live to the end: the garbage collector need not look at them again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With --quick, files without a quick test are not even imported."""
    if not config.getoption("--quick") or not collection_path.match("test_*.py"):
        return None
    file = collection_path.relative_to(ROOT).as_posix()
    tests = TEST_FUNCTION.findall(collection_path.read_text())
    return all(f"{file}::{test}" in NOT_QUICK for test in tests) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What drives a browser is marked by where it stands. With --quick, what takes more than 0.05 s is left out. Long tests come first, so
    that none is left over at the end when the other processes have nothing to do. Files with a browser stay whole: each has a lab."""
    for item in items:
        if item.path.is_relative_to(ROOT / "tests" / "browser"):
            item.add_marker("browser")
    if config.getoption("--quick"):
        chosen = [item for item in items if item.nodeid.partition("[")[0] not in NOT_QUICK]
        kept = set(chosen)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = chosen
    slow = {item.path for item in items if item.get_closest_marker("browser") and item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow and item.get_closest_marker("slow") is None)


@pytest.fixture(scope="session")
def fresh_lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of an installation in which nobody did anything yet: the database with the examples."""
    data = tmp_path_factory.mktemp("fresh")
    installed = installed_in(data)
    fill(installed)
    installed.clerk.stop()
    return data


@pytest.fixture(scope="module")
def installation(fresh_lab: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """A complete installation for the tests of one file, as scripts/up starts it: Redis, a worker, the web server, the examples.

    `installation.url` is its address, `installation.manage("signin_url", "--base", installation.url)` gives a fresh sign-in link. The
    frontend must have been built.
    """
    yield from filled_installation(fresh_lab, tmp_path_factory.mktemp("installation"))


@pytest.fixture(scope="session")
def shared_installation(fresh_lab: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """One for all files whose tests stop none of its parts; each of these files has a lab of its own there."""
    yield from filled_installation(fresh_lab, tmp_path_factory.mktemp("shared"))


def filled_installation(fresh_lab: Path, data: Path) -> Iterator[object]:
    shutil.copytree(fresh_lab, data, dirs_exist_ok=True)
    with running_installation(data, filled=True) as installed:
        yield installed


@contextmanager
def running_installation(data: Path, filled: bool = False, **environment: str) -> Iterator[Any]:
    """An installation that ends with the block. filled: its data are there. environment: what its processes find besides our own."""
    installed = installed_in(data, **environment)
    try:
        installed.start_first()
        if not filled:
            fill(installed)
        installed.start("web")
        installed.wait_until_healthy(lambda: False)
        yield installed
    finally:
        installed.stop()
        installed.clerk.stop()


def installed_in(data: Path, **environment: str) -> Any:
    """An installation none of whose parts was started yet, with a database and a Redis of its own whatever this process uses."""
    from launcher.services import Installation, free_port

    changed = {"REDIS_URL": None, "DATABASE_URL": None, "DJANGO_SETTINGS_MODULE": None, **environment}
    inherited = {name: os.environ.pop(name, None) for name in changed}
    os.environ.update(environment)
    try:
        installed: Any = Installation(data, free_port(data / "port"), workers=1)
    finally:
        for name in environment:
            del os.environ[name]
        os.environ.update({name: value for name, value in inherited.items() if value is not None})
    installed.clerk = Clerk(installed.environment)
    installed.manage = installed.clerk.manage
    return installed


def fill(installed: Any) -> None:
    installed.manage("migrate", "--verbosity", "0")
    installed.manage("load_fixtures")
