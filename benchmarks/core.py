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
from engine.simulation.record_paths import waterfalls_at_hand
from engine.spec.experiment.selection import Sample, Selection

EXAMPLES = Path(__file__).parents[1] / "fixtures" / "experiments"
CASES = (("nexmark_q12", 10, 100_000), ("nexmark_q3", 10, 100_000), ("nexmark_q12", 100, 120_000), ("nexmark_q3", 100, 120_000))
FORMS: dict[str, dict[str, Any]] = {
    "credits": {"processor": {"kind": "dedicated"}, "cores": 100},
    "processor_sharing": {"processor": {"kind": "processor_sharing"}, "cores": 1},
}
CREDITS = 32  # per channel
SAMPLED = 500  # records
FEW_WORKERS = 4
PER_WORKER = 1_200  # records/s, the same load at 4 workers as at 100


def document(example: str, workers: int, records_per_s: float, horizon_s: float, form: str = "") -> dict[str, Any]:
    """An example at another size: every operator and the cluster with so many workers, constant rates that add up to the total.

    form: one of `FORMS`, with other processors or channels than the example's.
    """
    made = copy.deepcopy(yaml.safe_load((EXAMPLES / f"{example}.yaml").read_text()))
    for operator in made["query"]["operators"]:
        operator["parallelism"] = workers
    made["cluster"]["hosts"][0]["count"] = workers
    made["cluster"]["hosts"][0] |= FORMS.get(form, {})
    if form == "credits":
        made["policies"]["flow_control"] = {"kind": "credits", "per_channel": CREDITS}
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
    runs, twins, textbooks = [], [], []
    for _ in range(repeats):  # in turns: a machine's speed changes within minutes
        runs.append(engine_speed(made))
        twins.append(simpy_hops_per_s(small, 60_000))
        textbooks.append(simpy_hops_per_s(small, 60_000, textbook=True))
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


def compare_form(form: str, example: str, workers: int, records_per_s: float, horizon_s: float, repeats: int) -> dict[str, Any]:
    """As `compare`, with other processors or channels, which SimPy has in textbook form only."""
    made = document(example, workers, records_per_s, horizon_s, form)
    small = document(example, workers, records_per_s, 60_000 / records_per_s, form)
    runs, textbooks = [], []
    for _ in range(repeats):
        runs.append(engine_speed(made))
        textbooks.append(simpy_hops_per_s(small, 60_000, textbook=True))
    ours = statistics.median(hops / seconds for hops, seconds, _ in runs)
    loop = statistics.median(hops / seconds for hops, _, seconds in runs)
    textbook = statistics.median(hops / seconds for hops, seconds in textbooks)
    return {
        "name": f"{example} W={workers} {records_per_s:g}/s {form}",
        "hops_per_s": round(ours),
        "loop_hops_per_s": round(loop),
        "simpy_hops_per_s": round(textbook),
        "ratio_to_simpy": round(ours / textbook, 1),
        "loop_ratio_to_simpy": round(loop / textbook, 1),
    }


def whole_run(example: str, workers: int, records_per_s: float, horizon_s: float) -> dict[str, Any]:
    """Virtual over wall time of a run with everything on, the making of its input and of its telemetry files included, and its memory.

    In a process of its own, whose peak of memory is taken.
    """
    about = json.dumps(document(example, workers, records_per_s, horizon_s))
    program = """
import json, resource, sys, tempfile, time
import engine
simulation = engine.Simulation(json.loads(sys.argv[1]))
started = time.perf_counter()
while simulation.advance() is not None:
    pass
with tempfile.TemporaryDirectory() as place:
    simulation.telemetry.write(place)
print(time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""
    found = subprocess.run([sys.executable, "-c", program, about], check=True, capture_output=True, text=True, cwd=EXAMPLES.parents[1])
    wall_s, peak_bytes = map(float, found.stdout.split())
    return {
        "name": f"{example} W={workers} {records_per_s:g}/s, {horizon_s:g} s with telemetry",
        "virtual_over_wall": round(horizon_s / wall_s, 1),
        "peak_mb": round(peak_bytes / 1e6),
    }


def snapshots(wanted_bytes: float = 500e6) -> dict[str, Any]:
    """Seconds to take a snapshot of a join's state that has grown to some 500 MB, to save it on disk and to resume from there."""
    made = document("nexmark_q3", 10, 100_000, 180.0)
    simulation = engine.Simulation(made)
    with tempfile.TemporaryDirectory() as place:
        size = 0.0
        seconds: dict[str, float] = {}
        while size < wanted_bytes and not simulation.finished:
            simulation.run_until(simulation.now_ns + 10_000_000_000)
            started = time.perf_counter()
            simulation.snapshot()
            seconds["snapshot"] = time.perf_counter() - started
            started = time.perf_counter()
            simulation.save(Path(place) / "snapshot")
            seconds["save"] = time.perf_counter() - started
            size = sum(path.stat().st_size for path in Path(place).rglob("*") if path.is_file())
        started = time.perf_counter()
        engine.Simulation.resume(made, Path(place) / "snapshot")
        seconds["resume"] = time.perf_counter() - started
    return {"name": "snapshot", "mb": round(size / 1e6), **{f"{what}_seconds": round(value, 2) for what, value in seconds.items()}}


def small_run(repeats: int) -> dict[str, Any]:
    """Milliseconds of a whole small run in a warm process: 10 s, 1,000 records/s, 3 operators; from the document to the summary."""
    made = document("nexmark_q12", 4, 1_000, 10.0)
    seconds = []
    for _ in range(repeats + 1):
        started = time.perf_counter()
        engine.run(made)
        seconds.append(time.perf_counter() - started)
    return {"name": "small run, warm", "milliseconds": round(statistics.median(seconds[1:]) * 1000, 1)}


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
    """Time of a run that traces every service, keeps its outputs and says where the time of its slowest records and of a sample went, over
    a plain run's.

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
                outputs = sum(map(len, simulation.output_parts()))
                chosen = waterfalls_at_hand(simulation, Selection(slowest=10, sample=Sample(rate=SAMPLED / max(outputs, SAMPLED))))
            making = sum(feed.seconds for feed in feeds.values())  # type: ignore[attr-defined]
            seconds[observed].append(time.process_time() - started - making)
    return {
        "name": f"{example} W={workers} {records_per_s:g}/s traced, with waterfalls, over plain",
        "services": len(simulation.trace()),
        "waterfalls": len(chosen),
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
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    engine.warm_up()
    results = (
        [lambda case=case: compare(*case, options.seconds, options.repeats) for case in CASES]
        + [lambda example=example: growth(example, options.seconds, options.repeats) for example in ("nexmark_q12", "nexmark_q3")]
        + [lambda form=form, case=case: compare_form(form, *case, options.seconds, options.repeats) for form in FORMS for case in CASES[:2]]
        + [lambda case=case: tracing(*case, options.seconds, options.repeats) for case in CASES[:2]]
        + [lambda: whole_run("nexmark_q12", 100, 120_000, 60.0), snapshots, lambda: small_run(9), first_frame]
    )
    for result in results:
        row = result()
        print(json.dumps(row) if options.json else "  ".join(f"{key}: {value}" for key, value in row.items()), flush=True)


if __name__ == "__main__":
    main()
