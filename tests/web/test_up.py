"""scripts/up as a person uses it: one link, restarts, Ctrl-C, and nothing left running."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE_S

from .conftest import ROOT, wait_for

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, str(ROOT / "scripts" / "up")]


def environment(data: Path) -> dict[str, str]:
    return {**{name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "DATABASE_URL")}, "MILLRACE_DATA": str(data)}


def processes_of(data: Path) -> set[int]:
    """Processes whose environment or command line names the data directory (Redis writes its title over its environment)."""
    found = set()
    for directory in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            named = f"MILLRACE_DATA={data}".encode() in (directory / "environ").read_bytes().split(b"\0")
            if named or str(data).encode() in (directory / "cmdline").read_bytes():
                found.add(int(directory.name))
    return found


class Up:
    def __init__(self, data: Path) -> None:
        self.data, self.log = data, data.with_suffix(".log")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                COMMAND, cwd=ROOT, env=environment(data), stdout=log, stderr=log, start_new_session=True, umask=0o022
            )

    def link(self) -> str:
        found = wait_for(lambda: self.process.poll() is not None or re.search(r"http://\S+", self.log.read_text()), "the link", 240)
        assert found is not True, self.log.read_text()
        assert len(re.findall(r"http://", self.log.read_text())) == 1, "one URL is printed"
        return str(found[0])

    def service(self, word: str) -> int:
        """Process id of a service, by a word of its command line."""
        for pid in processes_of(self.data):
            with contextlib.suppress(OSError):
                if word in Path(f"/proc/{pid}/cmdline").read_text() and pid != self.process.pid:
                    return pid
        return 0


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    started = Up(tmp_path / "data")
    yield started
    with contextlib.suppress(ProcessLookupError):
        os.kill(started.process.pid, signal.SIGTERM)
    started.process.wait(timeout=PATIENCE_S)
    print(started.log.read_text())


def browser() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(CookieJar()))


def test_up_signs_in_restarts_what_dies_and_leaves_nothing_running(up: Up) -> None:
    link = up.link()
    base = link.split("/signin")[0]
    person = browser()
    with person.open(link) as page:
        assert page.geturl() == f"{base}/"
        assert b"<script" in page.read()
    with person.open(f"{base}/api/me") as answer:
        assert json.load(answer)["name"] == "local"
    with person.open(f"{base}/api/experiments") as answer:
        assert len(json.load(answer)) >= 5

    assert [path for path in (up.data, *up.data.rglob("*")) if path.lstat().st_mode & 0o077] == [], "others may read the data"

    second = subprocess.run(COMMAND, cwd=ROOT, env=environment(up.data), capture_output=True, text=True, timeout=PATIENCE_S)
    assert second.returncode == 0
    assert re.search(re.escape(base) + r"/signin\?token=", second.stdout), "a second start gives another link to the first"

    for word in ("redis-server", "celery", "uvicorn"):
        before = up.service(word)
        assert before
        os.kill(before, signal.SIGKILL)
        wait_for(lambda word=word, before=before: up.service(word) not in (0, before), f"another {word}", 30)

    def healthy() -> bool:
        with contextlib.suppress(OSError), person.open(f"{base}/api/health", timeout=5) as answer:
            return bool(json.load(answer)["ok"])
        return False

    wait_for(healthy, "health", 60)
    os.kill(up.process.pid, signal.SIGINT)
    assert up.process.wait(timeout=PATIENCE_S) == 0
    assert processes_of(up.data) == set()
    assert not (up.data / "redis.sock").exists()


@pytest.mark.deep
def test_even_a_killed_up_leaves_nothing_running(up: Up) -> None:
    up.link()
    assert len(processes_of(up.data)) >= 4
    os.kill(up.process.pid, signal.SIGKILL)
    up.process.wait()
    wait_for(lambda: not processes_of(up.data), "all processes to end", 20)


@pytest.mark.deep
def test_check_runs_both_examples_and_leaves_nothing() -> None:
    done = subprocess.run(
        [*COMMAND, "--check"], cwd=ROOT, env=environment(Path("/nonexistent")), capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"throughput +[\d,]+ records/s in", done.stdout)) == 2
    assert len(re.findall(r"p50 [\d.]+ ms, p95 [\d.]+ ms, p99 [\d.]+ ms", done.stdout)) == 2
    assert not Path("/nonexistent").exists()
