"""CPU costs of the tests by system and cause, and the check against each system's budget (`tests/budgets.toml`)."""

from __future__ import annotations

import json
import statistics
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from launcher.environment import ROOT

FILE = ROOT / "tests" / "budgets.toml"
CAUSES = {
    "compile": "compile",
    "engine": "engine",
    "oracle": "oracle",
    "browser": "browser",
    "database": "database",
    "spark": "Spark",
    "processes": "processes",
    "other": "other",
}
"""Column of the table for each cause that tests/support/costs.py distinguishes."""
LONGEST_SHOWN = 20
SLACK = 1.5
"""A budget that is exceeded is reported; only by more than this factor it fails. Machines differ in what they are slow at, so that the
same tests take up to 1.4 times the seconds of a reference core on another machine."""
QUICK_S = 0.05
QUICK_WALL_S = 0.2
"""A test that mostly waits takes little CPU time, but a process that runs tests waits with it."""


@dataclass(frozen=True)
class Budget:
    """CPU seconds of a reference core that the tests of a system may take: in each tier, and for each of two causes."""

    name: str
    files: tuple[str, ...]
    ci_s: float
    all_s: float
    compile_s: float
    browser_s: float
    test_s: float

    def covers(self, file: str) -> bool:
        return any(fnmatch(file, pattern) for pattern in self.files)


LIMITS = ("ci_s", "all_s", "compile_s", "browser_s", "test_s")


def budgets(path: Path = FILE) -> list[Budget]:
    """The systems in order; a file belongs to the first that covers it. Raises ValueError if a reason is missing."""
    read = tomllib.loads(path.read_text())
    usual = read["usual"]
    found = []
    for system in read["system"]:
        over = [name for name in LIMITS if system.get(name, 0) > usual[name]]
        if over and not system.get("why"):
            raise ValueError(f"{path.name}: system '{system['name']}' exceeds the usual budget ({', '.join(over)}) without a reason (why)")
        limits = {name: float(system.get(name, usual[name])) for name in LIMITS}
        found.append(Budget(system["name"], tuple(system["files"]), **limits))
    return found


def tests_of(files: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Tests of all steps by step and node id, from the files that `--costs` wrote."""
    found: dict[str, dict[str, Any]] = {}
    for file in files:
        if file.is_file():
            found |= {f"{file.stem}: {id}": test for id, test in json.loads(file.read_text())["tests"].items()}
    return found


def system_of(id: str, systems: Iterable[Budget]) -> Budget | None:
    file = id.partition(": ")[2].partition("::")[0]
    return next((system for system in systems if system.covers(file)), None)


def costs_by_system(tests: Mapping[str, Mapping[str, Any]], systems: list[Budget]) -> dict[str, Counter[str]]:
    """CPU seconds by system, and by column of the table."""
    found: dict[str, Counter[str]] = {system.name: Counter() for system in systems} | {"(no system)": Counter()}
    for id, test in tests.items():
        system = system_of(id, systems)
        row = found[system.name if system else "(no system)"]
        for part in ("call", "fixtures"):
            for cause, seconds in test[part].items():
                row[CAUSES[cause]] += seconds
    return {name: row for name, row in found.items() if row or name != "(no system)"}


def speed(tests: Mapping[str, Mapping[str, Any]]) -> str:
    """A sentence about the speed of this machine: costs are in seconds of the reference core, not in wall-clock time."""
    factors = [test["factor"] for test in tests.values() if "factor" in test]
    return f"cores here are {statistics.mean(factors):.2f} times as fast as the reference core" if factors else ""


def table(costs: Mapping[str, Counter[str]]) -> str:
    columns = list(dict.fromkeys(CAUSES.values()))
    width = max(map(len, costs), default=0)
    lines = [f"{'CPU seconds':{width}} {'all':>7} " + " ".join(f"{column:>9}" for column in columns)]
    rows = sorted(costs.items(), key=lambda row: -row[1].total())
    for name, row in [*rows, ("all systems", sum((row for _, row in rows), Counter()))]:
        lines.append(f"{name:{width}} {row.total():7.1f} " + " ".join(f"{row[column]:9.1f}" for column in columns))
    return "\n".join(lines)


def longest(tests: Mapping[str, Mapping[str, Any]]) -> str:
    """The tests with the highest CPU time, without compilation and shared fixtures."""
    rows = sorted(((own_s(test), id) for id, test in tests.items()), reverse=True)[:LONGEST_SHOWN]
    return "\n".join(f"{seconds:7.1f} s  {id}" for seconds, id in rows)


def own_s(test: Mapping[str, Any]) -> float:
    """CPU time of the test itself, without compiling shared code and setting up shared fixtures, whose cost falls on a test by chance."""
    return sum(seconds for cause, seconds in test["call"].items() if cause != "compile")


def exceeded(tests: Mapping[str, Mapping[str, Any]], systems: list[Budget], all: bool, slack: float = 1.0) -> list[str]:
    """Exceeded budgets, as sentences. With all examples, single tests take what they need; their system's budget holds.

    slack: by which factor a budget may be exceeded (`SLACK`).
    """
    found = []
    costs = costs_by_system(tests, systems)
    for system in systems:
        row = costs[system.name]
        limits = [("in total", row.total(), system.all_s if all else system.ci_s)]
        if not all:
            limits += [("compiling", row["compile"], system.compile_s), ("in the browser", row["browser"], system.browser_s)]
        for what, spent, limit in limits:
            if spent > limit * slack:
                found.append(f"{system.name}: {spent:.1f} CPU seconds {what}, at most {limit:g} allowed ({FILE.name})")
    for id, test in tests.items():
        owner = system_of(id, systems)
        if owner is None:
            found.append(f"{id}: its file belongs to no system; name one in {FILE.name}")
        elif not all and not test["slow"] and own_s(test) > owner.test_s * slack:
            found.append(f"{id}: {own_s(test):.1f} CPU seconds, at most {owner.test_s:g} allowed without the mark `slow`")
    return found


def not_quick(tests: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Functions (`file::function`) with a test that takes more than QUICK_S of CPU time, or QUICK_WALL_S of the clock."""
    found = {
        id.partition(": ")[2].partition("[")[0]
        for id, test in tests.items()
        if own_s(test) + fixtures_s(test) > QUICK_S or test.get("took_s", 0) > QUICK_WALL_S
    }
    return sorted(found)


def fixtures_s(test: Mapping[str, Any]) -> float:
    return sum(seconds for cause, seconds in test["fixtures"].items() if cause in ("processes", "browser", "spark"))


def compiled(log: Path) -> tuple[str, list[str]]:
    """A sentence about the compiled loops, and the loops that were compiled more than once."""
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.is_file() else []
    loops = [line for line in lines if line["kernel"] == "advance"]
    names = {line["key"]: line["file"] for line in loops}
    counts = Counter((line["key"], line["directory"]) for line in loops)
    often = [f"{key} {names[key]} ({count} times)" for (key, _), count in counts.items() if count > 1]
    seconds = sum(line["cpu_s"] for line in lines)
    return f"{len(loops)} loops compiled, {len(lines) - len(loops)} other kernels, {seconds:.0f} CPU seconds", often
