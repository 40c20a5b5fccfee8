"""scripts/test itself: what it leaves out, what it says of a full disk, and whether budgets are kept."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from launcher.environment import Trouble
from testing import budgets, command
from testing.budgets import Budget
from testing.steps import Step, Steps

SYSTEM = Budget("core", ("tests/core/*",), ci_s=10, all_s=100, compile_s=3, browser_s=1, test_s=5)


def costing(seconds: float, cause: str = "other", slow: bool = False) -> dict[str, Any]:
    return {"slow": slow, "call": {cause: seconds}, "fixtures": {}}


@pytest.mark.parametrize(
    ("tests", "says"),
    [
        ({"tests: tests/core/a.py::t": costing(4.0)}, []),
        ({f"tests: tests/core/a.py::t[{n}]": costing(3.5) for n in range(3)},
         ["core: 10.5 CPU seconds in total, at most 10 allowed (budgets.toml)"]),
        ({"tests: tests/core/a.py::t": costing(3.5, "compile")}, ["core: 3.5 CPU seconds compiling, at most 3 allowed (budgets.toml)"]),
        ({"tests: tests/core/a.py::t": costing(1.5, "browser")},
         ["core: 1.5 CPU seconds in the browser, at most 1 allowed (budgets.toml)"]),
        ({"tests: tests/core/a.py::t": costing(6.0)},
         ["tests: tests/core/a.py::t: 6.0 CPU seconds, at most 5 allowed without the mark `slow`"]),
        ({"tests: tests/core/a.py::t": costing(6.0, slow=True)}, []),
        ({"tests: tests/new/a.py::t": costing(0.1)}, ["tests: tests/new/a.py::t: its file belongs to no system; name one in budgets.toml"]),
    ],
)  # fmt: skip
def test_what_is_over_its_budget_is_named(tests: dict[str, Any], says: list[str]) -> None:
    assert budgets.exceeded(tests, [SYSTEM], all=False) == says


def test_a_budget_fails_beyond_its_slack_only() -> None:
    slow, slower = ({"tests: tests/core/a.py::t": costing(seconds) | {"slow": True}} for seconds in (10.5, 15.5))
    assert budgets.exceeded(slow, [SYSTEM], all=False, slack=budgets.SLACK) == []
    assert len(budgets.exceeded(slower, [SYSTEM], all=False, slack=budgets.SLACK)) == 1


def test_with_all_only_the_sum_and_single_tests_count() -> None:
    tests = {f"tests: tests/core/a.py::t[{n}]": costing(4.0, "compile") for n in range(24)}
    assert budgets.exceeded(tests, [SYSTEM], all=True) == []
    tests["tests: tests/core/b.py::t"] = costing(4.5)
    assert budgets.exceeded(tests, [SYSTEM], all=True) == ["core: 100.5 CPU seconds in total, at most 100 allowed (budgets.toml)"]


def test_every_file_of_tests_belongs_to_a_system() -> None:
    systems = budgets.budgets()
    files = [str(path.relative_to(command.ROOT)) for path in (command.ROOT / "tests").rglob("test_*.py")]
    assert [file for file in files if budgets.system_of(f"tests: {file}::t", systems) is None] == []


def test_more_than_usual_needs_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "budgets.toml"
    usual = "[usual]\ntest_s = 5\nci_s = 40\nall_s = 300\ncompile_s = 10\nbrowser_s = 10\n"
    path.write_text(usual + '[[system]]\nname = "core"\nfiles = ["*"]\nci_s = 50\n')
    with pytest.raises(ValueError, match=r"system 'core' exceeds the usual budget \(ci_s\) without a reason \(why\)"):
        budgets.budgets(path)
    path.write_text(usual + '[[system]]\nname = "core"\nfiles = ["*"]\nci_s = 50\nwhy = "because"\n')
    assert budgets.budgets(path)[0].ci_s == 50


def test_a_file_costs_the_first_system_that_covers_it() -> None:
    rest = Budget("rest", ("tests/*",), ci_s=1, all_s=100, compile_s=3, browser_s=1, test_s=5)
    assert budgets.exceeded({"tests: tests/core/a.py::t": costing(4.0)}, [SYSTEM, rest], all=False) == []


def test_the_table_adds_up() -> None:
    text = budgets.table({"core": Counter(compile=1.0, other=2.5), "web": Counter(database=4.0)})
    lines = [line.split() for line in text.splitlines()]
    assert [line[0] for line in lines] == ["CPU", "web", "core", "all"]
    assert lines[-1][2] == "7.5"


def test_loops_are_counted_and_those_compiled_twice_are_named(tmp_path: Path) -> None:
    log = tmp_path / "compiled.jsonl"
    assert budgets.compiled(log) == ("0 loops compiled, 0 other kernels, 0 CPU seconds", [])
    lines = [("a", "advance"), ("b", "advance"), ("a", "advance"), ("c", "small")]
    log.write_text(
        "".join(
            json.dumps({"key": key, "kernel": kernel, "file": "<loop>", "cpu_s": 2.0, "directory": "/kernels"}) + "\n"
            for key, kernel in lines
        )
    )
    assert budgets.compiled(log) == ("3 loops compiled, 1 other kernels, 8 CPU seconds", ["a <loop> (2 times)"])


def test_a_failed_step_ends_no_other_and_its_output_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    steps = Steps(tmp_path)

    def refuses() -> None:
        raise Trouble("node is too old")

    steps.run(
        [Step("first", [sys.executable, "-c", "print('the reason'); raise SystemExit(3)"]), Step("second", [sys.executable, "-c", ""])],
        [Step("third", refuses), Step("fourth", ["nonsense"], needs="there is no Java")],
    )
    said = capfd.readouterr().out
    assert sorted(steps.failed) == ["first", "third"]
    assert steps.left_out == ["fourth (there is no Java)"]
    assert "the reason" in said
    assert "--- first: FAILED (3)" in said
    assert "node is too old" in said
    assert "--- fourth: left out, there is no Java" in said
    assert (tmp_path / "first.log").read_text() == "the reason\n"


def test_steps_are_selected_by_name() -> None:
    lanes = [[Step("tests", []), Step("mutations", [])], [Step("browser", [])]]

    def names(*only: str) -> list[list[str]]:
        return [[step.name for step in lane] for lane in command.selected(lanes, only, done=[Step("tsc", [])])]

    assert names() == [["tests", "mutations"], ["browser"]]
    assert names("mutations", "tsc") == [["mutations"], []]
    with pytest.raises(Trouble, match="no step named browsers; the steps are tsc, tests, mutations, browser"):
        names("browsers")


@pytest.mark.parametrize("others", [["--fast"], ["tests/oracle"]])
def test_steps_are_those_of_a_whole_run(others: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--steps=browser", *others]) == 1
    assert "--steps selects steps of a whole run" in capsys.readouterr().err


def test_lanes_run_side_by_side(tmp_path: Path) -> None:
    """Each waits for the other: one after the other they would never end."""
    met = threading.Barrier(2, timeout=60)
    steps = Steps(tmp_path)
    steps.run([Step("one", lambda: met.wait() and None)], [Step("two", lambda: met.wait() and None)])
    assert steps.failed == []


def test_steps_of_no_lane_go_to_the_lane_that_ends_first(tmp_path: Path) -> None:
    """The long lane ends only when both have run: so the other lane has run them, each once."""
    ran: list[str] = []
    done = threading.Event()

    def last() -> None:
        ran.append("last")
        done.set()

    steps = Steps(tmp_path)
    steps.run(
        [Step("long", lambda: done.wait(60) and None)],
        [Step("short", lambda: None)],
        afterwards=[Step("first", lambda: ran.append("first")), Step("last", last)],
    )
    assert ran == ["first", "last"]
    assert [step.name for step in steps.all] == ["long", "short", "first", "last"]
    assert steps.failed == []


def test_a_step_that_ends_in_an_error_of_its_own_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda broken: told.append(broken.exc_type))
    steps = Steps(tmp_path)
    steps.run([], afterwards=[Step("broken", lambda: [].pop()), Step("after", lambda: None), Step("absent", [], needs="no Java")])
    assert (steps.failed, told) == (["broken", "after"], [IndexError]), "what never ran has not passed"


@pytest.mark.parametrize(("deep", "status"), [(False, 0), (True, 2)])
def test_what_was_left_out_shows_in_the_status_of_all(tmp_path: Path, deep: bool, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    steps = Steps(tmp_path)
    steps.run([Step("Spark", ["nonsense"], needs="there is no Java on PATH or in JAVA_HOME")])
    assert command.verdict(steps, tmp_path, deep, 60.0) == status
    assert "left out: Spark (there is no Java on PATH or in JAVA_HOME)" in capsys.readouterr().out
    assert json.loads((tmp_path / "report.json").read_text())["left_out"]


def test_what_failed_is_said_at_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failed = {**costing(0.1), "failed": True}
    (tmp_path / "tests.json").write_text(json.dumps({"tests": {"tests/engine/core/test_weave.py::test_x": failed}}))
    steps = Steps(tmp_path)
    steps.all = [Step("tests", ["pytest"], status=1)]
    assert command.verdict(steps, tmp_path, False, 60.0) == 1
    assert "failed: tests: tests/engine/core/test_weave.py::test_x\nfailed: tests; 1.0 min" in capsys.readouterr().out


def test_a_full_disk_is_said_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command, "DATA", tmp_path / "tests")
    monkeypatch.setattr(command, "FREE_BYTES_MIN", 1 << 62)
    assert command.main([]) == 1
    assert "GiB are free at" in capsys.readouterr().err


def test_a_directory_that_cannot_be_written_is_said_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(command, "DATA", tmp_path / "file" / "tests")
    assert command.main([]) == 1
    assert "scripts/test: Not a directory" in capsys.readouterr().err


def test_two_calls_have_reports_of_their_own_and_old_ones_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "DATA", tmp_path)
    pids = iter(range(1, 100))
    monkeypatch.setattr(os, "getpid", lambda: next(pids))
    for _ in range(command.REPORTS_KEPT + 3):
        with command.report_directory() as report:
            (report / "report.txt").write_text("")
    assert len(list(tmp_path.iterdir())) == command.REPORTS_KEPT


def test_the_tiers_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--fast", "--all"]) == 1
    assert "give only one" in capsys.readouterr().err


@pytest.mark.parametrize(("found", "says"), [(None, "there is no Java on PATH or in JAVA_HOME"), ("/usr/bin/java", "")])
def test_java_is_looked_for(found: str | None, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command.shutil, "which", lambda name: found)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert command.java() == says


def test_without_chromium_and_rights_the_browser_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command.shutil, "which", lambda name: None)
    assert command.chromium() == "there is no Chromium, and installing it needs root on Debian"


def test_without_a_wheel_postgresql_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "PYTHON", Path(sys.executable))
    monkeypatch.setattr(command.subprocess, "run", lambda *_, **__: type("Done", (), {"returncode": 1})())

    def refuses(*_: Any, **__: Any) -> None:
        raise Trouble("no matching distribution")

    monkeypatch.setattr(command, "install", refuses)
    assert command.postgresql() == "there is no wheel of PostgreSQL for this machine"
