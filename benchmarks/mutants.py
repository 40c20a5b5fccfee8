"""Do the tests notice faults? Breaks one line at a time and runs the tests that ought to tell.

    python -m benchmarks.mutants [--workers 2] [--only NAME] [--from N] [--to N] [--ci]

Each mutation is made in a copy of the tree. There pytest runs the files named beside it up to the first failure: first the tests of
scripts/test, and if all of them pass, those of scripts/test --all (not with --ci). Prints one JSON line per mutation (`tier`: ci, all, or
null for a survivor; `how`: the test that failed) and one for the total. What the oracle finds is computed once, on the unchanged tree,
whose tests must pass. Status 0 if every mutation is caught.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .mutations import MUTATIONS, ROOT, Mutation
from .requirements import require
from .scaling_mutations import MUTATIONS as SCALING_MUTATIONS

ALL = (*MUTATIONS, *SCALING_MUTATIONS)
PARTS = ("engine", "tests", "fixtures", "webapp", "workers", "benchmarks", "scripts", "pyproject.toml")
PATIENCE_S = {"ci": 150, "all": 1800}
"""A group of tests that takes longer hangs; unchanged it takes a fifth of that."""
NO_TESTS = 5
"""Status of pytest where all tests are of another tier."""
TIERS = {"ci": ("not deep and not spark and not browser", "ci"), "all": ("not spark and not browser", "all")}


def copy_of_tree(root: Path) -> None:
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / part, root / part)


def failing(files: Sequence[str], tier: str, root: Path, shared: Path, kernels: Path) -> str | None:
    """The first of the tests that fails in this copy of the tree; None if none does. shared: what all trials use."""
    mark, depth = TIERS[tier]
    environment = os.environ | {
        "PYTHONPATH": str(root),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MILLRACE_TESTS": depth,
        "HYPOTHESIS_PROFILE": "unshrunk",
        "MILLRACE_ORACLE": str(shared / "oracle"),
        "MILLRACE_KERNELS": str(kernels),
    }
    options = ["-q", "-x", "-m", mark, "--tb=no", "-p", "no:cacheprovider", "-p", "benchmarks.oracle_store"]
    command = [sys.executable, "-m", "pytest", *options, *files]
    try:
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=PATIENCE_S[tier], check=False)
    except subprocess.TimeoutExpired:
        return "timeout"
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return None if done.returncode in (0, NO_TESTS) else failed[0][:160] if failed else f"pytest ended with {done.returncode}"


def trial(mutation: Mutation, tiers: Sequence[str], shared: Path) -> dict[str, Any]:
    """The tests are tried in groups, what notices most first: each group is a process, which takes seconds to import its files."""
    started = time.perf_counter()
    result: dict[str, Any] = {"mutation": mutation.name, "tier": None, "how": "survived"}
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        copy_of_tree(root)
        mutation.apply(root)
        for tier, files in ((tier, files) for tier in tiers for files in (mutation.by[:1], mutation.by[1:4], mutation.by[4:]) if files):
            how = failing(files, tier, root, shared, root)
            if how is not None:
                result |= {"tier": tier, "how": how}
                break
    return {**result, "wall_s": round(time.perf_counter() - started, 1)}


def unchanged(files: Sequence[str], shared: Path) -> str | None:
    """The first of the tests that fails on the tree as it is."""
    with tempfile.TemporaryDirectory() as directory:
        copy_of_tree(Path(directory))
        return failing(files, "ci", Path(directory), shared, shared)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="mutations tried at the same time")
    parser.add_argument("--only", default="", help="only mutations whose name contains this")
    parser.add_argument("--from", dest="first", type=int, default=1, help="the first mutation tried, counted from 1")
    parser.add_argument("--to", dest="last", type=int, default=len(ALL), help="the last one")
    parser.add_argument("--ci", action="store_true", help="only the tests of scripts/test")
    arguments = parser.parse_args()
    require("pytest", "hypothesis", "simpy")  # else every mutation would look caught
    chosen = [mutation for mutation in ALL[arguments.first - 1 : arguments.last] if arguments.only in mutation.name]
    tiers = ["ci"] if arguments.ci else ["ci", "all"]
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(arguments.workers) as pool:
        shared = Path(directory)
        files = list(dict.fromkeys(file for mutation in chosen for file in mutation.by))
        parts = [files[n :: arguments.workers] for n in range(arguments.workers)]
        wrong = [how for how in pool.map(lambda part: unchanged(part, shared), filter(None, parts)) if how]
        if wrong:
            raise SystemExit(f"the unchanged tests do not pass: {wrong}")
        found = []
        for result in pool.map(lambda mutation: trial(mutation, tiers, shared), chosen):
            found.append(result)
            print(json.dumps(result), flush=True)
    caught = {tier: sum(result["tier"] == tier for result in found) for tier in tiers}
    survivors = [result["mutation"] for result in found if result["tier"] is None]
    print(json.dumps({"mutations": len(found), "caught": caught, "survivors": survivors}))
    return 1 if survivors and not arguments.ci else 0


if __name__ == "__main__":
    sys.exit(main())
