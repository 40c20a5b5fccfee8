"""An experiment's query on a real Spark, its records held against the engine's: `manage.py run FILE --backend spark`."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

import engine
from engine.export import Difference, difference, records_written, write
from engine.spec import Experiment
from engine.spec.rules.validation import Context, load

from .session import SparkUnavailable, check_java

LOG_LINES = 12


class SparkFailed(Exception):
    """The program ended with an error; the message has the end of what it printed."""


@dataclass(frozen=True)
class Comparison:
    """sinks: by sink. batches: micro-batches of all sinks. records_per_s: of the input, over the time in micro-batches. late: records that
    the model dropped. dropped: by Spark's watermarks."""

    sinks: dict[str, Difference]
    records_in: int
    batches: int
    records_per_s: float
    took_s: float
    late: int
    dropped: int
    machine: str

    @property
    def equal(self) -> bool:
        return all(difference.equal for difference in self.sinks.values())

    def as_dict(self) -> dict[str, Any]:
        told = {"equal": self.equal, "sinks": {name: one.as_dict() for name, one in self.sinks.items()}}
        rest = {name: getattr(self, name) for name in ("records_in", "batches", "records_per_s", "took_s", "late", "dropped", "machine")}
        return told | rest


def run_on_both(experiment: Experiment, context: Context, directory: Path) -> Comparison:
    """Run the query here and on Spark, on the same records. directory: new or empty; the program, its input and its output stay in it.

    The model serves all records of the logs (`drain`), as Spark does. Raises NotExported, SparkUnavailable, SparkFailed, OSError.
    """
    document = experiment.model_dump(mode="json", by_alias=True)
    document["workload"] |= {"drain": True, "warmup_s": 0}
    drained = load(document, context)
    query = write(drained, directory, context)
    check_java()
    done = engine.run(drained, datasets=context.datasets, keep_outputs=True)
    began_s = time.monotonic()
    _run(directory)
    took_s = time.monotonic() - began_s
    sums = any(spec.kind.endswith("aggregate") for spec in drained.query.operators)
    sinks = {}
    for sink in query.sinks:
        ours = done.outputs(sink.name).select(list(sink.columns))
        floats = [field.name for field in ours.schema if sums and pa.types.is_floating(field.type)]
        sinks[sink.name] = difference(ours, records_written(directory, sink.name, ours.schema), floats)
    told = [batch for batches in json.loads((directory / "progress.json").read_text()).values() for batch in batches]
    records = sum(batch["numInputRows"] for batch in told)
    in_batches_s = sum(batch["batchDuration"] for batch in told) / 1000
    return Comparison(
        sinks=sinks,
        records_in=int(done.summary["records_in"]),
        batches=len(told),
        records_per_s=round(records / in_batches_s, 1) if in_batches_s else 0.0,
        took_s=round(took_s, 1),
        late=int(done.summary["late"]),
        dropped=sum(state["numRowsDroppedByWatermark"] for batch in told for state in batch["stateOperators"]),
        machine=f"{os.cpu_count()} cores, {platform.machine()}",
    )


def _run(directory: Path) -> None:
    log = directory / "log.txt"
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    with log.open("wb") as file:
        status = subprocess.run([sys.executable, "query.py"], cwd=directory, stdout=file, stderr=file, env=environment).returncode
    if status:
        lines = log.read_text(errors="replace").splitlines()
        wrong = [line for line in lines if "Exception" in line or "Error" in line][:1] or lines[-LOG_LINES:]
        raise SparkFailed(f"Spark ended with status {status}: {' '.join(wrong)[:500]} (all of it: {log})")


__all__ = ["Comparison", "SparkFailed", "SparkUnavailable", "run_on_both"]
