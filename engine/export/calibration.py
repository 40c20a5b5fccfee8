"""What Spark's micro-batches take on one machine, as `manage.py calibrate` measured it, and an experiment as a model of that machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engine.spec import Experiment
from engine.spec.rules.validation import Context, load

OVERHEADS = ("plan_ms", "stage_ms", "task_ms", "commit_ms")
FORMAT = 1
DRAIN_S = 1e6
ON_THE_WAY = ("filter", "map", "project", "split", "union")
"""Kinds that work in the tasks of the operator before them."""


class NotCalibrated(ValueError):
    """There is no calibration in the file, or not one that can be used; the message says what would be right."""


class NeverCalibrated(NotCalibrated):
    """There is no file."""


@dataclass(frozen=True)
class Calibration:
    """made: day. machine: cores, processor and architecture. busy: share of the machine's time that others had while it was measured.
    overheads_ms: of the engine `spark_structured`; planning takes so long for each source. prices_us: by operator kind, `record_us`,
    `output_us` and `control_us` of a core. measured: the medians that these come from, by query. piece_ms: what a piece of work took that
    is always the same (`workers.spark.calibrating.piece_ms`); 0 if unknown."""

    made: str
    machine: str
    cores: int
    spark: str
    busy: float
    overheads_ms: Mapping[str, float]
    prices_us: Mapping[str, Mapping[str, float]]
    measured: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    piece_ms: float = 0.0

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"format": FORMAT, **asdict(self)}, indent=1) + "\n")


def read(path: Path) -> Calibration:
    """Raises NotCalibrated, OSError."""
    try:
        told = json.loads(path.read_text())
        if told.pop("format") != FORMAT:
            raise NotCalibrated(f"{path} has another format than {FORMAT}; measure again with manage.py calibrate")
        made = Calibration(**told)
        complete = set(made.overheads_ms) == set(OVERHEADS) and all(set(price) == set(PRICE) for price in made.prices_us.values())
    except FileNotFoundError:
        raise NeverCalibrated(f"{path} does not exist; measure this machine first with manage.py calibrate") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        if isinstance(error, NotCalibrated):
            raise
        raise NotCalibrated(f"{path} is no calibration; measure this machine with manage.py calibrate") from None
    if not complete:
        raise NotCalibrated(f"{path} lacks prices or overheads; measure again with manage.py calibrate")
    return made


PRICE = ("record_us", "output_us", "control_us")


def on_spark(
    experiment: Experiment,
    calibration: Calibration,
    context: Context,
    partitions: int,
    records_max: int | None = None,
    trigger_ms: int = 0,
) -> Experiment:
    """The experiment as a model of the program that executes it (`engine.export.write`): one process with the cores of the machine, a task
    to read each source and one for each partition of state.

    records_max: of a micro-batch; all of the logs is there when the query begins. None: the query follows the logs, and micro-batches have
    what has come. trigger_ms: least time between them. Raises InvalidExperiment where the engine `spark_structured` cannot execute it.
    """
    document = experiment.model_dump(mode="json", by_alias=True)
    workload = document["workload"]
    horizon_s = float(workload["horizon_s"])
    tasks = _tasks(experiment, partitions)
    operators = []
    for operator in document["query"]["operators"]:
        cost = calibration.prices_us.get(operator["kind"], {})
        operators.append({**operator, "parallelism": tasks[operator["id"]], "cost": dict(cost)})
    targets = {operator["id"]: operator for operator in operators}
    edges = [_edge(edge, targets[edge["target"]], tasks) for edge in document["query"]["edges"]]
    sources = sum(operator["kind"] == "source" for operator in operators)
    engine = {
        "kind": "spark_structured",
        **calibration.overheads_ms,
        "plan_ms": sources * calibration.overheads_ms["plan_ms"],
        "trigger_s": trigger_ms / 1000,
    } | ({} if records_max is None else {"start_s": horizon_s + 1, "records_max": records_max})
    made = {
        "format": document["format"],
        "name": document.get("name", ""),
        "query": document["query"] | {"operators": operators, "edges": edges},
        "cluster": {"hosts": [{"name": "spark", "cores": calibration.cores, "processor": {"kind": "pool"}}]},
        "workload": workload | {"drain": True, "drain_limit_s": DRAIN_S, "warmup_s": 0},
        "policies": {"engine": engine},
        "measurement": {"frame_ms": 60_000, "latency": document["measurement"]["latency"]},
    }
    return load(made, context)


def _tasks(experiment: Experiment, partitions: int) -> dict[str, int]:
    """Instances of each operator: one task reads a source, and there is one for each partition of state. Others work in the tasks of what
    is before them."""
    specs = {spec.id: spec for spec in experiment.query.operators}
    before = {id: [edge.source for edge in experiment.query.edges if edge.target == id] for id in specs}
    found: dict[str, int] = {}

    def tasks(id: str) -> int:
        if id not in found:
            kind = specs[id].kind
            if kind == "source":
                found[id] = 1
            elif kind in ON_THE_WAY or kind == "sink":
                found[id] = max((tasks(other) for other in before[id]), default=1)
            else:
                found[id] = 1 if specs[id].params.get("key", "") is None else partitions
        return found[id]

    for id in specs:
        tasks(id)
    return found


def _edge(edge: dict[str, Any], target: Mapping[str, Any], tasks: Mapping[str, int]) -> dict[str, Any]:
    """Records are repartitioned by key before operators with state. They stay in their task before others with as many."""
    if target["kind"] in (*ON_THE_WAY, "sink"):
        partitioning = {"kind": "forward" if tasks[edge["source"]] == tasks[edge["target"]] else "rebalance"}
    else:
        key = target["params"].get({"left": "left_key", "right": "right_key"}.get(edge["target_port"], "key"))
        partitioning = {"kind": "rebalance"} if key is None else {"kind": "hash", "key": key}
    return {**edge, "partitioning": partitioning, "capacity": None}
