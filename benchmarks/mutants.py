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
from .scaling_mutations import MUTATIONS as SCALING_MUTATIONS

ALL = (*MUTATIONS, *SCALING_MUTATIONS)
PARTS = ("engine", "tests", "fixtures", "webapp", "workers", "benchmarks", "scripts", "pyproject.toml")
PATIENCE_S = 900
TIERS = {"ci": ("not deep and not spark and not browser", "ci"), "all": ("not spark and not browser", "all")}


def failing(files: Sequence[str], tier: str, shared: Path, mutation: Mutation | None = None) -> str | None:
    """The first of the tests that fails on a copy of the tree with this mutation; None if none does. shared: what all trials use."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        for part in PARTS:
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / part, root / part)
        if mutation is not None:
            mutation.apply(root)
        mark, depth = TIERS[tier]
        environment = os.environ | {
            "PYTHONPATH": directory,
            "PYTHONDONTWRITEBYTECODE": "1",
            "MILLRACE_TESTS": depth,
            "HYPOTHESIS_PROFILE": "unshrunk",
            "MILLRACE_ORACLE": str(shared / "oracle"),
            "MILLRACE_KERNELS": str(root if mutation else shared),  # machine code of mutants is of no further use
        }
        options = ["-q", "-x", "-m", mark, "--tb=no", "-p", "no:cacheprovider", "-p", "benchmarks.oracle_store"]
        command = [sys.executable, "-m", "pytest", *options, *files]
        try:
            done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        except subprocess.TimeoutExpired:
            return "timeout"
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return None if done.returncode == 0 else failed[0][:160] if failed else f"pytest ended with {done.returncode}"


def trial(mutation: Mutation, tiers: Sequence[str], shared: Path) -> dict[str, Any]:
    started = time.perf_counter()
    for tier in tiers:
        how = failing(mutation.by, tier, shared, mutation)
        if how is not None:
            return {"mutation": mutation.name, "tier": tier, "how": how, "wall_s": round(time.perf_counter() - started, 1)}
    return {"mutation": mutation.name, "tier": None, "how": "survived", "wall_s": round(time.perf_counter() - started, 1)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="mutations tried at the same time")
    parser.add_argument("--only", default="", help="only mutations whose name contains this")
    parser.add_argument("--from", dest="first", type=int, default=1, help="the first mutation tried, counted from 1")
    parser.add_argument("--to", dest="last", type=int, default=len(ALL), help="the last one")
    parser.add_argument("--ci", action="store_true", help="only the tests of scripts/test")
    arguments = parser.parse_args()
    chosen = [mutation for mutation in ALL[arguments.first - 1 : arguments.last] if arguments.only in mutation.name]
    tiers = ["ci"] if arguments.ci else ["ci", "all"]
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(arguments.workers) as pool:
        shared = Path(directory)
        files = list(dict.fromkeys(file for mutation in chosen for file in mutation.by))
        parts = [files[n :: arguments.workers] for n in range(arguments.workers)]
        wrong = [how for how in pool.map(lambda part: part and failing(part, "ci", shared), parts) if how]
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
