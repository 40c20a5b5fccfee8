"""Who may import whom (design, section 3). Reads the import lines of every file, those inside functions too.

A new package has to get a line here, so that its place is a decision.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OURS = ("engine", "webapp", "workers", "tests", "benchmarks", "frontend", "migrations")

FAMILIES = (
    "operators",
    "checkpointing",
    "faults",
    "autoscaling",
    "rescaling",
    "scheduling",
    "sampling",
    "sharing",
    "similarity",
    "placement",
    "workloads",
    "telemetry",
    "services",
)
"""Packages of the engine that know the document and the core, but not one another."""

MAY_IMPORT = {
    "engine.core": {"engine.core"},
    "engine.spec": {"engine.spec", "engine.core"},
    **{f"engine.{family}": {f"engine.{family}", "engine.spec", "engine.core"} for family in FAMILIES},
    "engine.checkpointing": {"engine.checkpointing", "engine.services", "engine.spec", "engine.core"},  # checkpoints are kept in a store
    "engine.rescaling": {"engine.rescaling", "engine.checkpointing", "engine.services", "engine.spec", "engine.core"},
    "engine.studies": {"engine.studies", "engine.spec", "engine.core"},  # plans and judges; carries nothing out
    "engine.lessons": {"engine.lessons", "engine.checkpointing", "engine.spec", "engine.core"},
    "engine.figures": {"engine"},
    "engine.lowering": {"engine.lowering", "engine.operators", "engine.workloads", "engine.spec", "engine.core"},
    "engine.simulation": {"engine"},  # puts the parts together
    "engine": {"engine.simulation"},  # what `import engine` gives
    # documents, what uploads hold, and rules on small histories; never a run
    "webapp": {"webapp", "engine.spec", "engine.workloads", "engine.studies", "engine.lessons"},
    "webapp.lab.management.commands": {"webapp", "engine"},  # `manage.py run` is a shell's command, not the web process
    "workers": {"workers", "webapp", "engine"},
}

POLICY_PARTS = {
    "engine.autoscaling.metrics",
    "engine.autoscaling.policy",
    "engine.autoscaling.bottlenecks",
    "engine.autoscaling.stabilising",
    "engine.autoscaling.replicas",
    "engine.spec.scaling",  # their own parameters
    "engine.spec.units",
}
HARMLESS = {"__future__", "bisect", "collections", "dataclasses", "fractions", "itertools", "math", "typing"}
POLICIES = (
    "dhalion",
    "dhalion_heron",
    "ds2",
    "ds2_original",
    "flink",
    "hpa_cpu",
    "hpa_k8s",
    "hpa_varga",
    "replicas",
    "varga_original",
)
"""An autoscaling policy sees metrics and its own parameters, and nothing else of a run. Who knows the load beforehand is no policy."""

FORBIDDEN_ELSEWHERE = {
    "engine": {"django", "ninja", "channels", "celery", "redis", "pyspark", "httpx", "uvicorn", "daphne", "requests", "socket", "asyncio"},
    "webapp": {"llvmlite", "pyspark"},
}
"""Outside packages: the engine is a library without web, queue, network and Spark; the web process runs no engine."""


def modules(package: str) -> Iterator[tuple[str, Path]]:
    for path in sorted((ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imported(name: str, path: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of everything that the file imports."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base]).rstrip(".")
            # `from engine import spec` imports a package, `from engine.spec import Problem` a name out of one
            for alias in node.names:
                full = f"{base}.{alias.name}"
                yield (
                    node.lineno,
                    full if (ROOT / full.replace(".", "/")).is_dir() or (ROOT / (full.replace(".", "/") + ".py")).is_file() else base,
                )


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def rule_of(name: str) -> str:
    """The most special package of MAY_IMPORT that the module is in."""
    fitting = [package for package in MAY_IMPORT if within(name, package)]
    assert fitting, f"{name} has no rule: add its package to MAY_IMPORT"
    return max(fitting, key=len)


@pytest.mark.parametrize("package", ["engine", "webapp", "workers"])
def test_imports_point_in_the_allowed_directions(package: str) -> None:
    wrong = []
    for name, path in modules(package):
        allowed = MAY_IMPORT[rule_of(name)]
        for line, target in imported(name, path):
            ours = target.split(".")[0] in OURS
            if ours and not any(within(target, each) for each in allowed):
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {target}; {rule_of(name)} may import {', '.join(sorted(allowed))}")
            if target.split(".")[0] in FORBIDDEN_ELSEWHERE.get(package, ()):
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {target}, which {package} does without")
    assert not wrong, "\n".join(wrong)


def test_policies_of_autoscaling_see_metrics_and_nothing_else() -> None:
    """What they are made of neither: a policy that could reach the world, or the load to come, could cheat."""
    reached = set()
    for name, path in modules("engine/autoscaling"):
        leaf = name.rpartition(".")[2]
        if leaf in POLICIES or name in POLICY_PARTS:
            wrong = [target for _, target in imported(name, path) if target.split(".")[0] in OURS and target not in POLICY_PARTS]
            assert not wrong, f"{name} imports {', '.join(wrong)}"
            outside = {target.split(".")[0] for _, target in imported(name, path)} - set(OURS)
            assert outside <= HARMLESS, (name, outside)
            reached.add(leaf)
    assert reached >= {*POLICIES, "metrics", "policy", "bottlenecks", "stabilising"}


def test_every_package_of_the_engine_has_a_rule_of_its_own() -> None:
    packages = {path.parent.name for path in (ROOT / "engine").glob("*/*.py")}
    assert packages, "the engine's packages were not found"
    assert not [package for package in packages if f"engine.{package}" not in MAY_IMPORT]


def test_reading_a_document_loads_neither_the_compiler_nor_the_web() -> None:
    """The web process validates documents; it should not pay for the compiler, and a notebook should not need Django."""
    program = (
        "import sys, engine.spec.validation as v, engine.spec.document as d\n"
        "v.load(d.read_document('fixtures/experiments/nexmark_q3.yaml'), v.Context())\n"
        "print([m for m in ('llvmlite', 'django', 'celery', 'redis', 'pyspark') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
