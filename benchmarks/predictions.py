"""How near the model's predictions are to a real Spark, for queries of which none was calibrated (docs/calibration.md).

    python manage.py calibrate --out calibration.json
    python -m benchmarks.predictions --calibration calibration.json [--only NAME ...] [--paced [--trigger-ms N] [--horizon-s N]]

With --paced, latencies of input at the pace of the logs. A line of JSON for each query: ratios are predicted over measured. The machine
must have no other work.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
EXPERIMENTS = ROOT / "fixtures" / "experiments"
DRAWN = ("nexmark_q1", "nexmark_q2", "nexmark_q3", "nexmark_q12", "yahoo", "taxi_rides", "advertisement")
"""Experiments as they are."""


def queries() -> Iterator[tuple[str, dict[str, Any]]]:
    """By name. Those over flights read a data set that was uploaded."""
    for name in (*DRAWN, "flights"):
        yield name, document(name)
    yield "flights, sessions of airports", of_flights(sessions())
    yield "flights, late ones", of_flights(late_ones())
    yield "NEXMark Q8 without late records", in_append_mode(document("nexmark_q8_windows"))
    yield "NEXMark Q11 without early rows", in_append_mode(document("nexmark_q11"))


def document(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((EXPERIMENTS / f"{name}.yaml").read_text())
    return found


def sessions() -> list[dict[str, Any]]:
    """A map, and sessions that end with half an hour without a flight."""
    fields = [{"name": "airport", "expression": "destination"}, {"name": "delay", "expression": "delay"}]
    aggregates = [{"name": "flights", "function": "count"}, {"name": "worst", "function": "max", "field": "delay"}]
    return [
        {"id": "airports", "kind": "map", "parallelism": 2, "params": {"fields": fields}},
        {
            "id": "sessions",
            "kind": "session_aggregate",
            "parallelism": 4,
            "params": {"key": "airport", "gap_s": 1800, "aggregates": aggregates, "emit": "on_close"},
        },
    ]


def late_ones() -> list[dict[str, Any]]:
    """Without state."""
    fields = [{"name": name, "expression": expression} for name, expression in (("origin", "origin"), ("hours", "delay / 60"))]
    return [
        {"id": "late", "kind": "filter", "parallelism": 2, "params": {"predicate": "delay > 15"}},
        {"id": "hours", "kind": "map", "parallelism": 2, "params": {"fields": fields}},
    ]


def of_flights(between: list[dict[str, Any]]) -> dict[str, Any]:
    """These operators between the source and the sink."""
    made = document("flights")
    operators = [made["query"]["operators"][0], *between, {"id": "sink", "kind": "sink", "parallelism": 1}]
    edges = []
    for before, after in pairwise(operators):
        key = after.get("params", {}).get("key")
        by = {"kind": "hash", "key": key} if key else {"kind": "rebalance"}
        edges.append({"source": before["id"], "target": after["id"], "partitioning": by})
    made["query"] = {"operators": operators, "edges": edges}
    made.pop("ui", None)
    return made


def in_append_mode(made: dict[str, Any]) -> dict[str, Any]:
    """Without late records, which Spark drops, and without rows before the end of a window."""
    late = [edge for edge in made["query"]["edges"] if edge.get("source_port", "").startswith("late")]
    gone = {edge["target"] for edge in late}
    made["query"]["edges"] = [edge for edge in made["query"]["edges"] if edge not in late]
    made["query"]["operators"] = [spec for spec in made["query"]["operators"] if spec["id"] not in gone]
    for spec in made["query"]["operators"]:
        for name in ("lateness_ms", "every"):
            spec.get("params", {}).pop(name, None)
    made.pop("ui", None)
    return made


def without_points(told: dict[str, Any]) -> dict[str, Any]:
    for side in ("predicted", "measured"):
        told[side].pop("points")
    return told


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--calibration", type=Path, required=True)
    arguments.add_argument("--only", nargs="*", help="names of queries")
    arguments.add_argument("--paced", action="store_true", help="input at the pace of the logs: latencies in place of throughput")
    arguments.add_argument("--trigger-ms", type=int, default=0, help="least time between micro-batches of paced input")
    arguments.add_argument("--horizon-s", type=float, default=60.0, help="length of paced logs; a quarter of it is the warm-up")
    given = arguments.parse_args()

    from engine.export import NotExported
    from engine.export.calibration import NotCalibrated, read
    from engine.simulation.command_line import lookup
    from engine.spec import InvalidExperiment
    from engine.spec.rules.validation import Context, load
    from workers.spark.calibrating import warm_up
    from workers.spark.predicting import NotPredicted, compared, compared_paced
    from workers.spark.session import SESSION

    try:
        calibration = read(given.calibration)
    except NotCalibrated as why:
        sys.exit(str(why))
    context, spark = Context(datasets=lookup([ROOT / "fixtures" / "data"])), SESSION.get()
    warm_up(spark, lambda doing: print(f"  {doing} ...", file=sys.stderr))
    for name, query in queries():
        if given.only and name not in given.only:
            continue
        try:
            if given.paced:
                query["workload"] |= {"horizon_s": given.horizon_s, "warmup_s": given.horizon_s / 4}
                about = (load(query, context), context, calibration, lambda: spark, lambda _: None)
                told = without_points(compared_paced(*about, given.trigger_ms).as_dict())
            else:
                found = compared(load(query, context), context, calibration, lambda: spark, lambda _: None)
                told = {"ratios": found.ratios, **found.as_dict()}
        except (NotExported, InvalidExperiment) as refused:
            told = {"refused": f"{refused.problems[0].pointer}: {refused.problems[0].message}"}
        except NotPredicted as why:
            told = {"refused": str(why)}
        print(json.dumps({"query": name, **told}), flush=True)


if __name__ == "__main__":
    main()
