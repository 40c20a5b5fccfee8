"""Fixtures for tests that need the whole of Millrace running. What only the web tests need stands in tests/web/conftest.py."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))  # launcher, which scripts/up is made of


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What drives a browser is marked by where it stands, so that no test there is forgotten by `scripts/test --fast`."""
    for item in items:
        if item.path.is_relative_to(ROOT / "tests" / "browser"):
            item.add_marker("browser")


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """A complete installation, as scripts/up starts it: Redis, a worker, the web server, the examples; in a directory of its own.

    `installation.url` is its address, `installation.manage("signin_url", "--base", installation.url)` gives a fresh sign-in link. The
    frontend must have been built.
    """
    import os

    from launcher.services import Installation, free_port

    inherited = {name: os.environ.pop(name, None) for name in ("REDIS_URL", "DATABASE_URL", "DJANGO_SETTINGS_MODULE")}
    try:
        data = tmp_path_factory.mktemp("installation")
        installed = Installation(data, free_port(data / "port"), workers=1)
    finally:
        os.environ.update({name: value for name, value in inherited.items() if value is not None})
    try:
        installed.start_all_but("web")
        installed.manage("migrate", "--verbosity", "0")
        installed.manage("load_fixtures")
        installed.start("web")
        installed.wait_until_healthy(lambda: False)
        yield installed
    finally:
        installed.stop()
