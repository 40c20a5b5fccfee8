"""What similarity joins cost: pairs that are counted over pairs that are made, the exact join over comparing all with NumPy and over the
same model in SimPy, virtual over wall time at the source's largest scale, and what the picture of spaces adds to a run that is followed.

    python -m benchmarks.similarity [--json]

Ratios are taken within one run of this program, each side as the least of some repeats. Bars: counting takes a twentieth of making at a
threshold of 0.01 and 2,000 records/s for one window of 60 s; the exact join of twice 10,000 records, all of its stages included, takes no
longer than NumPy takes to compare all; the engine is 30 times as fast as SimPy; 20 workers at twice 4,000 records/s and a threshold of
0.001 run as fast as the clock; frames with the picture take at most 1.05 times as long as frames without it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import engine
from benchmarks.simpy_similarity import simpy_run
from tests.support.similarity_examples import counted, points, worksets

REPEATS = 3
WINDOW_S = 60.0


def job(per_s: float, threshold: float, workers: int, horizon_s: float, window_s: float = WINDOW_S) -> dict[str, Any]:
    """S3J whose workers are quick enough that nothing waits. per_s: of each stream."""
    window = {"kind": "tumbling", "size_s": window_s}
    document = worksets(workers, threshold, per_s, window=window, horizon_s=horizon_s)
    for source in document["workload"]["sources"].values():
        source["watermarks"]["period_ms"] = 1000.0
    for host in document["cluster"]["hosts"]:
        host["speed"] = 20.0
    return document


def least(measure: Callable[[], float], repeats: int = REPEATS) -> float:
    return min(measure() for _ in range(repeats))


def wall_s(document: dict[str, Any]) -> float:
    """The time of one run, without its preparation."""
    simulation = engine.Simulation(document)
    began = time.perf_counter()
    simulation.run_until(simulation.end_ns)
    return time.perf_counter() - began


def compared_s(document: dict[str, Any], threshold: float) -> float:
    """The time in which NumPy finds the pairs of the document's records, one window."""
    (_, left, _), (_, right, _) = (points(document, side) for side in ("left", "right"))
    began = time.perf_counter()
    units = [vectors / np.linalg.norm(vectors, axis=1)[:, None] for vectors in (left, right)]
    apart = np.arccos(np.clip(units[0] @ units[1].T, -1, 1)) / np.pi
    rows, columns = np.nonzero(apart <= threshold)
    assert len(rows) == len(columns)
    return time.perf_counter() - began


def framed_s(document: dict[str, Any], spaces: bool) -> float:
    """The time of a run with all of its frames, with or without what they tell of spaces."""
    simulation = engine.Simulation(document)
    if not spaces:
        simulation._spaces = None
    began = time.perf_counter()
    while (frame := simulation.advance()) is not None:
        json.dumps(frame)
    return time.perf_counter() - began


def simpy_ratio() -> tuple[float, float]:
    """Wall time in SimPy over the engine's, which find the same pairs, and SimPy's seconds."""
    small = job(300, 0.01, 5, 10.0, window_s=10.0)
    small["cluster"]["hosts"][0]["count"] = 1
    simulation = engine.Simulation(small)
    simulation.run_until(simulation.end_ns)
    pairs, _, theirs_s = simpy_run(small)
    assert pairs == simulation.summary()["operators"]["join"]["out"], (pairs, simulation.summary()["operators"]["join"])
    return theirs_s / least(lambda: wall_s(small)), theirs_s


def measured() -> dict[str, float]:
    wall_s(counted(job(100, 0.01, 5, 1.0)))  # compiles
    wall_s(job(100, 0.01, 5, 1.0))
    window = job(1000, 0.01, 5, WINDOW_S)
    made_s, counted_s = wall_s(window), least(lambda: wall_s(counted(window)))
    small = job(10_000, 0.01, 1, 1.0, window_s=1.0)
    exact_s, numpy_s = least(lambda: wall_s(small)), least(lambda: compared_s(small, 0.01))
    large_s = wall_s(counted(job(4000, 0.001, 20, 2 * WINDOW_S)))
    ratio, simpy_s = simpy_ratio()
    live = counted(job(2000, 0.002, 5, 2 * WINDOW_S)) | {"measurement": {"frame_ms": 1000}}
    rounds = [(framed_s(live, False), framed_s(live, True)) for _ in range(REPEATS)]
    without_s, with_s = (min(side) for side in zip(*rounds, strict=True))
    return {
        "made_s": made_s,
        "counted_s": counted_s,
        "made_over_counted": made_s / counted_s,
        "exact_s": exact_s,
        "numpy_s": numpy_s,
        "numpy_over_exact": numpy_s / exact_s,
        "simpy_s": simpy_s,
        "simpy_over_exact": ratio,
        "large_s": large_s,
        "virtual_over_wall": 2 * WINDOW_S / large_s,
        "picture_on_over_off": with_s / without_s,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    found = {name: round(value, 3) for name, value in measured().items()}
    print(json.dumps(found) if arguments.json else "\n".join(f"{name:20} {value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
