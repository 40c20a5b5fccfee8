"""A query's speed on this machine, predicted by the model and then measured: `manage.py predict`."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import engine
from engine.export import write
from engine.export.calibration import Calibration, on_spark
from engine.spec import Experiment
from engine.spec.rules.validation import Context
from engine.workloads import Strings, build_feed

from .calibrating import FIRST, PARTITIONS, busy_share, busy_time, machine, warm_up
from .streaming import BatchLog, drained, stream

BATCHES = 16
"""Files of each source, and so micro-batches."""
LEAST_RECORDS = 1_000


class TooFewRecords(ValueError):
    """The experiment's sources make too few records to measure anything."""


@dataclass(frozen=True)
class Speed:
    """Of the micro-batches with records, without the first ones. batch_ms: the median. low_ms, high_ms: quartiles. records_per_s: of all,
    over the time that they took."""

    batches: int
    batch_ms: float
    low_ms: float
    high_ms: float
    records_per_s: float


@dataclass(frozen=True)
class Prediction:
    """busy: share of the machine's time that others had meanwhile. said: what speaks against comparing the two, a sentence each."""

    records: int
    predicted: Speed
    measured: Speed
    busy: float
    said: tuple[str, ...]

    @property
    def ratios(self) -> dict[str, float]:
        """Predicted over measured."""
        return {name: round(getattr(self.predicted, name) / getattr(self.measured, name), 3) for name in ("batch_ms", "records_per_s")}

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"said": list(self.said), "ratios": self.ratios}


def predict(experiment: Experiment, context: Context, calibration: Calibration, told: Callable[[str], None]) -> Speed:
    """What the model says: all logs are there when it begins, and it reads them as fast as it can. Raises InvalidExperiment where the
    engine cannot execute the query, NotExported, TooFewRecords."""
    whole = drained(experiment, context)
    model = on_spark(whole, calibration, context, BATCHES, PARTITIONS, records_of(whole, context))
    told("running the model")
    simulation = engine.Simulation(model, datasets=context.datasets)
    jobs = {}
    while (frame := simulation.advance()) is not None:
        jobs |= {job["due_s"]: job for job in frame["engine"]["jobs"] if job["records"] > 1}
    return _speed([(job["records"], 1000 * (job["ends_s"][-1] - due_s)) for due_s, job in jobs.items()])


def measure(spark: Any, experiment: Experiment, context: Context, told: Callable[[str], None]) -> tuple[Speed, float]:
    """The same on Spark, and the share of the machine's time that others had. Raises Spark's errors, OSError."""
    whole = drained(experiment, context)
    warm_up(spark, told)
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary) / "query"
        write(whole, directory, context, batches=BATCHES, partitions=PARTITIONS)
        told("running Spark")
        began = busy_time()
        log = BatchLog(Path(temporary) / "batches")
        stream(spark, directory, log, lambda: None)
        busy = busy_share(began)
    return _speed([(one["records_in"], one["took_ms"]) for one in log.batches if one["records_in"] > 1]), busy


def compared(experiment: Experiment, context: Context, calibration: Calibration, spark: Any, told: Callable[[str], None]) -> Prediction:
    """Predicted first, measured then."""
    predicted = predict(experiment, context, calibration, told)
    measured, busy = measure(spark, experiment, context, told)
    said = []
    if calibration.machine != machine():
        said.append(f"the calibration is of another machine: {calibration.machine}; this one is {machine()}")
    return Prediction(records_of(drained(experiment, context), context), predicted, measured, round(busy, 3), tuple(said))


def records_of(experiment: Experiment, context: Context) -> int:
    """Of all sources. Raises TooFewRecords."""
    strings = Strings()
    sources = [spec.id for spec in experiment.query.operators if spec.kind == "source"]
    count = sum(build_feed(experiment, id, n, strings, context.datasets).count for n, id in enumerate(sources))
    if count < LEAST_RECORDS:
        raise TooFewRecords(f"the sources make {count:,} records, of which nothing can be measured; at least {LEAST_RECORDS:,} are needed")
    return count


def _speed(batches: Sequence[tuple[int, float]]) -> Speed:
    """batches: records, and ms."""
    kept = batches[FIRST:] if len(batches) > FIRST + 2 else batches
    took = [took_ms for _, took_ms in kept]
    low, middle, high = statistics.quantiles(took, n=4)
    rate = 1000 * sum(records for records, _ in kept) / sum(took)
    return Speed(len(kept), round(middle, 1), round(low, 1), round(high, 1), round(rate, 1))
