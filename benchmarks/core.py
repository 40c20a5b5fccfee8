"""Speed of the event core against the same model in SimPy, in one run: python -m benchmarks.core [--json]

A hop is one record served by one instance. Making the input is timed on neither side; the engine's time has all else: logs, growth, frames,
telemetry. `loop` is the compiled loop alone. `simpy` is SimPy's textbook form (processes and stores), `tuned_simpy` one written for speed
(callbacks on timeouts). Ratios compare medians within one run of this program, because machines are noisy.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

import engine
from benchmarks.simpy_model import simpy_hops_per_s
from engine.rerun import waterfalls_at_hand
from engine.spec.selection import Selection

EXAMPLES = Path(__file__).parents[1] / "fixtures" / "experiments"
CASES = (("nexmark_q12", 10, 100_000), ("nexmark_q3", 10, 100_000), ("nexmark_q12", 100, 120_000), ("nexmark_q3", 100, 120_000))
FEW_WORKERS = 4
PER_WORKER = 1_200  # records/s, the same load at 4 workers as at 100


def document(example: str, workers: int, records_per_s: float, horizon_s: float) -> dict[str, Any]:
    """An example at another size: every operator and the cluster with so many workers, constant rates that add up to the total."""
    made = copy.deepcopy(yaml.safe_load((EXAMPLES / f"{example}.yaml").read_text()))
    for operator in made["query"]["operators"]:
        operator["parallelism"] = workers
    made["cluster"]["hosts"][0]["count"] = workers
    sources = made["workload"]["sources"].values()
    means = [source["rate"].get("per_s") or source["rate"]["mean_per_s"] for source in sources]
    for source, mean in zip(sources, means, strict=True):
        source["rate"] = {"kind": "constant", "per_s": mean / sum(means) * records_per_s}
    made["workload"] |= {"horizon_s": horizon_s, "warmup_s": 0.0, "drain": False}
    return made


class Stopwatch:
    """Adds up the time spent in one method of an object."""

    def __init__(self, of: Any, method: str, clock: Callable[[], float] = time.perf_counter):
        self._of, self._method, self._clock, self.seconds = of, method, clock, 0.0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._of, name)
        return self._timed(found) if name == self._method else found

    def _timed(self, method: Any) -> Any:
        def call(*arguments: Any) -> Any:
            started = self._clock()
            result = method(*arguments)
            self.seconds += self._clock() - started
            return result

        return call


def engine_speed(made: dict[str, Any]) -> tuple[int, float, float]:
    """(hops, seconds without making the input, seconds in the loop) of one run, frame by frame."""
    simulation = engine.Simulation(made)
    loop = simulation._kernels = Stopwatch(simulation._kernels, "advance")
    feeds = simulation._plan.feeds
    for name, feed in feeds.items():
        feeds[name] = Stopwatch(feed, "chunk")  # type: ignore[assignment]
    started = time.perf_counter()
    while simulation.advance() is not None:
        pass
    seconds = time.perf_counter() - started - sum(feed.seconds for feed in feeds.values())  # type: ignore[attr-defined]
    return simulation.summary()["hops"], seconds, loop.seconds


def compare(example: str, workers: int, records_per_s: float, horizon_s: float, repeats: int) -> dict[str, Any]:
    made = document(example, workers, records_per_s, horizon_s)
    small = document(example, workers, records_per_s, 60_000 / records_per_s)
    runs = [engine_speed(made) for _ in range(repeats)]
    twins = [simpy_hops_per_s(small, 60_000) for _ in range(repeats)]
    textbooks = [simpy_hops_per_s(small, 60_000, textbook=True) for _ in range(repeats)]
    ours = statistics.median(hops / seconds for hops, seconds, _ in runs)
    loop = statistics.median(hops / seconds for hops, _, seconds in runs)
    theirs = statistics.median(hops / seconds for hops, seconds in twins)
    textbook = statistics.median(hops / seconds for hops, seconds in textbooks)
    return {
        "name": f"{example} W={workers} {records_per_s:g}/s",
        "hops": runs[0][0],
        "hops_per_s": round(ours),
        "loop_hops_per_s": round(loop),
        "simpy_hops_per_s": round(textbook),
        "ratio_to_simpy": round(ours / textbook, 1),
        "loop_ratio_to_simpy": round(loop / textbook, 1),
        "tuned_simpy_hops_per_s": round(theirs),
        "ratio_to_tuned_simpy": round(ours / theirs, 1),
        "loop_ratio_to_tuned_simpy": round(loop / theirs, 1),
    }


def growth(example: str, horizon_s: float, repeats: int) -> dict[str, Any]:
    """Cost of a hop at 100 workers over that at 4, at equal load per worker and about equal hops."""
    cost = {}
    for workers in (FEW_WORKERS, 100):
        made = document(example, workers, PER_WORKER * workers, horizon_s * 100 / workers)
        runs = [engine_speed(made) for _ in range(repeats)]
        cost[workers] = {kind: statistics.median(run[at] / run[0] for run in runs) for kind, at in (("all", 1), ("loop", 2))}
    return {
        "name": f"{example} cost of a hop, W=100 over W={FEW_WORKERS}",
        "ratio": round(cost[100]["all"] / cost[FEW_WORKERS]["all"], 2),
        "loop_ratio": round(cost[100]["loop"] / cost[FEW_WORKERS]["loop"], 2),
    }


def tracing(example: str, workers: int, records_per_s: float, horizon_s: float, repeats: int) -> dict[str, Any]:
    """Time of a run that traces every service, keeps its outputs and says where the time of its slowest records went, over a plain run's.

    Processor time, since the two take turns on a machine that may do other work; the least of the repeats, in which it did least.
    """
    made = document(example, workers, records_per_s, horizon_s)
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(repeats):
        for observed in seconds:
            simulation = engine.Simulation(made, trace=observed, keep_outputs=observed)
            feeds = simulation._plan.feeds
            for name, feed in feeds.items():
                feeds[name] = Stopwatch(feed, "chunk", time.process_time)  # type: ignore[assignment]
            started = time.process_time()
            while simulation.advance() is not None:
                pass
            if observed:
                waterfalls_at_hand(simulation, Selection(slowest=10))
            making = sum(feed.seconds for feed in feeds.values())  # type: ignore[attr-defined]
            seconds[observed].append(time.process_time() - started - making)
    return {
        "name": f"{example} W={workers} {records_per_s:g}/s traced, with waterfalls, over plain",
        "services": len(simulation.trace()),
        "ratio": round(min(seconds[True]) / min(seconds[False]), 2),
    }


def first_frame() -> dict[str, Any]:
    """Seconds from starting Python to the first frame of an example, with no compiled loop on this machine, and with one."""
    program = f"import engine; s = engine.Simulation({str(EXAMPLES / 'nexmark_q3.yaml')!r}); s.advance()"
    with tempfile.TemporaryDirectory() as empty:
        seconds = []
        for _ in range(2):
            started = time.perf_counter()
            subprocess.run(
                [sys.executable, "-c", program], check=True, env={**os.environ, "MILLRACE_KERNELS": empty}, cwd=EXAMPLES.parents[1]
            )
            seconds.append(round(time.perf_counter() - started, 2))
    return {"name": "first frame in a new environment", "seconds": seconds[0], "second_start_seconds": seconds[1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    parser.add_argument("--seconds", type=float, default=10.0, help="virtual seconds of each engine run")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    engine.warm_up()
    results = (
        [lambda case=case: compare(*case, options.seconds, options.repeats) for case in CASES]
        + [lambda example=example: growth(example, options.seconds, options.repeats) for example in ("nexmark_q12", "nexmark_q3")]
        + [lambda: tracing("nexmark_q3", 10, 100_000, options.seconds, options.repeats)]
        + [first_frame]
    )
    for result in results:
        row = result()
        print(json.dumps(row) if options.json else "  ".join(f"{key}: {value}" for key, value in row.items()), flush=True)


if __name__ == "__main__":
    main()
