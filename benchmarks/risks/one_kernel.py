"""Risk 1: one function for everything. What does weaving sixty real-sized operator kinds cost, in compilation and in speed?

The dummies are copies of the engine's own operators (filter, map, aggregate and join in turn) under other names and with their
parameters at other places, so that no two branches of the loop can be merged. Measured are the sets that queries use, and sets that grow
with all kernels put in place, and as the engine weaves them (many kinds: called).
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.core import weave
from engine.operators import OPERATORS, aggregate, filter, join, map
from tests.engine.agreement import TEMPLATES, template

from .finding import Finding, cpu_seconds, interleaved
from .variants import module_of, simulation_on

KINDS = 60
SECONDS_MAX = 30.0
SECONDS_PER_KIND_MAX = 1.0
LOSS_MAX = 0.03
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


def loop_of(count: int, in_place: bool) -> weave.Loop:
    """The loop with so many kinds in all."""
    if in_place:
        weave.IN_PLACE_KINDS_MAX = count
    return weave.weave(dict(OPERATORS) | dummies(max(0, count - len(OPERATORS))))


def compile_once(count: int, in_place: bool) -> dict[str, float]:
    """Weave, compile and run a little: processor seconds and memory, and the speed of Q3 and Q12 against a loop with their own kinds alone.

    Meant for a process of its own, with an empty directory of kernels.
    """
    loop = loop_of(count, in_place)
    simulation = simulation_on(loop, template("nexmark_q3", horizon_s=0.01))
    found = {"cpu_s": round(cpu_seconds(lambda: loop.advance(simulation._world.arrays, 0)), 1)}
    found["memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    for name in ("nexmark_q3", "nexmark_q12"):

        def speed(on: weave.Loop | None, name: str = name) -> float:
            run = simulation_on(on, template(name, horizon_s=4.0)) if on else own_loop(template(name, horizon_s=4.0))
            seconds = cpu_seconds(lambda: run.run_until(run.end_ns))
            return float(run.summary()["hops"]) / seconds / 1e6

        alone, among = interleaved(5, lambda: speed(None), lambda: speed(loop))
        found |= {f"{name}_million_hops_per_s": round(among, 2), f"{name}_loss": round(1 - among / alone, 3)}
    return found


def own_loop(document: dict[str, Any]) -> Any:
    import engine

    return engine.Simulation(document)


def in_a_process(code: str) -> dict[str, Any]:
    """What an expression of this module gives, with an empty directory of kernels, in a process that is stopped at CPU_LIMIT_S or
    MEMORY_LIMIT_BYTES."""

    def limit() -> None:
        os.nice(5)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT_S, CPU_LIMIT_S))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))

    with tempfile.TemporaryDirectory(prefix="millrace-cold-") as cache:
        program = f"import json; from benchmarks.risks.one_kernel import *; print(json.dumps({code}))"
        environment = {**os.environ, "MILLRACE_KERNELS": cache}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, preexec_fn=limit, check=False
        )
    if done.returncode == 0:
        return dict(json.loads(done.stdout.splitlines()[-1]))
    if done.returncode < 0:
        return {"cpu_s": f"stopped after {CPU_LIMIT_S} s"}
    if "MemoryError" in done.stderr or "Unable to allocate" in done.stderr or "out of memory" in done.stderr.lower():
        return {"memory_mb": f"stopped at {MEMORY_LIMIT_BYTES >> 20}"}
    raise RuntimeError(done.stderr)


def template_seconds() -> dict[str, float]:
    """Processor seconds from the start of each template to the end of its first hundredth of a second, with nothing compiled before."""
    found = {}
    for name in TEMPLATES:
        simulation = own_loop(template(name, horizon_s=0.01))
        found[name] = round(cpu_seconds(lambda simulation=simulation: simulation.run_until(simulation.end_ns)), 2)
    return found


def measure() -> Iterator[Finding]:
    yield Finding(1, "kinds of a query only, seconds by template", "none", None, in_a_process("template_seconds()"))
    seconds = {}
    for count, in_place in ((len(OPERATORS), True), (20, True), (20, False), (KINDS, False), (KINDS, True)):
        found = in_a_process(f"compile_once({count}, {in_place})")
        cpu_s = found.get("cpu_s")
        passed, gate = None, "none"
        if isinstance(cpu_s, float):
            seconds[count, in_place] = cpu_s
        if count == KINDS and not in_place:
            gate = f"compiled within {SECONDS_MAX:g} s, a loss of {100 * LOSS_MAX:g} % at most"
            passed = isinstance(cpu_s, float) and cpu_s <= SECONDS_MAX
            passed = passed and max(found["nexmark_q3_loss"], found["nexmark_q12_loss"]) <= LOSS_MAX
        yield Finding(1, f"{count} kinds, {'all put in place' if in_place else 'as the engine weaves them'}", gate, passed, found)
    each = (seconds[KINDS, False] - seconds[20, False]) / (KINDS - 20)
    gate = f"below {SECONDS_PER_KIND_MAX:g} s"
    yield Finding(1, "one kind more", gate, each < SECONDS_PER_KIND_MAX, {"cpu_s": round(each, 2)})
