"""Do the tests of autoscaling and rescaling notice faults? Breaks one line at a time and runs the tests that ought to tell.

    python -m benchmarks.scaling_mutations [--only NAME]

Each mutation (`benchmarks.mutations`) is made in a copy of the tree, in which pytest runs the files named beside it up to the first
failure. Prints one JSON line per mutation (`caught`: false for a survivor; `how`: the test that failed) and one for the total. All are
expected to be caught; the unchanged tests pass, or else nothing can be said.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .mutations import ROOT, Mutation

AUTOSCALING, RESCALING = "engine/autoscaling", "engine/rescaling"
VECTORS, POLICIES, LOOP, FLINK, ORACLE, JUDGING, READINGS, SERVICE, RUNS = (
    f"tests/engine/test_{name}.py"
    for name in (
        "autoscaling_vectors",
        "autoscaling_policies",
        "autoscaling_loop",
        "flink_autoscaler",
        "scaling_oracle",
        "autoscaling_judging",
        "metric_readings",
        "metric_service",
        "autoscaled_runs",
    )
)
QUERIES, PARTS = "tests/engine/test_rescaled_queries.py", "tests/engine/test_parts_of_savepoints.py"
PATIENCE_S = 500


@dataclass(frozen=True)
class Told(Mutation):
    """by: files of the tests that ought to fail."""

    by: tuple[str, ...] = ()


MUTATIONS = (
    # what policies compute
    Told("DS2 takes all time for busy", f"{AUTOSCALING}/ds2.py", "processing += rate / busy", "processing += rate", (VECTORS, POLICIES)),
    Told("DS2 rounds down", f"{AUTOSCALING}/ds2.py", "math.ceil(needed)", "math.floor(needed)", (VECTORS, POLICIES)),
    Told("Dhalion takes the blocked share as it is", f"{AUTOSCALING}/dhalion.py", "beta / (1 - beta)", "beta", (VECTORS, POLICIES)),
    Told("a wish is forgotten when it is as old as the window", f"{AUTOSCALING}/stabilising.py", "<= self._span_ns", "< self._span_ns",
         (VECTORS, POLICIES)),
    Told("the HPA scales down at once", f"{AUTOSCALING}/stabilising.py", "return max(n for", "return min(n for", (VECTORS, POLICIES)),
    Told("Flink's wish to scale down waits for nothing", f"{AUTOSCALING}/flink.py", "requests[0][0] + self._down_interval_ns:",
         "requests[0][0]:", (FLINK,)),
    Told("Flink forgets what comes in a restart", f"{AUTOSCALING}/flink.py", "load.target * self._restart_s() /",
         "0 * self._restart_s() /", (FLINK,)),
    Told("the oracle drains during the outage", f"{AUTOSCALING}/oracle.py", "serving_ns = until_ns - start_ns - self._outage_ns",
         "serving_ns = until_ns - start_ns", (ORACLE,)),
    Told("the slowest instance has as few groups as the fastest", f"{AUTOSCALING}/truth.py", "Fraction(parts, -(-parts // p))",
         "Fraction(parts, parts // p)", (ORACLE,)),
    # what becomes of a wish
    Told("over-provisioning rounds down", f"{AUTOSCALING}/fitting.py", "math.ceil(p * over", "math.floor(p * over", (VECTORS, POLICIES)),
    Told("a step is limited downwards, too", f"{AUTOSCALING}/fitting.py", "min(p, current[vertex] + step_max)",
         "max(min(p, current[vertex] + step_max), current[vertex] - step_max)", (VECTORS, POLICIES)),
    Told("a fit rounds halves up", f"{AUTOSCALING}/fitting.py", "round(factor * (p - least[vertex]))",
         "math.floor(factor * (p - least[vertex]) + Fraction(1, 2))", (VECTORS, POLICIES)),
    Told("what is left over goes to the smallest wish", f"{AUTOSCALING}/fitting.py", "key=lambda vertex: -wanted[vertex]",
         "key=lambda vertex: wanted[vertex]", (VECTORS, POLICIES)),
    Told("the call takes no time of the silence", f"{AUTOSCALING}/loop.py", "seconds_ns(about.call_s) + seconds_ns(about.cooldown_s)",
         "seconds_ns(about.cooldown_s)", (LOOP, RUNS)),
    Told("an iteration ends a silence", f"{AUTOSCALING}/loop.py", "max(now_ns, self.quiet_until_ns) + self._times.every_ns",
         "max(now_ns + self._times.every_ns, self.quiet_until_ns)", (LOOP, RUNS)),
    # what is read
    Told("windows are open at their beginning", f"{AUTOSCALING}/metrics.py", "bisect_left(self.times_ns, self.times_ns[-1] - window_ns)",
         "bisect_left(self.times_ns, self.times_ns[-1] - window_ns + 1)", (READINGS,)),
    Told("counters of who begins anew go on", f"{AUTOSCALING}/scrapes.py", "base[own] = self._last[what][own]", "pass", (SERVICE, RUNS)),
    Told("what stands still is scraped", f"{AUTOSCALING}/scrapes.py", "if part.name in stand:", "if False:", (SERVICE, RUNS)),
    # lags and outages
    Told("what is read again is no lag", f"{AUTOSCALING}/observing.py", "(w.inst[here, L.I_IN] - w.inst[here, L.I_AGAIN]).sum()",
         "w.inst[here, L.I_IN].sum()", (RUNS,)),
    Told("what logs have dropped is lag", f"{AUTOSCALING}/observing.py", "(read + dropped) *", "read *", (RUNS,)),
    Told("outages count from the order", f"{AUTOSCALING}/observing.py", "[(self._stopped_ns(each), each", "[(each.ordered_ns, each",
         (RUNS,)),
    Told("nobody waits while the job is down", f"{AUTOSCALING}/observing.py", "if row[4] and not row[6] else row[5] / SECOND_NS",
         "if row[4] else 0", (RUNS,)),
    Told("halves of the lag overlap", f"{AUTOSCALING}/judging.py", "if half_ns < at_ns <= to_ns", "if from_ns < at_ns <= to_ns",
         (JUDGING,)),
    # who takes what
    Told("ranges of key groups begin too early", f"{RESCALING}/stopping.py", "range(-(-index * groups // parallelism),",
         "range(index * groups // parallelism,", (PARTS, QUERIES)),
    Told("partitions are dealt out in turn", "engine/core/arrangement.py", "np.arange(partitions) * active // partitions",
         "np.arange(partitions) % active", (PARTS, QUERIES)),
    Told("key groups are dealt out in turn", "engine/core/arrangement.py",
         "np.arange(groups) * w.op[edge[L.E_TARGET], L.O_PARALLEL] // groups",
         "np.arange(groups) % w.op[edge[L.E_TARGET], L.O_PARALLEL]", (PARTS, QUERIES)),
    Told("who takes over goes on with the newest watermark", f"{RESCALING}/stopping.py", "min(mark.watermark_ns for mark in old), min(",
         "max(mark.watermark_ns for mark in old), min(", (PARTS, QUERIES)),
    Told("partitions go on where their new owner is", "engine/logs.py", "return [max(self.place(w, first + index), floor, key=_turn) for",
         "return [self.place(w, first + index) for", (PARTS, QUERIES)),
)  # fmt: skip


def passes(files: tuple[str, ...], mutation: Mutation | None = None) -> dict[str, Any]:
    """What the tests say of a copy of the tree with this mutation, or of an unchanged one."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        for part in ("engine", "tests", "fixtures", "webapp", "benchmarks", "pyproject.toml"):
            kind = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
            kind(ROOT / part, root / part)
        if mutation is not None:
            mutation.apply(root)
        environment = os.environ | {"PYTHONPATH": directory, "HYPOTHESIS_PROFILE": "fast", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not slow", "--tb=no", "-p", "no:cacheprovider", *files]
        try:
            done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
            failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
            how = "survived" if done.returncode == 0 else failed[0][:160] if failed else f"pytest ended with {done.returncode}"
        except subprocess.TimeoutExpired:
            how = "timeout"
    name = mutation.name if mutation else "(none)"
    return {"mutation": name, "caught": how != "survived", "how": how, "wall_s": round(time.perf_counter() - started, 1)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="only mutations whose name contains this")
    arguments = parser.parse_args()
    chosen = [mutation for mutation in MUTATIONS if arguments.only in mutation.name]
    unchanged = passes(tuple(dict.fromkeys(file for mutation in chosen for file in mutation.by)))
    if unchanged["caught"]:
        raise SystemExit(f"the unchanged tests do not pass: {unchanged}")
    found = []
    for mutation in chosen:
        found.append(passes(mutation.by, mutation))
        print(json.dumps(found[-1]), flush=True)
    survivors = [result["mutation"] for result in found if not result["caught"]]
    print(json.dumps({"mutations": len(found), "caught": len(found) - len(survivors), "survivors": survivors}))
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
