"""A query's speed on this machine, predicted by the model and then measured: `manage.py predict`, and each execution of a run on Spark."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

import engine
from engine.export import MicroBatch, ResultLatency, latency_of, write
from engine.export.calibration import Calibration, NeverCalibrated, NotCalibrated, on_spark, read
from engine.spec import Experiment, InvalidExperiment
from engine.spec.rules.validation import Context
from engine.workloads import Strings, build_feed
from workers.time_slices import TimeSlices

from .calibrating import BUSY_MAX, FIRST, PARTITIONS, Check, busy_share, busy_time, machine, never, piece_ms
from .pacing import SLICE_NS, Pace
from .streaming import BatchLog, drained, scratch, stream
from .streaming import compared as compared_records

QUANTILES = ("p50_ms", "p95_ms", "p99_ms")
BATCHES = 16
"""Files of each source, and so micro-batches."""
LEAST_RECORDS, LEAST_BATCHES = 1_000, 2
DRIFT_MAX = 0.1
"""A core that has become slower or faster by more than this is worth a sentence."""


class NotPredicted(ValueError):
    """The model says nothing about the speed; the message says why."""


class TooFewRecords(NotPredicted):
    """The experiment's sources make too few records to measure anything."""


class SeveralSinks(NotPredicted):
    """Spark executes a query of its own for each sink, side by side; the model has one driver."""


@dataclass(frozen=True)
class Speed:
    """Of the micro-batches with records, without the first ones. batch_ms: the median. low_ms, high_ms: quartiles. records_per_s: of all,
    over the time that they took."""

    batches: int
    batch_ms: float
    low_ms: float
    high_ms: float
    records_per_s: float

    def __str__(self) -> str:
        return f"{self.records_per_s:,.0f} records/s, {self.batch_ms:,.0f} ms a batch"


class SpeedShape(TypedDict):
    """`Speed`, as it is stored."""

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
        return {name: round(getattr(self.predicted, name) / getattr(self.measured, name), 3) for name in ("records_per_s", "batch_ms")}

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"said": list(self.said), "ratios": self.ratios}


def predict(
    experiment: Experiment,
    context: Context,
    calibration: Calibration,
    told: Callable[[str], None],
    batches: int | None = None,
    check: Check = never,
) -> Speed:
    """What the model says: all logs are there when it begins, and it reads them as fast as it can. batches: files of each source; default
    BATCHES. check: what it raises ends the model. Raises InvalidExperiment where the engine cannot execute the query, NotExported,
    NotPredicted."""
    whole = drained(experiment, context)
    one_sink(whole)
    records_max = max(1, -(-records_of(whole, context) // (batches or BATCHES)))
    told("running the model")
    _, jobs = _executed(on_spark(whole, calibration, context, PARTITIONS, records_max), context, check)
    return _speed(jobs)


def predict_paced(
    experiment: Experiment,
    context: Context,
    calibration: Calibration,
    told: Callable[[str], None],
    trigger_ms: int = 0,
    check: Check = never,
) -> tuple[Speed, ResultLatency]:
    """What the model says where both follow the logs. Raises what `predict` does."""
    whole = drained(experiment, context)
    sink = one_sink(whole)
    records_of(whole, context)
    told("running the model")
    model = on_spark(whole, calibration, context, PARTITIONS, trigger_ms=trigger_ms)
    simulation, jobs = _executed(model, context, check, keep_outputs=True)
    results = simulation.outputs(sink)
    ended_ns, late_ns = (results[name].to_numpy() for name in ("_end_ns", "_latency_ns"))
    return _speed(jobs), latency_of(ended_ns - late_ns, ended_ns, experiment.workload.warmup_ns, whole.workload.horizon_ns)


def _executed(model: Experiment, context: Context, check: Check, **options: bool) -> tuple[engine.Simulation, list[tuple[int, float]]]:
    """The finished simulation, and the records and ms of its micro-batches with records."""
    simulation, slices, jobs = engine.Simulation(model, datasets=context.datasets, **options), TimeSlices(), {}
    while (frame := slices.next_frame(simulation, check)) is not None:
        jobs |= {job["due_s"]: job for job in frame["engine"]["jobs"] if job["records"] > 1 and job["ends_s"]}
    return simulation, [(job["records"], 1000 * (job["ends_s"][-1] - due_s)) for due_s, job in jobs.items()]


def one_sink(experiment: Experiment) -> str:
    """The id of the only sink. Raises SeveralSinks."""
    sink, *others = (spec.id for spec in experiment.query.operators if spec.kind == "sink")
    if others:
        raise SeveralSinks(
            f"it has {1 + len(others)} sinks, which Spark executes as queries side by side; the model has one query at a time"
        )
    return sink


def measure(spark: Any, experiment: Experiment, context: Context, told: Callable[[str], None]) -> tuple[Speed, float]:
    """The same on Spark, and the share of the machine's time that others had. Raises Spark's errors, OSError."""
    whole = drained(experiment, context)
    with scratch() as temporary:
        directory = Path(temporary) / "query"
        write(whole, directory, context, batches=BATCHES, partitions=PARTITIONS)
        told("running Spark")
        began = busy_time()
        log = BatchLog(Path(temporary) / "batches")
        stream(spark, directory, log, lambda: None)
        busy = busy_share(began)
    return speed_of(log.batches), busy


def speed_of(batches: Sequence[MicroBatch]) -> Speed:
    """Raises NotPredicted if there are too few with records."""
    return _speed([(one["records_in"], one["took_ms"]) for one in batches if one["records_in"] > 1])


def compared(
    experiment: Experiment, context: Context, calibration: Calibration, warm_spark: Callable[[], Any], told: Callable[[str], None]
) -> Prediction:
    """Predicted first, measured then."""
    predicted = predict(experiment, context, calibration, told)
    measured, busy = measure(warm_spark(), experiment, context, told)
    said = against(calibration, busy)
    return Prediction(records_of(drained(experiment, context), context), predicted, measured, round(busy, 3), said)


@dataclass(frozen=True)
class PacedPrediction:
    """Of input at the pace of the logs. Otherwise as `Prediction`."""

    predicted: ResultLatency
    measured: ResultLatency
    batch_ms: tuple[float, float]
    busy: float
    said: tuple[str, ...]

    @property
    def ratios(self) -> dict[str, float]:
        """Predicted over measured."""
        found = {name: self.predicted[name] / self.measured[name] for name in QUANTILES if self.measured[name] and self.predicted[name]}  # type: ignore[literal-required]
        return {name: round(ratio, 3) for name, ratio in (found | {"batch_ms": self.batch_ms[0] / self.batch_ms[1]}).items()}

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"said": list(self.said), "ratios": self.ratios}


def compared_paced(
    experiment: Experiment,
    context: Context,
    calibration: Calibration,
    warm_spark: Callable[[], Any],
    told: Callable[[str], None],
    trigger_ms: int,
) -> PacedPrediction:
    """Predicted first, measured then, with records compared. Raises NotPredicted if they differ."""
    speed, predicted = predict_paced(experiment, context, calibration, told, trigger_ms)
    spark, whole = warm_spark(), drained(experiment, context)
    with scratch() as temporary:
        directory = Path(temporary) / "query"
        query = write(whole, directory, context, partitions=PARTITIONS, slice_ns=SLICE_NS)
        told(f"running Spark, for {whole.workload.horizon_s:,.0f} s")
        began, log, pace = busy_time(), BatchLog(Path(temporary) / "batches"), Pace(directory, trigger_ms)
        stream(spark, directory, log, lambda: None, pace)
        busy = busy_share(began)
        told("comparing records")
        simulation = engine.Simulation(whole, datasets=context.datasets, keep_outputs=True)
        simulation.run_until(simulation.end_ns)
        found = compared_records(simulation, query, directory, log.batches, 0.0, pace, experiment.workload.warmup_ns)
    if not found.equal:
        raise NotPredicted("records of the model and of Spark differ; manage.py run FILE --backend spark shows which")
    (measured,) = found.latency.values()
    return PacedPrediction(
        predicted, measured, (speed.batch_ms, speed_of(log.batches).batch_ms), round(busy, 3), against(calibration, busy)
    )


def against(calibration: Calibration, busy: float) -> tuple[str, ...]:
    """What speaks against comparing predictions with what was measured here. busy: share of the machine's time that others had."""
    said = []
    if calibration.machine != machine():
        said.append(f"the calibration is of another machine: {calibration.machine}; this one is {machine()}")
    elif calibration.piece_ms and abs((slower := piece_ms() / calibration.piece_ms) - 1) > DRIFT_MAX:
        said.append(f"a core takes {slower:.2f} times as long for the same work as when it was calibrated")
    if calibration.busy > BUSY_MAX:
        said.append(f"other processes used {100 * calibration.busy:.0f} % of the machine while it was calibrated")
    if busy > BUSY_MAX:
        said.append(f"other processes used {100 * busy:.0f} % of the machine meanwhile")
    return tuple(said)


# --- a run's execution on Spark -----------------------------------------------------------------------------------------------------------


class Outlook(TypedDict):
    """A prediction, and what came of it. predicted: null with the reason in `why_not`. measured: null until Spark has executed the query.
    latency: predicted, of paced input. made: day of the calibration. said: what speaks against comparing the two, a sentence each."""

    predicted: SpeedShape | None
    measured: SpeedShape | None
    latency: ResultLatency | None
    why_not: str
    made: str
    said: list[str]


def outlook(
    experiment: Experiment, context: Context, calibration: Path, batches: int, check: Check, trigger_ms: int | None = None
) -> Outlook:
    """The prediction before Spark executes the query. calibration: its file. trigger_ms: of paced input; None: all is there at once.
    Raises what `check` raises, NotExported."""
    found: Outlook = {"predicted": None, "measured": None, "latency": None, "why_not": "", "made": "", "said": []}
    try:
        measured = read(calibration)
        found["made"] = measured.made
        if trigger_ms is None:
            speed = predict(experiment, context, measured, lambda _: None, batches, check)
        else:
            speed, found["latency"] = predict_paced(experiment, context, measured, lambda _: None, trigger_ms, check)
        found["predicted"] = SpeedShape(**asdict(speed))
    except InvalidExperiment as refused:
        found["why_not"] = f"the model of Spark cannot execute it: {refused.problems[0].message}"
    except NeverCalibrated:
        found["why_not"] = "this machine is not calibrated"
    except (NotCalibrated, NotPredicted, OSError) as why:
        found["why_not"] = str(why)
    return found


def came_true(found: Outlook, batches: Sequence[MicroBatch], calibration: Path, busy: float) -> Outlook:
    """With what was measured. Without a prediction nothing changes."""
    if found["predicted"] is None:
        return found
    try:
        speed, said = speed_of(batches), against(read(calibration), busy)
    except (NotCalibrated, NotPredicted, OSError) as why:
        return {**found, "said": [str(why)]}
    return {**found, "measured": SpeedShape(**asdict(speed)), "said": list(said)}


def records_of(experiment: Experiment, context: Context) -> int:
    """Of all sources. Raises TooFewRecords."""
    strings = Strings()
    sources = [spec.id for spec in experiment.query.operators if spec.kind == "source"]
    count = sum(build_feed(experiment, id, n, strings, context.datasets).count for n, id in enumerate(sources))
    if count < LEAST_RECORDS:
        raise TooFewRecords(f"the sources make {count:,} records, of which nothing can be measured; at least {LEAST_RECORDS:,} are needed")
    return count


def _speed(batches: Sequence[tuple[int, float]]) -> Speed:
    """batches: records, and ms. Raises NotPredicted."""
    if len(batches) < LEAST_BATCHES:
        raise NotPredicted(f"too few micro-batches with records: {len(batches)}; a speed needs at least {LEAST_BATCHES}")
    kept = batches[FIRST:] if len(batches) > FIRST + 2 else batches
    took = [took_ms for _, took_ms in kept]
    low, middle, high = statistics.quantiles(took, n=4)
    rate = 1000 * sum(records for records, _ in kept) / sum(took)
    return Speed(len(kept), round(middle, 1), round(low, 1), round(high, 1), round(rate, 1))
