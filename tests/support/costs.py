"""pytest plugin: CPU seconds of every test, by cause.

Each process that runs tests keeps a stack of causes. The CPU time it uses is charged to the innermost cause, so that nothing is counted
twice: compiling inside a run is `compile`, not `engine`. The processes that tests start (Chromium, workers, servers, Java) are read from
/proc at the borders of each test.

With `--costs FILE` the session writes FILE: {"tests": {node id: {"slow": bool, "call": {cause: s}, "fixtures": {cause: s}}}}, and
`"failed": true` where it did. Setup and teardown stand under `fixtures`, since the first test that uses a shared fixture pays for all.
Without the option nothing is measured. `scripts/testing/budgets.py` adds the files of all steps up and compares them with
`tests/budgets.toml`.

CPU seconds grow when other work shares the processor, and a core may be half as fast a minute later. So each process times a fixed piece of
work now and then, and its seconds are given as seconds of a core that does the piece in PIECE_S: by the mean of the last pieces, since a
test is slowed down by slow moments and fast ones alike.
"""

from __future__ import annotations

import functools
import json
import os
import statistics
import sys
import time
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest

PIECE_S = 0.0034
"""CPU seconds of the fixed piece of work on the reference core (an idle core of the machine on which the budgets were set)."""
PIECE_EVERY_S = 5.0
PIECES = 8
"""How many of the last pieces count."""
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
KINDS = {"chrom": "browser", "node": "browser", "java": "spark", "postgres": "database"}
"""Cause of a process by a part of its program's name; all others are `processes`."""
SETTLE_S = 0.002

Function = TypeVar("Function", bound=Callable[..., Any])


class Meter:
    """CPU seconds of this process and its descendants, by cause, since they were last taken."""

    def __init__(self) -> None:
        self._spent: dict[str, float] = defaultdict(float)
        self._causes = ["other"]
        self._seen_s = time.process_time()
        self._children: dict[int, tuple[str, float]] = {}
        self._ended_s = 0.0

    def enter(self, cause: str) -> None:
        self._settle()
        self._causes.append(cause)

    def leave(self) -> None:
        self._settle()
        self._causes.pop()

    def _settle(self) -> None:
        now_s = time.process_time()
        self._spent[self._causes[-1]] += now_s - self._seen_s
        self._seen_s = now_s

    def take(self) -> dict[str, float]:
        """CPU seconds by cause since the last call."""
        self._settle()
        children, times = descendants(), os.times()
        for pid, (kind, spent_s) in children.items():
            self._spent[kind] += spent_s - self._children.get(pid, (kind, 0.0))[1]
        known_s = sum(spent_s for pid, (_, spent_s) in self._children.items() if pid not in children)
        ended_s = times.children_user + times.children_system
        self._spent["processes"] += max(0.0, ended_s - self._ended_s - known_s)  # of those that began and ended since
        self._children, self._ended_s = children, ended_s
        spent, self._spent = self._spent, defaultdict(float)
        return dict(spent)


def descendants() -> dict[int, tuple[str, float]]:
    """Cause and CPU seconds of each process below this one."""
    found: dict[int, tuple[str, float]] = {}
    waiting = children_of(os.getpid())
    while waiting:
        pid = waiting.pop()
        with suppress(OSError, IndexError):
            name, _, rest = Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(")")
            kind = next((kind for part, kind in KINDS.items() if part in name), "processes")
            found[pid] = kind, sum(map(int, rest.split()[11:13])) / TICKS_PER_S
            waiting += children_of(pid)
    return found


def children_of(pid: int) -> list[int]:
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(word) for word in path.read_text().split()]
    return found


METER: Meter | None = None


@contextmanager
def cause(name: str) -> Iterator[None]:
    """Charge the CPU time of the block to this cause."""
    meter = METER
    if meter is None:
        yield
        return
    meter.enter(name)
    try:
        yield
    finally:
        meter.leave()


def charged(name: str, function: Function) -> Function:
    """The function, with its CPU time charged to this cause."""

    @functools.wraps(function)
    def measured(*arguments: Any, **named: Any) -> Any:
        with cause(name):
            return function(*arguments, **named)

    return measured  # type: ignore[return-value]


def piece_s() -> float:
    """CPU seconds that the fixed piece of work takes now."""
    began_s = time.process_time()
    total = 0
    for n in range(150_000):
        total += n & 7
    return time.process_time() - began_s


# --- hooks --------------------------------------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--costs", metavar="FILE", help="write the CPU seconds of every test, by cause, to this file")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--costs"):
        config.pluginmanager.register(Measuring(config), "measuring")


class Measuring:
    """Measures in the processes that run tests; collects and writes in the one that the others report to."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.tests: dict[str, dict[str, Any]] = {}
        self.pieces: deque[float] = deque(maxlen=PIECES)
        self.piece_at_s = -PIECE_EVERY_S

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Begin when everything is imported; what collecting took is nobody's."""
        global METER
        METER = Meter()
        METER.take()
        charge_known_functions()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        assert METER is not None
        spent = METER.take()
        if time.monotonic() - self.piece_at_s > PIECE_EVERY_S:
            self.piece_at_s = time.monotonic()
            self.pieces.append(piece_s())
            METER.take()
        factor = PIECE_S / statistics.mean(self.pieces)
        report.costs = {name: seconds * factor for name, seconds in spent.items() if seconds > SETTLE_S}  # type: ignore[attr-defined]
        report.slow = item.get_closest_marker("slow") is not None  # type: ignore[attr-defined]
        report.factor = factor  # type: ignore[attr-defined]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        about = self.tests.setdefault(report.nodeid, {"slow": getattr(report, "slow", False), "call": {}, "fixtures": {}})
        part = about["call" if report.when == "call" else "fixtures"]
        for name, seconds in getattr(report, "costs", {}).items():  # a process that crashed reports none
            part[name] = round(part.get(name, 0.0) + seconds, 3)
        if report.when == "call":
            about["took_s"] = round(report.duration, 3)
        about["factor"] = round(getattr(report, "factor", 1.0), 3)
        if report.failed:
            about["failed"] = True
            self._print_failed(report.nodeid)

    def _print_failed(self, id: str) -> None:
        """Print the name of a failed test at once: its traceback comes at the end, which may be an hour away."""
        if not hasattr(self.config, "workerinput"):
            self.config.get_terminal_writer().line(f" failed: {id}")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not hasattr(session.config, "workerinput"):
            path = Path(session.config.getoption("--costs"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"tests": self.tests}, indent=0))


def charge_known_functions() -> None:
    """Charge compiling, runs of the engine and queries of the database to their causes, in the modules that are loaded."""
    for module, owner, name, what in (
        ("engine.core.compiler.kernel", "Compiled", "_native", "compile"),
        ("engine.simulation", "Simulation", "__init__", "engine"),
        ("engine.simulation", "Simulation", "run_until", "engine"),
        ("engine.simulation", "Simulation", "advance", "engine"),
        ("tests.oracle.model", "Model", "run", "oracle"),
        ("django.db.backends.utils", "CursorWrapper", "_execute_with_wrappers", "database"),
    ):
        if module in sys.modules:
            place = getattr(sys.modules[module], owner)
            setattr(place, name, charged(what, getattr(place, name)))
