"""What an autoscaled run costs: python -m benchmarks.autoscaling [--day] [--policy ds2] [--query session|sliding]

Session or sliding windows under the study's cosine load, at the scale that the example has: 140 minutes, or with --day a whole day.
Given are the processor's seconds of this process, its share in laying the run out, hops, rescales, and frames.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import engine
from engine.spec.experiment.document import read_document

EXAMPLES = Path(__file__).parents[1] / "fixtures" / "experiments"
DAY_S = 86_400.0


def document(query: str, policy: str, horizon_s: float | None) -> dict[str, Any]:
    made = read_document(EXAMPLES / f"autoscaling_{query}.yaml")
    made["policies"]["scaling"] = {"kind": policy}
    if horizon_s is not None:
        made["workload"]["horizon_s"] = horizon_s
    return made


def measured(made: dict[str, Any]) -> dict[str, Any]:
    started_s = time.process_time()
    simulation = engine.Simulation(made)
    laid_out_s = time.process_time() - started_s
    frames = 0
    while simulation.advance() is not None:
        frames += 1
    summary = simulation.summary()
    scaling = summary.get("scaling", {})
    return {
        "virtual_s": summary["virtual_s"],
        "cpu_s": round(time.process_time() - started_s, 2),
        "laid_out_s": round(laid_out_s, 2),
        "hops": summary["hops"],
        "frames": frames,
        "actions": scaling.get("actions"),
        "workers_mean": scaling.get("workers_mean"),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--day", action="store_true")
    parser.add_argument("--policy", default="ds2")
    parser.add_argument("--query", choices=["session", "sliding"], default="session")
    given = parser.parse_args()
    measured(document(given.query, given.policy, 600.0))  # compiles
    print(json.dumps(measured(document(given.query, given.policy, DAY_S if given.day else None))))


if __name__ == "__main__":
    main()
