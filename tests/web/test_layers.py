"""Who may import whom (docs and design): the web process never runs an engine, and nobody below knows those above."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from .conftest import ROOT

FORBIDDEN = {
    "webapp": ("workers", "engine.core", "engine.simulation", "engine.plan", "engine.logs", "engine.telemetry", "pyspark"),
    "workers": ("webapp.api", "webapp.accounts"),
    "engine": ("webapp", "workers", "django", "celery", "redis", "pyspark", "httpx"),
    "webapp/lib": ("webapp.lab", "webapp.api", "webapp.live", "webapp.accounts", "engine"),
    "webapp/lab": ("webapp.api", "webapp.live"),
}
ALLOWED = {"webapp/lab/management/commands/run.py"}  # the command runs an engine on purpose; it is no part of the web process


def imported(path: Path) -> set[str]:
    """Names of the modules that a file imports, absolutely."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


@pytest.mark.parametrize("package", FORBIDDEN)
def test_imports_go_one_way(package: str) -> None:
    offences = []
    for path in sorted((ROOT / package).rglob("*.py")):
        name = str(path.relative_to(ROOT))
        if name in ALLOWED:
            continue
        for module in imported(path):
            for layer in FORBIDDEN[package]:
                if module == layer or module.startswith(f"{layer}."):
                    offences.append(f"{name} imports {module}")
            if package == "webapp" and module in ("engine.run", "engine.Simulation"):
                offences.append(f"{name} runs an engine")
    assert offences == []
