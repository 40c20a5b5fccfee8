"""Predict how fast a query is on this machine's Spark, then measure it (docs/calibration.md).

The model executes the query with what `manage.py calibrate` measured. Spark executes it then, on the same records. Exit status 2 if Spark
or its model cannot execute the query, 6 if a file cannot be read, 8 if there is no Spark or it fails.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from engine.export import NotExported
from engine.export.calibration import NotCalibrated, read
from engine.simulation import command_line
from engine.spec import InvalidExperiment
from engine.spec.rules.validation import Context
from webapp.lab import calibrations
from webapp.lib.command import QuickCommand

from .run import NO_SPARK

TRIGGER_MAX_MS = 60_000
MEASURES = {
    "records_per_s": ("throughput", "records/s"),
    "batch_ms": ("micro-batch", "ms"),
    "p50_ms": ("latency p50", "ms"),
    "p95_ms": ("latency p95", "ms"),
    "p99_ms": ("latency p99", "ms"),
}


class Command(QuickCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="experiment, as YAML or JSON")
        parser.add_argument("--datasets", type=Path, action="append", default=[settings.BASE_DIR / "fixtures" / "data"], help="directory")
        parser.add_argument("--calibration", type=Path, help="file that manage.py calibrate wrote")
        parser.add_argument("--only-predict", action="store_true", help="without Spark")
        parser.add_argument("--paced", action="store_true", help="input at the pace of the logs: latencies; takes as long as the logs")
        parser.add_argument("--trigger-ms", type=int, default=0, help="with --paced: least time between micro-batches")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON alone")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            carry_out(options)
        except command_line.Failure as failure:
            sys.exit(command_line.tell(failure, options["as_json"]))


def carry_out(options: dict[str, Any]) -> None:
    from workers.spark import predicting
    from workers.spark.calibrating import warm_up
    from workers.spark.session import SESSION, SparkUnavailable, first_line

    as_json = options["as_json"]
    experiment, datasets = command_line.loaded(options["file"], options["datasets"])
    context = Context(datasets=datasets)

    def told(doing: str) -> None:
        print(f"  {doing} ...", file=sys.stderr)

    def warm_spark() -> Any:
        spark = SESSION.get()
        warm_up(spark, told)
        return spark

    try:
        calibration = read(options["calibration"] or calibrations.file())
        if options["paced"]:
            paced(experiment, context, calibration, told, warm_spark, options)
            return
        if options["only_predict"]:
            predicted = predicting.predict(experiment, context, calibration, told)
            print(json.dumps(vars(predicted)) if as_json else str(predicted))
            return
        found = predicting.compared(experiment, context, calibration, warm_spark, told)
    except (NotCalibrated, OSError) as why:
        raise command_line.Failure(command_line.UNREADABLE, str(why)) from None
    except NotExported as refused:
        problems = [problem.as_dict() for problem in refused.problems]
        raise command_line.Failure(
            command_line.INVALID, f"{options['file']} has parts that have no equivalent in Spark", problems
        ) from None
    except InvalidExperiment as refused:
        problems = [problem.as_dict() for problem in refused.problems]
        raise command_line.Failure(command_line.INVALID, f"{options['file']} cannot be executed by the model of Spark", problems) from None
    except predicting.NotPredicted as why:
        raise command_line.Failure(command_line.INVALID, f"{options['file']}: {why}") from None
    except SparkUnavailable as why:
        raise command_line.Failure(NO_SPARK, str(why)) from None
    except Exception as error:
        raise command_line.Failure(NO_SPARK, f"Spark failed: {first_line(error)}") from None
    finally:
        SESSION.close()
    values = {name: (getattr(found.predicted, name), getattr(found.measured, name)) for name in found.ratios}
    tell(experiment.name or options["file"].name, found, values, as_json)


def paced(
    experiment: Any, context: Context, calibration: Any, told: Callable[[str], None], warm_spark: Callable[[], Any], options: dict[str, Any]
) -> None:
    from workers.spark import predicting

    as_json, trigger_ms = options["as_json"], options["trigger_ms"]
    if not 0 <= trigger_ms <= TRIGGER_MAX_MS:
        raise command_line.Failure(command_line.INVALID, f"--trigger-ms is {trigger_ms}; it must be from 0 to {TRIGGER_MAX_MS:,}")
    if options["only_predict"]:
        _, latency = predicting.predict_paced(experiment, context, calibration, told, trigger_ms)
        print(json.dumps(latency) if as_json else line_of(latency))
        return
    found = predicting.compared_paced(experiment, context, calibration, warm_spark, told, trigger_ms)
    values = {name: (found.predicted[name], found.measured[name]) for name in predicting.QUANTILES if name in found.ratios}  # type: ignore[literal-required]
    tell(experiment.name or options["file"].name, found, values | {"batch_ms": found.batch_ms}, as_json)


def line_of(latency: Any) -> str:
    if not latency["results"]:
        return "no result comes behind the warm-up and before the logs end"
    return f"latency p50 {latency['p50_ms']:,.0f} ms, p95 {latency['p95_ms']:,.0f} ms, p99 {latency['p99_ms']:,.0f} ms"


def tell(name: str, found: Any, values: Mapping[str, tuple[float, float]], as_json: bool) -> None:
    """values: predicted and measured, by measure."""
    if as_json:
        print(json.dumps(found.as_dict()))
        return
    print(f"{name}:")
    for measure, (predicted, measured) in values.items():
        title, unit = MEASURES[measure]
        ratio = found.ratios[measure]
        print(f"  {title:12} predicted {predicted:12,.0f} {unit}, measured {measured:12,.0f}: {ratio:.2f} times")
    for sentence in found.said:
        print(f"  {sentence}")
