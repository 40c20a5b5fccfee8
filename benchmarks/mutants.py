"""Do the tests notice faults? Breaks one line at a time and runs the tests that ought to tell.

    python -m benchmarks.mutants [--workers 2] [--only NAME] [--from N] [--to N] [--changed] [--ci] [--record]

Each mutation is made in a copy of the tree. There pytest runs up to the first failure: first the test that caught the mutation last time
(`caught.json`), then the files named beside the mutation, with the tests of scripts/test, and if all of them pass, with those of
scripts/test --all (not with --ci). Prints one JSON line per mutation (`tier`: ci, all, or null for a survivor; `test`: the one that failed
or hung) and one for the total; --record writes the tests into caught.json, with a digest of the file that the mutation breaks and of the
test's. --changed leaves out mutations whose two files are as they were then. What the oracle finds is computed once, on the unchanged
tree, whose tests must pass. Status 0 if every mutation is caught.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from tests.mutations.core import CORE, LIKELY, MUTATIONS, ROOT, Mutation
from tests.mutations.engines import MUTATIONS as ENGINE_MUTATIONS
from tests.mutations.hardening import MUTATIONS as HARDENING_MUTATIONS
from tests.mutations.incremental import MUTATIONS as INCREMENTAL_MUTATIONS
from tests.mutations.laws import MUTATIONS as LAW_MUTATIONS
from tests.mutations.moving import MUTATIONS as MOVING_MUTATIONS
from tests.mutations.scaling import MUTATIONS as SCALING_MUTATIONS
from tests.mutations.scheduling import MUTATIONS as SCHEDULING_MUTATIONS
from tests.mutations.similarity import MUTATIONS as SIMILARITY_MUTATIONS

from .requirements import require

ALL = (
    *MUTATIONS,
    *SCALING_MUTATIONS,
    *SCHEDULING_MUTATIONS,
    *LAW_MUTATIONS,
    *MOVING_MUTATIONS,
    *ENGINE_MUTATIONS,
    *SIMILARITY_MUTATIONS,
    *INCREMENTAL_MUTATIONS,
    *HARDENING_MUTATIONS,
)
CAUGHT = ROOT / "benchmarks" / "caught.json"
PARTS = (
    *("engine", "tests", "fixtures", "webapp", "workers", "benchmarks", "scripts", "migrations", "pyproject.toml", "manage.py"),
    *("requirements.txt", "Dockerfile", "frontend/src/app/refusals.json"),
)
PATIENCE_S = {"ci": 150, "all": 1800}
"""A group of tests that takes longer hangs; unchanged it takes a fifth of that."""
PATIENCE_FOR_ONE_S = 60
CAUGHT_STATUS = (1, 2)
"""Statuses of pytest where a test fails and where a file of tests cannot be imported. 4 is a test that is no longer there."""
NO_TESTS = 5
"""Status of pytest where all tests are of another tier."""
TIERS = {"ci": ("not deep and not spark and not browser", "ci"), "all": ("not spark and not browser", "all")}


class Caught(NamedTuple):
    """How a mutation shows. test: the one that failed or hung; empty where pytest could not start."""

    test: str
    how: str


def tests_in(root: Path, tests: Sequence[str], tier: str, patience_s: float, shared: Path, kernels: Path) -> tuple[int | None, str]:
    """Run these tests in this copy of the tree up to the first failure: pytest's status, None if it hangs, and the last test it began.

    shared: what all trials use. kernels: where compiled kernels are stored.
    """
    mark, depth = TIERS[tier]
    began = root / "began.txt"
    began.unlink(missing_ok=True)
    environment = os.environ | {
        "PYTHONPATH": str(root),
        "MILLRACE_TESTS": depth,
        "HYPOTHESIS_PROFILE": "unshrunk",
        "MILLRACE_ORACLE": str(shared / "oracle"),
        "MILLRACE_KERNELS": str(kernels),
        "MILLRACE_BEGAN": str(began),
    }
    options = ["-q", "-x", "-m", mark, "--tb=no", "-p", "no:cacheprovider", "-p", "benchmarks.trial_plugin"]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    process = subprocess.Popen(
        command, cwd=root, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        status = process.wait(patience_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        status = None
    return status, began.read_text() if began.is_file() else ""


def caught_by(tests: Sequence[str], tier: str, root: Path, shared: Path, kernels: Path, patience_s: float) -> Caught | None:
    """None if all these tests pass."""
    status, last = tests_in(root, tests, tier, patience_s, shared, kernels)
    if status in (0, NO_TESTS):
        return None
    return Caught(last, "hangs" if status is None else "fails" if last else f"pytest ends with {status}")


def trial(mutation: Mutation, tiers: Sequence[str], shared: Path, template: Path, last_time: Mapping[str, str]) -> dict[str, Any]:
    """The test that caught it last time comes first. The others are tried in groups, what notices most first: each group is a process,
    which takes seconds to import its files."""
    started = time.perf_counter()
    result: dict[str, Any] = {"mutation": mutation.name, "tier": None, "test": "", "how": "survived"}
    with tempfile.TemporaryDirectory() as directory:
        root, kernels = Path(directory) / "tree", Path(directory) / "kernels"
        shutil.copytree(template, root, symlinks=True, copy_function=os.link)
        shutil.copytree(shared / "kernels", kernels, copy_function=os.link)  # those that the mutation does not change
        mutation.apply(root)
        if last_time and last_time["tier"] in tiers and last_time["test"]:
            status, test = tests_in(root, [last_time["test"]], last_time["tier"], PATIENCE_FOR_ONE_S, shared, kernels)
            if status is None or status in CAUGHT_STATUS:
                result |= {"tier": last_time["tier"], "test": test, "how": "hangs" if status is None else "fails"}
        likely = (*LIKELY.get(mutation.file, ()), *mutation.by) if mutation.by is CORE else mutation.by
        by = tuple(dict.fromkeys(likely))
        groups = [(tier, files) for tier in tiers for files in (by[:1], by[1:4], by[4:]) if files]
        while result["tier"] is None and groups:
            tier, files = groups.pop(0)
            found = caught_by(files, tier, root, shared, kernels, PATIENCE_S[tier])
            if found is not None:
                result |= {"tier": tier, **found._asdict()}
    return {**result, "wall_s": round(time.perf_counter() - started, 1)}


def digest_of(mutation: Mutation, test: str) -> str:
    """Of what decides whether the test catches the mutation: the file that it breaks, and that of the test. Helpers of tests and other
    files of the engine are left out, so now and then all mutations are to be tried."""
    words = (mutation.old, mutation.new, *(_text(name) for name in (mutation.file, test.partition("::")[0])))
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]


def _text(name: str) -> str:
    path = ROOT / name
    return path.read_text() if path.is_file() else ""


def template_of_tree(template: Path) -> None:
    """A copy of what the tests need, without anything that was compiled."""
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, template / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            (template / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / part, template / part)
    (template / ".venv").symlink_to(sys.prefix)  # where the launcher finds Redis


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="mutations tried at the same time")
    parser.add_argument("--only", default="", help="only mutations whose name contains this")
    parser.add_argument("--from", dest="first", type=int, default=1, help="the first mutation tried, counted from 1")
    parser.add_argument("--to", dest="last", type=int, default=len(ALL), help="the last one")
    parser.add_argument("--changed", action="store_true", help="only mutations whose file or test has changed since they were caught")
    parser.add_argument("--ci", action="store_true", help="only the tests of scripts/test")
    parser.add_argument("--record", action="store_true", help="write the tests that catch the mutations into caught.json")
    arguments = parser.parse_args()
    require("pytest", "hypothesis", "simpy")  # else every mutation would look caught
    chosen = [mutation for mutation in ALL[arguments.first - 1 : arguments.last] if arguments.only in mutation.name]
    tiers = ["ci"] if arguments.ci else ["ci", "all"]
    last_time = json.loads(CAUGHT.read_text()) if CAUGHT.is_file() else {}
    if arguments.changed:
        known = {name: about.get("digest") for name, about in last_time.items()}
        chosen = [one for one in chosen if known.get(one.name) != digest_of(one, last_time.get(one.name, {}).get("test", ""))]
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(arguments.workers) as pool:
        shared, template = Path(directory), Path(directory) / "template"
        template_of_tree(template)
        (shared / "kernels").mkdir()
        tests = {mutation.name: last_time.get(mutation.name, {}) for mutation in chosen}
        for tier in tiers:
            wanted = {test["test"] for test in tests.values() if test.get("tier") == tier and test["test"]}
            if tier == "ci":
                wanted |= {file for mutation in chosen if not tests[mutation.name] for file in mutation.by}
            wrong = caught_by(sorted(wanted), tier, template, shared, shared / "kernels", PATIENCE_S["all"]) if wanted else None
            if wrong:
                raise SystemExit(f"the unchanged tests do not pass: {wrong.test} {wrong.how}")
        found = []
        for result in pool.map(lambda mutation: trial(mutation, tiers, shared, template, tests[mutation.name]), chosen):
            found.append(result)
            print(json.dumps(result), flush=True)
            if arguments.record and result["tier"]:
                digest = digest_of(next(one for one in chosen if one.name == result["mutation"]), result["test"])
                last_time[result["mutation"]] = {"tier": result["tier"], "test": result["test"], "digest": digest}
                CAUGHT.write_text(json.dumps(last_time, indent=1, ensure_ascii=False) + "\n")
    caught = {tier: sum(result["tier"] == tier for result in found) for tier in tiers}
    survivors = [result["mutation"] for result in found if result["tier"] is None]
    print(json.dumps({"mutations": len(found), "caught": caught, "survivors": survivors}))
    return 1 if survivors and not arguments.ci else 0


if __name__ == "__main__":
    sys.exit(main())
