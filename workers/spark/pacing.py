"""How late micro-batches are with input at the pace of its logs, on Spark and by the model: `manage.py predict --paced`.

Files appear in Spark's input directories when their time has come; each has what a log got in SLICE_NS. A record's latency is the time from
the end of its slice to the end of the micro-batch that read it. Both sides compute it alike, from what each micro-batch read: logs are read
in their order.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow.parquet as parquet

import engine
from engine.export import write
from engine.export.calibration import Calibration, on_spark
from engine.spec import Experiment
from engine.spec.rules.validation import Context
from workers.time_slices import TimeSlices

from .calibrating import PARTITIONS, busy_share, busy_time
from .predicting import NotPredicted, against, one_sink, records_of
from .streaming import LOOK_S, drained, program_in, scratch

SLICE_NS = 100_000_000
ALL_FILES = 1_000_000
SETTLING = 1 / 3
"""Share of the run in whose records nobody is interested: Java compiles the query, and catches up with what came meanwhile."""
LATE_S = 5.0
"""Spark has not kept up if its last micro-batch ends so long after the last record came."""
SOURCE = re.compile(r"/input/([^/\]]+)\]?$")


@dataclass(frozen=True)
class Batch:
    """ends_s: from the first moment of the logs. records: by source."""

    took_ms: float
    ends_s: float
    records: Mapping[str, int]


@dataclass(frozen=True)
class Arrival:
    """A slice of a log: when it is there, and how many records it has."""

    at_s: float
    records: int


@dataclass(frozen=True)
class Latency:
    """Of the records behind the settling time; batch_ms: median of the micro-batches that end there. late_s: from the last record to the
    end of its micro-batch."""

    records: int
    batches: int
    batch_ms: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    late_s: float

    def __str__(self) -> str:
        return f"latency p50 {self.p50_ms:,.0f} ms, p95 {self.p95_ms:,.0f} ms, p99 {self.p99_ms:,.0f} ms; {self.batch_ms:,.0f} ms a batch"


MEASURES = ("batch_ms", "p50_ms", "p95_ms", "p99_ms")


@dataclass(frozen=True)
class PacedPrediction:
    """busy: share of the machine's time that others had meanwhile. said: what speaks against comparing the two, a sentence each."""

    predicted: Latency
    measured: Latency
    busy: float
    said: tuple[str, ...]

    @property
    def ratios(self) -> dict[str, float]:
        """Predicted over measured."""
        return {name: round(getattr(self.predicted, name) / getattr(self.measured, name), 3) for name in MEASURES}

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"said": list(self.said), "ratios": self.ratios}


def compared(
    experiment: Experiment, context: Context, calibration: Calibration, warm_spark: Callable[[], Any], told: Callable[[str], None]
) -> PacedPrediction:
    """Predicted first, measured then. Raises what `predict` and `measure` do."""
    predicted = predict(experiment, context, calibration, told)
    measured, busy = measure(warm_spark(), experiment, context, told)
    said = list(against(calibration, busy))
    for who, found in (("the model", predicted), ("Spark", measured)):
        if found.late_s > LATE_S:
            said.append(f"{who} did not keep up: its last micro-batch ended {found.late_s:.0f} s after the last record came")
    return PacedPrediction(predicted, measured, round(busy, 3), tuple(said))


def predict(experiment: Experiment, context: Context, calibration: Calibration, told: Callable[[str], None]) -> Latency:
    """By the model. Raises InvalidExperiment, NotExported, NotPredicted."""
    whole = drained(experiment, context)
    one_sink(whole)
    records_of(whole, context)
    model = on_spark(whole, calibration, context, PARTITIONS)
    told("running the model")
    simulation, slices, jobs = engine.Simulation(model, datasets=context.datasets), TimeSlices(), {}
    while (frame := slices.next_frame(simulation, lambda: None)) is not None:
        jobs |= {job["due_s"]: job for job in frame["engine"]["jobs"] if job["ends_s"]}
    batches = [Batch(1000 * (job["ends_s"][-1] - due_s), job["ends_s"][-1], {"": job["records"]}) for due_s, job in jobs.items()]
    came: Counter[int] = Counter()
    with scratch() as temporary:
        for arrivals in _written(whole, context, Path(temporary) / "query").values():
            came.update({round(one.at_s * 1e9): one.records for one in arrivals})
    return latency(batches, {"": [Arrival(at_ns / 1e9, count) for at_ns, count in sorted(came.items())]}, whole.workload.horizon_s)


def measure(spark: Any, experiment: Experiment, context: Context, told: Callable[[str], None]) -> tuple[Latency, float]:
    """On Spark, in as many seconds as the experiment has, and the share of the machine's time that others had. Raises Spark's errors,
    OSError, NotPredicted."""
    whole = drained(experiment, context)
    with scratch() as temporary:
        directory = Path(temporary) / "query"
        arrivals = _written(whole, context, directory)
        (directory / "input").rename(directory / "coming")
        for name in arrivals:
            (directory / "input" / name).mkdir(parents=True)
        told("running Spark")
        before = busy_time()
        batches = _paced(spark, directory, sum(one.records + 1 for of_source in arrivals.values() for one in of_source))
        return latency(batches, arrivals, whole.workload.horizon_s), busy_share(before)


def latency(batches: Iterable[Batch], arrivals: Mapping[str, Sequence[Arrival]], horizon_s: float) -> Latency:
    """Which slices each micro-batch has, and how late that makes their records. Raises NotPredicted if none is behind the settling time."""
    batches = sorted(batches, key=lambda batch: batch.ends_s)
    settled_s = SETTLING * horizon_s
    took_ms, counts, last_s, last_end_s = [], [], 0.0, 0.0
    for source, of_source in arrivals.items():
        read_to = np.cumsum([batch.records.get(source, 0) for batch in batches])
        there = np.cumsum([one.records for one in of_source])
        first = 0
        for n, one in enumerate(of_source):
            # of a slice that several micro-batches read each has its part
            while first < there[n]:
                at = int(np.searchsorted(read_to, first, side="right"))
                if at == len(batches):
                    break  # never read
                behind = min(int(there[n]), int(read_to[at]))
                if one.at_s > settled_s:
                    counts.append((1000 * (batches[at].ends_s - one.at_s), behind - first))
                last_s, last_end_s = max(last_s, one.at_s), max(last_end_s, batches[at].ends_s)
                first = behind
    took_ms = [batch.took_ms for batch in batches if batch.ends_s > settled_s and sum(batch.records.values()) > len(arrivals)]
    if not counts or not took_ms:
        raise NotPredicted(f"no records come in the last two thirds of {horizon_s:g} s; take a longer run")
    late_ms, weights = (np.array(column) for column in zip(*sorted(counts), strict=True))
    reached = np.cumsum(weights) / weights.sum()
    p50, p95, p99 = (round(float(late_ms[int(np.searchsorted(reached, share))]), 1) for share in (0.5, 0.95, 0.99))
    median_ms = round(float(np.median(took_ms)), 1)
    return Latency(int(weights.sum()), len(took_ms), median_ms, p50, p95, p99, round(last_end_s - last_s, 3))


def _written(whole: Experiment, context: Context, directory: Path) -> dict[str, list[Arrival]]:
    """The program with its input, and what arrives when; the files that end the streams left out."""
    write(whole, directory, context, partitions=PARTITIONS, slice_ns=SLICE_NS)
    found = {}
    for source in sorted((directory / "input").iterdir()):
        files = sorted(source.iterdir())[:-1]
        found[source.name] = [Arrival(_due_s(file), parquet.read_metadata(file).num_rows) for file in files]
    return found


def _due_s(file: Path) -> float:
    """A slice is there when it has ended."""
    return (int(file.stem) + 1) * SLICE_NS / 1e9


def _paced(spark: Any, directory: Path, records: int) -> list[Batch]:
    """Run the program until it has read so many records."""
    program, session = program_in(directory), spark.newSession()
    program.FILES = ALL_FILES  # type: ignore[attr-defined]
    for name, value in program.settings().items():
        session.conf.set(name, value)
    session.conf.set("spark.sql.streaming.numRecentProgressUpdates", "100000")
    stop, query = threading.Event(), _started(program, session, directory)
    began_s = time.time()
    feeder = threading.Thread(target=_feed, args=(directory, began_s, stop), name="feeder", daemon=True)
    feeder.start()
    try:
        while True:
            if not query.isActive:
                query.awaitTermination()  # raises what ended it
            told = query.recentProgress
            if sum(batch.numInputRows for batch in told) >= records:
                return [_batch(batch, began_s) for batch in told]
            time.sleep(LOOK_S)
    finally:
        stop.set()
        feeder.join()
        query.stop()


def _started(program: ModuleType, session: Any, directory: Path) -> Any:
    """A micro-batch begins as soon as the one before it has ended."""
    ((sink, records),) = program.queries(session).items()
    writer = records.writeStream.format("parquet").option("checkpointLocation", str(directory / "checkpoints" / sink))
    return writer.start(str(directory / "output" / sink))


def _feed(directory: Path, began_s: float, stop: threading.Event) -> None:
    """Let each file appear when its slice has ended."""
    for file in sorted((directory / "coming").glob("*/*.parquet"), key=lambda file: (file.stem, file.parent.name)):
        if stop.wait(max(0.0, began_s + _due_s(file) - time.time())):
            return
        file.rename(directory / "input" / file.parent.name / file.name)


def _batch(told: Any, began_s: float) -> Batch:
    records: Counter[str] = Counter()
    for source in told.sources:
        found = SOURCE.search(source.description)
        records[found[1] if found else source.description] += source.numInputRows
    begins_s = datetime.fromisoformat(told.timestamp).timestamp() - began_s
    return Batch(float(told.batchDuration), begins_s + told.batchDuration / 1000, records)
