"""Fixtures for tests that need the whole of Millrace running, and how thoroughly random cases are tried.

`HYPOTHESIS_PROFILE=fast` is for the quick part of the suite, `full` (the default) for all of it: both try the same cases every time, so
that a change is judged by what it changes. `soak` looks for new cases, for as long as that takes. Tests that need more or fewer cases say
how many times as many. What only the web tests need stands in tests/web/conftest.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))  # launcher, which scripts/up is made of

settings.register_profile(
    "full",
    max_examples=200,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    print_blob=True,
)
settings.register_profile("fast", settings.get_profile("full"), max_examples=10)
settings.register_profile("soak", settings.get_profile("full"), max_examples=4000, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "full"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What drives a browser is marked by where it stands, so that no test there is forgotten by `scripts/test --fast`."""
    for item in items:
        if item.path.is_relative_to(ROOT / "tests" / "browser"):
            item.add_marker("browser")


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """A complete installation for the tests of one file, as scripts/up starts it: Redis, a worker, the web server, the examples.

    `installation.url` is its address, `installation.manage("signin_url", "--base", installation.url)` gives a fresh sign-in link. The
    frontend must have been built.
    """
    with running_installation(tmp_path_factory.mktemp("installation")) as installed:
        yield installed


@contextmanager
def running_installation(data: Path, **environment: str) -> Iterator[Any]:
    """An installation that ends with the block. environment: what its processes find besides that of this one."""
    from launcher.services import Installation, free_port

    changed = {"REDIS_URL": None, "DATABASE_URL": None, "DJANGO_SETTINGS_MODULE": None, **environment}
    inherited = {name: os.environ.pop(name, None) for name in changed}
    os.environ.update(environment)
    try:
        installed = Installation(data, free_port(data / "port"), workers=1)
    finally:
        for name in environment:
            del os.environ[name]
        os.environ.update({name: value for name, value in inherited.items() if value is not None})
    try:
        installed.start_first()
        installed.manage("migrate", "--verbosity", "0")
        installed.manage("load_fixtures")
        installed.start("web")
        installed.wait_until_healthy(lambda: False)
        yield installed
    finally:
        installed.stop()
