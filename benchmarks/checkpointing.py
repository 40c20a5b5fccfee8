"""What checkpointing protocols cost the engine: python -m benchmarks.checkpointing [--rounds 5] [--horizon 21]

Wall time of a run with a protocol over that of the same run without one, 100 workers, 120,000 records/s, a checkpoint every 5 s, no losses.
The runs of a round follow one another; given is the median of their ratios, because machines are noisy.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

import engine
from benchmarks.core import document

BARS = {"coordinated": 1.25, "coordinated_unaligned": None, "uncoordinated": 1.6, "communication_induced": 3.0, "hybrid": None}
"""Most that each may cost, by protocol."""


def wall_s(example: str, workers: int, horizon_s: float, protocol: str | None) -> float:
    made = document(example, workers, 1_200.0 * workers, horizon_s)
    if protocol is not None:
        made["policies"]["checkpointing"] = {"kind": protocol, "interval_s": 5.0}
    simulation = engine.Simulation(made)
    started = time.perf_counter()
    simulation.run_until(simulation.end_ns)
    return time.perf_counter() - started


def compare(example: str, workers: int, horizon_s: float, rounds: int) -> dict[str, Any]:
    """Ratios by protocol, all rounds and their median."""
    for protocol in (None, *BARS):
        wall_s(example, workers, 6.0, protocol)  # compiles
    ratios: dict[str, list[float]] = {protocol: [] for protocol in BARS}
    for _ in range(rounds):
        without_s = wall_s(example, workers, horizon_s, None)
        for protocol in BARS:
            ratios[protocol].append(round(wall_s(example, workers, horizon_s, protocol) / without_s, 2))
    return {protocol: {"median": statistics.median(found), "bar": BARS[protocol], "all": found} for protocol, found in ratios.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--horizon", type=float, default=21.0)
    parser.add_argument("--workers", type=int, default=100)
    given = parser.parse_args()
    for example in ("nexmark_q12", "nexmark_q3"):
        print(json.dumps({example: compare(example, given.workers, given.horizon, given.rounds)}))


if __name__ == "__main__":
    main()
