"""Risk 1: one function for everything. What does weaving sixty real-sized operator kinds cost, in compilation and in speed?

The dummies are copies of the engine's own operators (filter, map, aggregate and join in turn) under other names and with their
parameters at other places, so that no two branches of the loop can be merged. A second way is measured beside the one in use: kernels
of the dummies stay functions that the loop calls, so that only the first kinds are put in place ("rare code by call-out").
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.core import weave
from engine.operators import OPERATORS, aggregate, filter, join, map
from tests.engine.agreement import template

from .finding import Finding, cpu_seconds
from .variants import module_of, simulation_on

KINDS = 60
SECONDS_MAX = 30.0
CPU_LIMIT_S = 200
MEMORY_LIMIT_BYTES = 10 << 30
ORIGINALS = (("Filter", filter), ("Map", map), ("Aggregate", aggregate), ("Join", join))


def dummies(count: int) -> dict[str, Any]:
    """`count` operator kinds: their classes, by kind."""
    made: dict[str, Any] = {}
    for n in range(count):
        name, original = ORIGINALS[n % len(ORIGINALS)]
        text = Path(str(original.__file__)).read_text()
        for function in re.findall(r"^def (\w+)\(", text, re.MULTILINE):
            text = re.sub(rf"\b{function}\b", f"dummy{n}_{function}", text)
        text = text.replace("par[at", f"par[at + {7 * n + 1}")
        module = module_of(text, f"dummy_operator_{n}")
        made[f"dummy{n}"] = getattr(module, name)
    return made


def woven(count: int, called: bool) -> str:
    """The loop with so many kinds in all. called: the dummies' kernels are called, not put in place."""
    operators = dict(OPERATORS) | dummies(max(0, count - len(OPERATORS)))
    if not called:
        return weave.weave(operators)
    kernels = tuple(
        getattr(o, point).__name__ for kind, o in operators.items() if kind not in OPERATORS for point in weave.POINTS if hasattr(o, point)
    )
    return as_calls(operators, kernels)


def as_calls(operators: dict[str, Any], kernels: tuple[str, ...]) -> str:
    """Weave with the named kernels left as functions of their own, which the loop calls."""
    inline, entry_points = weave.inline_calls, weave.ENTRY_POINTS
    weave.inline_calls = lambda function, helpers: inline(
        function, {name: helper for name, helper in helpers.items() if name not in kernels}
    )
    weave.ENTRY_POINTS = (*kernels, *entry_points)
    try:
        return weave.weave(operators)
    finally:
        weave.inline_calls, weave.ENTRY_POINTS = inline, entry_points


def compile_once(count: int, called: bool) -> dict[str, float]:
    """Weave, compile and run a little: seconds, memory and the length of the woven text. Meant for a process of its own."""
    text = woven(count, called)
    document = template("nexmark_q3", horizon_s=0.01)
    started, cpu = time.perf_counter(), time.process_time()
    simulation = simulation_on(weave.load(text), document)
    simulation.run_until(simulation.end_ns)
    wall_s, cpu_s = time.perf_counter() - started, time.process_time() - cpu
    speeds = []
    for name in ("nexmark_q3", "nexmark_q12"):
        run = simulation_on(simulation._kernels, template(name, horizon_s=4.0))
        seconds = cpu_seconds(lambda run=run: run.run_until(run.end_ns))
        speeds.append(run.summary()["hops"] / seconds / 1e6)
    return {
        "wall_s": round(wall_s, 1),
        "cpu_s": round(cpu_s, 1),
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "lines": text.count("\n"),
        "q3_million_hops_per_s": round(speeds[0], 2),
        "q12_million_hops_per_s": round(speeds[1], 2),
    }


def in_a_process(count: int, called: bool) -> dict[str, Any]:
    """`compile_once` with an empty cache in a new process, which is stopped at CPU_LIMIT_S or MEMORY_LIMIT_BYTES."""

    def limit() -> None:
        os.nice(5)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, CPU_LIMIT_S))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))

    with tempfile.TemporaryDirectory(prefix="millrace-cold-") as cache:
        code = f"import json; from benchmarks.risks.one_kernel import compile_once; print(json.dumps(compile_once({count}, {called})))"
        environment = {**os.environ, "MILLRACE_KERNELS": cache}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, preexec_fn=limit, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    if done.returncode < 0:
        return {"cpu_s": f"stopped after {CPU_LIMIT_S} s"}
    if "MemoryError" in done.stderr or "Unable to allocate" in done.stderr or "out of memory" in done.stderr.lower():
        return {"memory_mb": f"stopped at {MEMORY_LIMIT_BYTES >> 20}"}
    raise RuntimeError(done.stderr)


def measure() -> Iterator[Finding]:
    for count, called in ((len(OPERATORS), False), (20, False), (KINDS, True), (KINDS, False)):
        measured = in_a_process(count, called)
        gated = count == KINDS
        passed = None
        if gated:
            passed = isinstance(measured.get("cpu_s"), float) and measured["cpu_s"] <= SECONDS_MAX
        gate = f"compiled within {SECONDS_MAX:g} s" if gated else "none"
        yield Finding(1, f"{count} kinds, {'dummies called' if called else 'all put in place'}", gate, passed, measured)
