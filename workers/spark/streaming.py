"""An experiment's query on a real Spark, its records held against the engine's."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa

import engine
from engine.export import (
    AHEAD_NS,
    Difference,
    MicroBatch,
    ResultLatency,
    SparkQuery,
    batches_in,
    began_and_committed,
    difference,
    latency_of,
    line_of,
    lost_batches,
    micro_batch,
    records_by_batch,
    write,
)
from engine.spec import Experiment
from engine.spec.rules.validation import Context, load

from .pacing import FILES_MAX, SETTINGS, Pace
from .session import SparkUnavailable, check_java

LOG_LINES = 12
LOOK_S = 0.1
"""Polling interval of micro-batches that have ended."""


class SparkFailed(Exception):
    """The program ended with an error; the message has the end of what it printed."""


@dataclass(frozen=True)
class Comparison:
    """sinks: by sink. batches: micro-batches of all sinks. records_per_s: of the input, over the time in micro-batches. took_s: on
    Spark, in the last attempt. late: records that the model dropped. dropped: by Spark's watermarks. latency: by sink; none of a sink
    whose records differ, and none without a pace."""

    sinks: dict[str, Difference]
    records_in: int
    batches: int
    records_per_s: float
    took_s: float
    late: int
    dropped: int
    machine: str
    latency: dict[str, ResultLatency]

    @property
    def equal(self) -> bool:
        return all(difference.equal for difference in self.sinks.values())

    def as_dict(self) -> dict[str, Any]:
        told = {"equal": self.equal, "sinks": {name: one.as_dict() for name, one in self.sinks.items()}}
        rest = {
            name: getattr(self, name)
            for name in ("records_in", "batches", "records_per_s", "took_s", "late", "dropped", "machine", "latency")
        }
        return told | rest


def drained(experiment: Experiment, context: Context) -> Experiment:
    """The experiment as both execute it: all records of the logs are served, also those of a warm-up, and the model has no faults, since
    Spark has none of them."""
    document = experiment.model_dump(mode="json", by_alias=True)
    document["workload"] |= {"drain": True, "warmup_s": 0}
    document["faults"] = []
    document["measurement"]["latency"] = {"from": "append", "anchor": "newest"}  # knows nothing of when records are served
    return load(document, context)


def run_on_both(experiment: Experiment, context: Context, directory: Path) -> Comparison:
    """Run the query here and, in a process of its own, on Spark, on the same records. directory: new or empty; the program, its input and
    its output stay in it. Raises NotExported, SparkUnavailable, SparkFailed, OSError."""
    whole = drained(experiment, context)
    query = write(whole, directory, context)
    check_java()
    simulation = engine.Simulation(whole, datasets=context.datasets, keep_outputs=True)
    simulation.run_until(simulation.end_ns)
    began_s = time.monotonic()
    _run(directory)
    took_s = time.monotonic() - began_s
    latest_ns = program_in(directory).END_NS - AHEAD_NS
    told = json.loads((directory / "progress.json").read_text())
    batches = [micro_batch(sink, batch, latest_ns) for sink, of_sink in told.items() for batch in of_sink]
    return compared(simulation, query, directory, batches, took_s)


def compared(
    simulation: engine.Simulation,
    query: SparkQuery,
    directory: Path,
    batches: Sequence[MicroBatch],
    took_s: float,
    pace: Pace | None = None,
    warmup_ns: int = 0,
) -> Comparison:
    """The records of a finished simulation, which kept its outputs, and those that the program wrote. pace: at which it did. warmup_ns: of
    the logs, in which no latency counts."""
    sums = any(spec.kind.endswith("aggregate") for spec in simulation.experiment.query.operators)
    sinks, latency = {}, {}
    for sink in query.sinks:
        ours = simulation.outputs(sink.name)
        schema = ours.select(list(sink.columns)).schema
        theirs, written_in = records_by_batch(directory, sink.name, schema)
        floats = [field.name for field in schema if sums and pa.types.is_floating(field.type)]
        sinks[sink.name] = difference(ours.select(schema.names), theirs, floats)
        if pace is not None and sinks[sink.name].equal:
            committed_ns = _committed_ns(directory / "checkpoints" / sink.name, sink.name, batches, pace)
            times = began_and_committed(ours, theirs, written_in, committed_ns, floats)
            latency[sink.name] = latency_of(*times, warmup_ns, simulation.experiment.workload.horizon_ns)
    summary = simulation.summary()
    in_batches_s = sum(batch["took_ms"] for batch in batches) / 1000
    return Comparison(
        sinks=sinks,
        records_in=int(summary["records_in"]),
        batches=len(batches),
        records_per_s=round(sum(batch["records_in"] for batch in batches) / in_batches_s, 1) if in_batches_s else 0.0,
        took_s=round(took_s, 1),
        late=int(summary["late"]),
        dropped=sum(batch["dropped"] for batch in batches),
        machine=f"{os.cpu_count()} cores, {platform.machine()}",
        latency=latency,
    )


def _committed_ns(checkpoint: Path, sink: str, batches: Sequence[MicroBatch], pace: Pace) -> dict[int, int]:
    """When each micro-batch was committed, in the time of the logs."""
    found = {}
    for batch in (batch for batch in batches if batch["sink"] == sink):
        number, ended_s = batch["batch"], batch["began_s"] + batch["took_ms"] / 1000
        unix_s = (checkpoint / "commits" / str(number)).stat().st_mtime if batch["lost"] else ended_s
        found[number] = round(pace.log_s(unix_s) * 1e9)
    return found


def stream(spark: Any, directory: Path, log: BatchLog, check: Callable[[], None], pace: Pace | None = None) -> None:
    """Run the program's streams in a session of their own, to the end of their input or from where they were stopped.

    check: called every LOOK_S; what it raises stops the streams. pace: at which their input appears; None: it is there. Raises Spark's
    errors.
    """
    program, session = program_in(directory), spark.newSession()
    for name, value in (program.settings() | (SETTINGS if pace is not None else {})).items():
        session.conf.set(name, value)
    if pace is not None:
        program.FILES_MAX = FILES_MAX  # type: ignore[attr-defined]
    log.add(lost_batches(directory / "checkpoints", log.batches))
    running: dict[str, Any] = {}

    def note(sink: str) -> None:
        last = running[sink].lastProgress
        if last is None or log.has(sink, last.batchId):
            return
        told = [last] if log.has(sink, last.batchId - 1) else running[sink].recentProgress  # to ask for all of them takes longer
        log.add(micro_batch(sink, json.loads(batch.json), program.END_NS - AHEAD_NS) for batch in told)

    try:
        session.sparkContext.setLocalProperty("spark.scheduler.pool", "streams")
        results = program.queries(session)
        for sink, records in results.items():
            running[sink] = program.start(sink, records, *([] if pace is None else [pace.interval]))
        if pace is not None:
            pace.start()
        following = set(results) if pace is not None else set[str]()  # sinks whose streams do not end by themselves
        while True:
            alive = any(query.isActive for query in running.values())
            for sink in running:
                note(sink)
            if not alive:
                break
            check()
            for sink in [sink for sink in following if pace is not None and pace.has_ended and pace.is_read(sink)]:
                if running[sink].status["isTriggerActive"]:
                    continue
                running[sink].stop()
                note(sink)
                running[sink] = program.start(sink, results[sink])  # the last windows end
                following.remove(sink)
            time.sleep(LOOK_S)
        for query in running.values():
            query.awaitTermination()
    finally:
        if pace is not None:
            pace.stop()
        for query in running.values():
            query.stop()
        session.sparkContext.setLocalProperty("spark.scheduler.pool", None)


def scratch() -> tempfile.TemporaryDirectory[str]:
    """A directory for a program. Spark may still write into its state for a moment when the streams have ended."""
    return tempfile.TemporaryDirectory(ignore_cleanup_errors=True)


class BatchLog:
    """Micro-batches that have ended, a line of a file for each. A stream that goes on in another process adds to those before."""

    def __init__(self, path: Path):
        self.path = path
        self.batches = batches_in(path)
        self._known = {(batch["sink"], batch["batch"]) for batch in self.batches}
        path.write_text("".join(map(line_of, self.batches)))  # without a line that was cut off

    def has(self, sink: str, batch: int) -> bool:
        return (sink, batch) in self._known

    def add(self, batches: Iterable[MicroBatch]) -> None:
        """Those that are not known yet."""
        new = [batch for batch in batches if not self.has(batch["sink"], batch["batch"])]
        if not new:
            return
        with self.path.open("a") as file:
            file.writelines(map(line_of, new))
        self.batches += new
        self._known |= {(batch["sink"], batch["batch"]) for batch in new}


def program_in(directory: Path) -> ModuleType:
    """The program of a directory as a module."""
    spec = importlib.util.spec_from_file_location("query", directory / "query.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _run(directory: Path) -> None:
    log = directory / "log.txt"
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    with log.open("wb") as file:
        status = subprocess.run([sys.executable, "query.py"], cwd=directory, stdout=file, stderr=file, env=environment).returncode
    if status:
        lines = log.read_text(errors="replace").splitlines()
        wrong = [line for line in lines if "Exception" in line or "Error" in line][:1] or lines[-LOG_LINES:]
        raise SparkFailed(f"Spark ended with status {status}: {' '.join(wrong)[:500]} (all of it: {log})")


__all__ = ["BatchLog", "Comparison", "SparkFailed", "SparkUnavailable", "compared", "drained", "run_on_both", "stream"]
