"""What checkpointing protocols cost the engine: python -m benchmarks.checkpointing [--rounds 5] [--horizon 21] [--json]

Wall time of a run with a protocol over that of the same run without one, 1,200 records/s per worker, a checkpoint every 5 s, no losses.
The runs of a round follow one another; given is the median of their ratios, because machines are noisy. Last comes incremental over full
checkpoints, coordinated, on 100 workers: of Q3 in which a host is lost near the end, so that contents are kept. Bar: 1.2.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

import engine
from benchmarks.core import document

BARS = {
    30: {"coordinated": 1.25, "coordinated_unaligned": None, "uncoordinated": None, "communication_induced": 2.0, "hybrid": None},
    100: {"coordinated": 1.25, "coordinated_unaligned": None, "uncoordinated": 1.6, "communication_induced": 3.0, "hybrid": None},
}
"""Most that each may cost, by workers and protocol."""


def wall_s(example: str, workers: int, horizon_s: float, protocol: str | None) -> float:
    made = document(example, workers, 1_200.0 * workers, horizon_s)
    if protocol is not None:
        made["policies"]["checkpointing"] = {"kind": protocol, "interval_s": 5.0}
    simulation = engine.Simulation(made)
    started = time.perf_counter()
    simulation.run_until(simulation.end_ns)
    return time.perf_counter() - started


def loss_s(snapshots: dict[str, Any], horizon_s: float) -> float:
    """Of Q3 on 100 workers, one of which is lost."""
    made = document("nexmark_q3", 100, 120_000.0, horizon_s)
    made["policies"]["checkpointing"] = {"kind": "coordinated", "interval_s": 5.0, "snapshots": snapshots}
    host = made["cluster"]["hosts"][0]
    lost = host["name"] + ("2" if host.get("count", 1) > 1 else "")
    made["faults"] = [{"kind": "host_loss", "host": lost, "when": {"kind": "at", "at_s": horizon_s - 1.0}, "restart_after_s": 0.5}]
    simulation = engine.Simulation(made)
    started = time.perf_counter()
    simulation.run_until(simulation.end_ns)
    return time.perf_counter() - started


def incremental_over_full(horizon_s: float, rounds: int) -> list[float]:
    kinds: list[dict[str, Any]] = [{"kind": "full"}, {"kind": "incremental", "full_every": 10}]
    for kind in kinds:
        loss_s(kind, 6.0)  # compiles
    found = []
    for _ in range(rounds):
        full_s, incremental_s = (loss_s(kind, horizon_s) for kind in kinds)
        found.append(round(incremental_s / full_s, 2))
    return found


def compare(example: str, workers: int, horizon_s: float, rounds: int) -> dict[str, Any]:
    """Ratios by protocol, all rounds and their median."""
    bars = BARS[workers]
    for protocol in (None, *bars):
        wall_s(example, workers, 6.0, protocol)  # compiles
    ratios: dict[str, list[float]] = {protocol: [] for protocol in bars}
    for _ in range(rounds):
        without_s = wall_s(example, workers, horizon_s, None)
        for protocol in bars:
            ratios[protocol].append(round(wall_s(example, workers, horizon_s, protocol) / without_s, 2))
    return {protocol: {"median": statistics.median(found), "bar": bars[protocol], "all": found} for protocol, found in ratios.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--horizon", type=float, default=21.0)
    parser.add_argument("--workers", type=int, choices=list(BARS), nargs="*", default=list(BARS))
    parser.add_argument("--json", action="store_true", help="lines of JSON, in place of a table")
    given = parser.parse_args()
    for workers in given.workers:
        for example in ("nexmark_q12", "nexmark_q3"):
            found = compare(example, workers, given.horizon, given.rounds)
            if given.json:
                print(json.dumps({"query": example, "workers": workers, "protocols": found}))
                continue
            for protocol, ratio in found.items():
                bar = f" (at most {ratio['bar']:g})" if ratio["bar"] else ""
                print(f"{example}, {workers} workers, {protocol}: {ratio['median']:.2f}{bar}")
    ratios = incremental_over_full(given.horizon, given.rounds)
    if given.json:
        print(json.dumps({"incremental_over_full": {"median": statistics.median(ratios), "bar": 1.2, "all": ratios}}))
    else:
        print(f"nexmark_q3, 100 workers, incremental over full: {statistics.median(ratios):.2f} (at most 1.2)")


if __name__ == "__main__":
    main()
