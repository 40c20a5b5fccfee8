"""How long a diagnosis and a table of instances take, against the run that they are about.

    python -m benchmarks.diagnosis [--json]

Runs a query with 1,000 instances, stores its telemetry in parts as a worker does, and then times the diagnosis of the whole run, with its
remedies, and the instances of single frames. Bars: the diagnosis takes at most 5 % of the run's time, a table at most 200 ms.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import engine
from engine.diagnosis import diagnose, remedies
from engine.spec.rules.validation import Context, load
from engine.telemetry.instances import frame_at, measured

INSTANCES = 1000
PARTS = 10
REPEATS = 5


def document() -> dict[str, Any]:
    """Four operators of 250 instances each on 50 hosts, 120 frames."""
    parallelism = INSTANCES // 4
    return {
        "format": 1,
        "name": "A thousand instances",
        "query": {
            "operators": [
                {"id": "bids", "kind": "source", "parallelism": parallelism},
                {"id": "cheap", "kind": "filter", "parallelism": parallelism, "params": {"predicate": "price > 0"}},
                {
                    "id": "count",
                    "kind": "aggregate",
                    "parallelism": parallelism,
                    "params": {
                        "key": "bidder",
                        "window": {"kind": "tumbling", "size_s": 1},
                        "aggregates": [{"name": "n", "function": "count"}],
                        "emit": "on_close",
                    },
                },
                {"id": "sink", "kind": "sink", "parallelism": parallelism},
            ],
            "edges": [
                {"source": "bids", "target": "cheap", "partitioning": {"kind": "forward"}},
                {"source": "cheap", "target": "count", "partitioning": {"kind": "hash", "key": "bidder", "key_groups": 1024}},
                {"source": "count", "target": "sink", "partitioning": {"kind": "forward"}},
            ],
        },
        "cluster": {"hosts": [{"name": "w", "count": 50, "cores": 8}]},
        "placement": {"kind": "spread"},
        "workload": {
            "seed": 1,
            "horizon_s": 30.0,
            "warmup_s": 5.0,
            "sources": {
                "bids": {
                    "stream": {"kind": "nexmark_bid"},
                    "rate": {"kind": "constant", "per_s": 200_000},
                    "watermarks": {"kind": "bounded", "lag_ms": 0, "period_ms": 500},
                }
            },
        },
        "policies": {"flow_control": {"kind": "unbounded"}},
        "measurement": {"frame_ms": 250},
    }


def best_s(work: Callable[[], object]) -> float:
    times = []
    for _ in range(REPEATS):
        began_s = time.perf_counter()
        work()
        times.append(time.perf_counter() - began_s)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    written = document()
    experiment = load(written, Context())
    engine.Simulation(written).run_until(10**6)  # compiles
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        began_s = time.perf_counter()
        simulation = engine.Simulation(written)
        frames = 0
        while simulation.advance() is not None:
            frames += 1
            if frames % (120 // PARTS) == 0:
                simulation.telemetry.write(directory)
        simulation.telemetry.write(directory)
        run_s = time.perf_counter() - began_s

        def diagnosis() -> object:
            limit = diagnose(experiment, measured(directory, experiment.workload.warmup_ns, 1 << 62))
            return remedies(experiment, written, limit, Context())

        def table() -> object:
            frame = frame_at(directory, 17_300_000_000)
            return measured(directory, frame.from_ns, frame.to_ns)

        found = {"instances": INSTANCES, "frames": frames, "run_s": run_s, "diagnosis_s": best_s(diagnosis), "table_s": best_s(table)}
    found["diagnosis_share"] = found["diagnosis_s"] / run_s
    if as_json:
        print(json.dumps(found))
    else:
        print(f"run of {INSTANCES} instances, {frames} frames: {run_s:.2f} s")
        print(f"diagnosis with remedies: {found['diagnosis_s'] * 1e3:.0f} ms, {100 * found['diagnosis_share']:.1f} % of it (bar 5 %)")
        print(f"instances of a frame: {found['table_s'] * 1e3:.0f} ms (bar 200 ms)")


if __name__ == "__main__":
    main()
