"""The command `millrace`, as an installed engine has it.

What this catches: an engine that cannot run without the lab around it, and problems that are printed where no reader looks for them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import engine
from engine.simulation.command_line import main

ROOT = Path(__file__).resolve().parents[3]


def written(directory: Path, **workload: object) -> Path:
    document = yaml.safe_load((ROOT / "fixtures" / "experiments" / "nexmark_q1.yaml").read_text())
    document["workload"] |= {"horizon_s": 0.1, "warmup_s": 0.0, **workload}
    file = directory / "experiment.yaml"
    file.write_text(yaml.safe_dump(document))
    return file


def test_a_run_is_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path)
    twin = engine.run(file)
    assert main(["run", str(file), "--json", "--out", str(tmp_path / "out")]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["digest"] == twin.digest
    assert all(Path(path).is_file() for path in result["artifacts"])
    assert main(["run", str(file), "--slowest", "1"]) == 0
    printed = capsys.readouterr().out
    assert f"  digest      {twin.digest}\n" in printed
    assert " at sink[" in printed


@pytest.mark.parametrize(
    ("checks", "status", "states"),
    [
        (["lost == 0"], 0, ["holds"]),
        (["lost == 0", "recovery.longest_s < 1"], 7, ["holds", "cannot be judged"]),
        (["lost == 1", "recovery.longest_s < 1"], 3, ["fails", "cannot be judged"]),
    ],
)
def test_assertions_decide_the_exit_status(
    checks: list[str], status: int, states: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What cannot be judged does not pass in somebody's CI, and a failure counts most."""
    file = written(tmp_path)
    document = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump({**document, "assertions": [{"name": f"\u05e2 {check}", "check": check} for check in checks]}))
    assert main(["run", str(file), "--json"]) == status
    found = json.loads(capsys.readouterr().out)["assertions"]
    assert [verdict["state"] for verdict in found] == states
    assert found[0]["measured"] == [{"text": "lost", "least": 0.0, "most": 0.0, "unit": "records"}]
    assert main(["run", str(file)]) == status
    printed = capsys.readouterr().out
    assert all(f"  {state:<16}  \u05e2 {check}: {check}" in printed for check, state in zip(checks, states, strict=True))
    assert "lost = 0 records" in printed


@pytest.mark.parametrize("command", ["run", "validate"])
def test_problems_are_named(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, horizon_s=-1)
    assert main([command, str(file)]) == 2
    printed = capsys.readouterr()
    assert (printed.out, "  /workload/horizon_s: " in printed.err) == ("", True)
    assert main([command, str(file), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["problems"][0]["pointer"] == "/workload/horizon_s"
    assert main([command, str(tmp_path / "none.yaml")]) == 6
    assert "none.yaml cannot be read" in capsys.readouterr().err


def test_a_document_is_checked_without_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path)
    assert main(["validate", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"problems": [], "hash": engine.Simulation(file).experiment.hash}


def test_kinds_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kinds", "placements"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]] == ["spread", "by_operator", "staged", "explicit"]
    assert main(["kinds", "measurements"]) == 0
    assert "  latency_ms.p99               ms         99th percentile of the latency.\n" in capsys.readouterr().out
    assert main(["kinds", "--json"]) == 0
    assert {"operators", "scalings", "functions"} <= set(json.loads(capsys.readouterr().out))
    assert main(["kinds", "places"]) == 2
    assert "there is no family 'places'; it must be one of operators, " in capsys.readouterr().err


@pytest.mark.deep
@pytest.mark.slow
def test_the_package_is_all_that_the_command_needs(tmp_path: Path) -> None:
    """Installed to a directory of its own, the command runs outside of the checkout."""
    source = tmp_path / "source"  # building leaves files behind
    shutil.copytree(ROOT / "engine", source / "engine")
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source)
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(tmp_path / "packages"), str(source)]
    subprocess.run(install, check=True, capture_output=True)
    file = written(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "packages"), "MILLRACE_KERNELS": str(tmp_path / "kernels")}
    command = [str(tmp_path / "packages" / "bin" / "millrace"), "run", str(file), "--json"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["digest"] == engine.run(file).digest
