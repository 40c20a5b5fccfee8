"""What scheduling costs: runs with a policy over the bare pool, new ranks over one by one, and record-hops of many queries over few.

    python -m benchmarks.scheduling [--json]

80 copies of the Yahoo query with 10,000 events/s each, on 24 cores, every event simulated, cycles of 120 ms. Ratios are taken within one
run of this program, each side as the least of some repeats. Bars: Klink 1.5 times the bare pool, fair threads 3 times; ranks of 480
instances in one call a sixth of those one by one; a record-hop with 80 queries 1.5 times one with 8.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import engine
from engine.core import layout as L
from engine.core.control.ranks import rank, set_ranks
from engine.spec.experiment.document import read_document

EXAMPLE = Path(__file__).parents[1] / "fixtures" / "experiments" / "klink_ysb.yaml"
REPEATS = 3
HORIZON_S = 2.0


def document(kind: str, copies: int, per_s: float = 10_000) -> dict[str, Any]:
    made: dict[str, Any] = read_document(EXAMPLE)
    made["query"]["queries"][0] |= {"copies": copies, "start_within_s": 0.5}
    made["query"]["operators"][4]["params"]["window"]["size_s"] = 1
    made["cluster"]["hosts"][0]["cores"] = 24
    made["workload"] |= {"horizon_s": HORIZON_S, "warmup_s": 0.0}
    made["workload"]["sources"]["events"]["rate"]["per_s"] = per_s
    made["policies"]["scheduling"] = {"kind": kind}
    return made


def least(measure: Callable[[], float]) -> float:
    return min(measure() for _ in range(REPEATS))


def wall_s(kind: str, copies: int, per_s: float = 10_000) -> tuple[float, int]:
    """The shortest time of the run, without its preparation, and its record-hops."""
    hops = 0

    def once() -> float:
        nonlocal hops
        simulation = engine.Simulation(document(kind, copies, per_s))
        began = time.perf_counter()
        simulation.run_until(simulation.end_ns)
        hops = int(simulation._world.arrays.g[L.G_HOPS])
        return time.perf_counter() - began

    return least(once), hops


def ranks_us() -> tuple[float, float]:
    """New ranks for 480 instances: in one call, and one by one."""
    simulation = engine.Simulation(document("none", 80))
    simulation.run_until(100_000_000)
    world, count = simulation._world, len(simulation._world.arrays.inst)
    instances, numbers = np.arange(count), np.arange(count)

    def at_once() -> float:
        began = time.perf_counter()
        set_ranks(world, instances, numbers, 100_000_000)
        return time.perf_counter() - began

    def one_by_one() -> float:
        began = time.perf_counter()
        for i in range(count):
            rank(world, {i: i}, 100_000_000)
        return time.perf_counter() - began

    return 1e6 * min(at_once() for _ in range(50)), 1e6 * least(one_by_one)


def measured() -> dict[str, float]:
    pool_s, hops = wall_s("none", 80)
    found = {f"{kind}_over_pool": wall_s(kind, 80)[0] / pool_s for kind in ("klink", "default", "fcfs")}
    at_once_us, one_by_one_us = ranks_us()
    few_s, few_hops = wall_s("none", 8, 100_000)
    return {
        **found,
        "ranks_over_one_by_one": at_once_us / one_by_one_us,
        "hop_of_80_over_8": (pool_s / hops) / (few_s / few_hops),
        "pool_s": pool_s,
        "hops": hops,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", dest="as_json")
    as_json = parser.parse_args().as_json
    found = measured()
    if as_json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:24} {value:.3f}")


if __name__ == "__main__":
    main()
