"""Which package may import which (docs/architecture.md). Reads every import: those inside functions and by name, too.

A new package has to get a line here, so that its place is a decision.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from engine.spec.base.family import kind_of
from engine.spec.experiment.scaling import SCALINGS
from engine.spec.experiment.scaling.looped import Looped
from engine.spec.experiment.scheduling import SCHEDULINGS
from engine.spec.experiment.scheduling.base import Scheduling

ROOT = Path(__file__).resolve().parents[1]
OURS = ("engine", "webapp", "workers", "tests", "benchmarks", "frontend", "migrations")

FAMILIES = (
    "prices",
    "operators",
    "checkpointing",
    "faults",
    "autoscaling",
    "rescaling",
    "scheduling",
    "profiles",
    "sampling",
    "sharing",
    "similarity",
    "placement",
    "workloads",
    "telemetry",
    "services",
)
"""Packages of the engine that know the document and the core, but not one another."""

ROOMS_OF_SPEC = ("base", "expressions", "experiment", "rules", "study", "figure")
"""Each may import those before it."""

PACKAGES_OF_WEBAPP = ("lib", "messaging", "lab", "reports", "maintenance", "accounts", "live", "api")
"""Each may import those before it. The modules directly in `webapp` put them together, and none of them is imported."""

ENGINE_OF_WEBAPP = {
    "engine.spec",
    "engine.prices",
    "engine.profiles",
    "engine.workloads",
    "engine.studies",
    "engine.lessons",
    "engine.diagnosis",
    "engine.telemetry.instances",
    "engine.telemetry.recorded",
    "engine.costmodels.storage",
    "engine.costmodels.metrics",
    "engine.corpus.corpora",
    "engine.corpus.rows",
    "engine.export",
    "engine.core.syntax",
}
"""Files of models and corpora that are imported, documents, what uploads hold, rules on small histories, what files say of a run, and
Python's parser; never a run."""

MAY_IMPORT = {
    "engine.core": {"engine.core"},
    "engine.spec": {"engine.spec", "engine.core"},
    **{
        f"engine.spec.{room}": {"engine.core", *(f"engine.spec.{below}" for below in ROOMS_OF_SPEC[: k + 1])}
        for k, room in enumerate(ROOMS_OF_SPEC)
    },
    **{f"engine.{family}": {f"engine.{family}", "engine.spec", "engine.core"} for family in FAMILIES},
    "engine.operators": {"engine.operators", "engine.prices", "engine.spec", "engine.core"},  # each kind has a price in every list
    "engine.profiles": {"engine.profiles", "engine.prices", "engine.spec", "engine.core"},  # what reads a block has a source's price
    "engine.checkpointing": {"engine.checkpointing", "engine.services", "engine.spec", "engine.core"},  # checkpoints are kept in a store
    "engine.state": {"engine.state", "engine.services", "engine.spec", "engine.core"},  # changes go to a log of a broker
    "engine.rescaling": {"engine.rescaling", "engine.checkpointing", "engine.services", "engine.spec", "engine.core"},
    # the online monitor reads what autoscalers read, and decisions of both look alike in telemetry
    "engine.similarity": {
        "engine.similarity",
        "engine.checkpointing",
        "engine.telemetry",
        "engine.operators",
        "engine.spec",
        "engine.core",
    },
    "engine.relocation": {"engine.relocation", "engine.autoscaling", "engine.placement", "engine.spec", "engine.core"},
    "engine.studies": {"engine.studies", "engine.spec", "engine.core"},  # plans and judges; carries nothing out
    "engine.lessons": {
        "engine.lessons",
        "engine.checkpointing",
        "engine.scheduling",
        "engine.services",  # a changelog is a log of a broker
        "engine.similarity",
        "engine.state",
        "engine.spec",
        "engine.core",
    },
    # reads what a run left behind, and makes the records of its sources again, since a run keeps no counts by key
    "engine.diagnosis": {"engine.diagnosis", "engine.telemetry", "engine.workloads", "engine.spec", "engine.core"},
    "engine.assertions": {"engine.assertions", "engine.studies", "engine.telemetry", "engine.spec", "engine.core"},  # slopes, recoveries
    "engine.costmodels": {"engine.costmodels", "engine.spec", "engine.core.random"},  # a model that saw more would learn its constants
    "engine.corpus": {"engine.corpus", "engine.costmodels", "engine.placement", "engine.spec", "engine.core.random"},
    # a benchmark's query is described as that of a user is
    "engine.corpus.benchmarks": {"engine.corpus", "engine.advice.describe", "engine.spec", "engine.core.random"},
    "engine.corpus.labels": {"engine.corpus", "engine.costmodels", "engine.simulation"},  # costs are measured, so it runs the trace
    "engine.corpus.timelines": {"engine.corpus", "engine.simulation"},  # likewise
    "engine.corpus.fingerprint": {"engine.corpus", "engine.prices", "engine.simulation", "engine.spec"},  # what labels follow from
    "engine.advice": {
        "engine.advice",
        "engine.costmodels",
        "engine.placement",
        "engine.workloads",
        "engine.spec",
        "engine.core.random",
        "engine.core.syntax",
    },
    "engine.learning": {"engine.learning", "engine.corpus", "engine.costmodels", "engine.placement", "engine.spec", "engine.core.random"},
    "engine.learning.queueing": {"engine.learning", "engine.corpus", "engine.costmodels", "engine.prices"},  # the one that knows the costs
    "engine.figures": {"engine"},
    "engine.export": {"engine.export", "engine.workloads", "engine.spec"},  # writes programs; runs none
    "engine.lowering": {"engine.lowering", "engine.operators", "engine.prices", "engine.workloads", "engine.spec", "engine.core"},
    "engine.simulation": {"engine"},  # puts the parts together
    "engine": {"engine.simulation"},  # what `import engine` gives
    "webapp": {"webapp"},
    **{
        f"webapp.{package}": {*ENGINE_OF_WEBAPP, *(f"webapp.{below}" for below in PACKAGES_OF_WEBAPP[: k + 1])}
        for k, package in enumerate(PACKAGES_OF_WEBAPP)
    },
    "webapp.lib": {"webapp.lib"},
    "webapp.messaging": {"webapp.lib", "webapp.messaging"},
    # `manage.py run` is a shell's command, not the web process
    "webapp.lab.management.commands": {
        "webapp",
        "engine",
        "workers.spark.learning",
        "workers.spark.session",
        "workers.spark.streaming",
        "workers.spark.calibrating",
        "workers.spark.predicting",
    },
    "workers": {"workers", "webapp", "engine"},
}

POLICY_PARTS = {
    "engine.autoscaling.metrics",
    "engine.autoscaling.policy",
    "engine.autoscaling.bottlenecks",
    "engine.autoscaling.stabilising",
    "engine.autoscaling.replicas",
    "engine.spec.experiment.scaling",  # their own parameters
    "engine.spec.base.units",
}
SCHEDULER_PARTS = {
    "engine.scheduling.statistics",
    "engine.scheduling.policy",
    "engine.scheduling.slack",
    "engine.scheduling.regression",
    "engine.spec.experiment.scheduling",  # their own parameters
    "engine.core.mathematics",
    "engine.core.layout",  # constants
}
SCHEDULERS = {kind_of(kind) for kind in SCHEDULINGS.kinds if issubclass(kind, Scheduling)} - {"switched"}
"""A scheduling policy sees statistics and its own parameters, and nothing else of a run. `slack` is a part of policies, too."""

HARMLESS = {"__future__", "bisect", "collections", "dataclasses", "fractions", "itertools", "math", "typing"}
POLICIES = {kind_of(kind) for kind in SCALINGS.kinds if issubclass(kind, Looped)} | {"replicas"}
"""An autoscaling policy sees metrics and its own parameters, and nothing else of a run. Who knows the load beforehand is no policy."""

FORBIDDEN_ELSEWHERE = {
    "engine": {"django", "ninja", "channels", "celery", "redis", "pyspark", "httpx", "uvicorn", "daphne", "requests", "socket", "asyncio"},
    "webapp": {"llvmlite", "pyspark", "torch", "lightgbm"},
}
"""Outside packages: the engine is a library without web, queue, network and Spark; the web process runs no engine."""


def modules(package: str) -> Iterator[tuple[str, Path]]:
    for path in sorted((ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imported(name: str, path: Path, root: Path = ROOT) -> Iterator[tuple[int, str]]:
    """Line and full name of everything that the file imports, in functions, for types and by name, too. root: where packages lie."""
    name = name.removeprefix("client.")
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module") and isinstance(node.args[0], ast.Constant):
            yield node.lineno, node.args[0].value
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
                    full if (root / full.replace(".", "/")).is_dir() or (root / (full.replace(".", "/") + ".py")).is_file() else base,
                )


BY_NAME = {
    ("engine.spec.base.operator_kinds", "engine.operators"),
    ("engine.spec.experiment.registry", "engine.placement"),
    ("engine.spec.experiment.registry", "engine.prices"),
    ("engine.spec.rules.resources", "engine.placement"),
    ("engine.spec.rules.resources", "engine.workloads.due"),
    ("engine.spec.base.operator", "engine.core.weave"),
}
"""Documents name kinds that stand in packages above them: these are loaded by name when they are first asked for."""


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
            ours = target.split(".")[0] in OURS and (name, target) not in BY_NAME
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
            wrong = [
                target
                for _, target in imported(name, path)
                if target.split(".")[0] in OURS and not any(within(target, part) for part in POLICY_PARTS)
            ]
            assert not wrong, f"{name} imports {', '.join(wrong)}"
            outside = {target.split(".")[0] for _, target in imported(name, path)} - set(OURS)
            assert outside <= HARMLESS, (name, outside)
            reached.add(leaf)
    assert reached >= {*POLICIES, "metrics", "policy", "bottlenecks", "stabilising"}


def test_plans_of_moves_see_measurements_and_nothing_else() -> None:
    """Links, memory, prices and the query stay hidden from the online monitor: its source measures loads and traffic alone."""
    (path,) = [path for name, path in modules("engine/relocation") if name == "engine.relocation.plans"]
    assert {target.split(".")[0] for _, target in imported("engine.relocation.plans", path)} <= HARMLESS


def test_policies_of_scheduling_see_statistics_and_nothing_else() -> None:
    """The statistics service measures hosts: it sees neither the load, nor its delays, nor prices."""
    reached = set()
    for name, path in modules("engine/scheduling"):
        leaf = name.rpartition(".")[2]
        if leaf in SCHEDULERS or leaf in ("slack", "policy", "regression"):
            wrong = [
                target
                for _, target in imported(name, path)
                if target.split(".")[0] in OURS
                and not any(within(target, part) or target == "engine.core.tables" for part in SCHEDULER_PARTS)
            ]
            assert not wrong, f"{name} imports {', '.join(wrong)}"
            reached.add(leaf)
        elif leaf in ("statistics", "tasks", "cycle", "forwarding"):
            targets = [target for _, target in imported(name, path)]
            assert not [target for target in targets if "workload" in target or "prices" in target or "delays" in target], name
    assert reached == {*SCHEDULERS, "slack", "policy", "regression"}


@pytest.mark.parametrize("root", ["engine", "webapp"])
def test_every_package_has_a_rule_of_its_own(root: str) -> None:
    packages = {path.parent.name for path in (ROOT / root).glob("*/*.py")}
    assert packages, f"the packages of {root} were not found"
    assert not [package for package in packages if f"{root}.{package}" not in MAY_IMPORT]


def test_reading_a_document_loads_neither_the_compiler_nor_the_web() -> None:
    """The web process validates documents; it should not pay for the compiler, and a notebook should not need Django."""
    program = (
        "import sys, engine.spec.rules.validation as v, engine.spec.experiment.document as d\n"
        "v.load(d.read_document('fixtures/experiments/nexmark_q3.yaml'), v.Context())\n"
        "print([m for m in ('llvmlite', 'django', 'celery', 'redis', 'pyspark') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("roots", [("engine",), ("webapp", "workers"), ("client/millrace",)], ids=lambda roots: " and ".join(roots))
def test_no_module_imports_itself_through_others(roots: tuple[str, ...]) -> None:
    """Imports inside functions, for types alone and by name count, too, but for those of BY_NAME."""
    imports: dict[str, set[str]] = {}
    for root in roots:
        for name, path in modules(root):
            found = {target for _, target in imported(name, path, ROOT / "client" if root.startswith("client") else ROOT)}
            imports[name.removeprefix("client.")] = {target.removeprefix("client.") for target in found if (name, target) not in BY_NAME}
    known = {name: sorted(targets & imports.keys() - {name}) for name, targets in imports.items()}
    try:
        list(TopologicalSorter(known).static_order())
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")
