"""What engine profiles cost, as ratios within one run: python -m benchmarks.profiles [--only hops virtual] [--json]

hops: record-hops per CPU second of whole runs under each profile, over those of the same experiment without one, in turns. The experiment
is the windowed sum of Karimov 2020 (figure experiment `benchmark/sum`) at a load that all of them sustain. Bar 0.4, aim 0.7.
virtual: virtual seconds per wall second under Flink on eight workers at its sustainable load, a record standing for 1000. Bar 50, aim 200.
"""

from __future__ import annotations

import argparse
import copy
import json
import statistics
import time
from pathlib import Path
from typing import Any

import yaml

import engine

SUM = Path(__file__).parents[1] / "fixtures" / "figures" / "benchmark" / "experiments" / "sum.yaml"
PROFILES = ("flink", "storm", "spark", "spark_structured")
TURNS = 3
HOPS = {"per_s": 20_000, "horizon_s": 24, "scale": 1}
VIRTUAL = {"per_s": 1_198_000, "horizon_s": 120, "scale": 1000}


def document(workers: int, per_s: int, horizon_s: int, scale: int, profile: str | None = "flink") -> dict[str, Any]:
    """profile: None: the query runs as it was drawn."""
    made: dict[str, Any] = yaml.safe_load(SUM.read_text())
    made["cluster"]["hosts"][0]["count"] = workers
    made["workload"] |= {"horizon_s": horizon_s, "scale": scale}
    source = made["workload"]["sources"]["purchases"]
    source["rate"]["per_s"] = per_s
    if profile is None:
        del made["policies"]["engine"]
    else:
        made["policies"]["engine"] = {"kind": profile}
    if profile == "spark_structured":  # it knows watermarks of sources only
        source["watermarks"] = {"kind": "bounded", "lag_ms": 0}
    return made


def executed(made: dict[str, Any]) -> dict[str, float]:
    simulation = engine.Simulation(copy.deepcopy(made))
    began_s, cpu_s = time.perf_counter(), time.process_time()
    simulation.run_until(simulation.end_ns)
    took_s, cpu_s = time.perf_counter() - began_s, time.process_time() - cpu_s
    hops = int(simulation.summary()["hops"])
    return {"hops": hops, "cpu_s": cpu_s, "hops_per_cpu_s": hops / cpu_s, "virtual_per_wall": made["workload"]["horizon_s"] / took_s}


def hops() -> dict[str, Any]:
    cases = {profile or "none": document(2, profile=profile, **HOPS) for profile in (None, *PROFILES)}
    for made in cases.values():  # compiled code is loaded, and feeds are made
        executed({**made, "workload": {**made["workload"], "horizon_s": 8}})
    found: dict[str, list[dict[str, float]]] = {name: [] for name in cases}
    for _ in range(TURNS):
        for name, made in cases.items():
            found[name].append(executed(made))
    speed = {name: statistics.median(one["hops_per_cpu_s"] for one in runs) for name, runs in found.items()}
    return {
        name: {
            "hops": int(runs[0]["hops"]),
            "cpu_s": [round(one["cpu_s"], 2) for one in runs],
            "hops_per_cpu_s": round(speed[name]),
            "over_none": round(speed[name] / speed["none"], 2),
        }
        for name, runs in found.items()
    }


def virtual() -> dict[str, Any]:
    made = document(8, profile="flink", **VIRTUAL)
    executed({**made, "workload": {**made["workload"], "horizon_s": 8}})
    found = [executed(made) for _ in range(TURNS)]
    return {"virtual_per_wall": [round(one["virtual_per_wall"], 1) for one in found], "hops": int(found[0]["hops"])}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--only", nargs="*", choices=("hops", "virtual"), default=("hops", "virtual"))
    arguments.add_argument("--json", action="store_true", help="a line of JSON for each part")
    given = arguments.parse_args()
    for name, part in (("hops", hops), ("virtual", virtual)):
        if name in given.only:
            print(json.dumps({name: part()}, indent=None if given.json else 1), flush=True)


if __name__ == "__main__":
    main()
