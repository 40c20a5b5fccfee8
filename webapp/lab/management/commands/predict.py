"""Predict how fast a query is on this machine's Spark, then measure it (docs/calibration.md).

The model executes the query with what `manage.py calibrate` measured. Spark executes it then, on the same records. Exit status 2 if Spark
or its model cannot execute the query, 6 if a file cannot be read, 8 if there is no Spark or it fails.
"""

from __future__ import annotations

import json
import sys
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

MEASURES = {
    "records_per_s": ("throughput", "records/s"),
    "batch_ms": ("micro-batch", "ms"),
}


class Command(QuickCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="experiment, as YAML or JSON")
        parser.add_argument("--datasets", type=Path, action="append", default=[settings.BASE_DIR / "fixtures" / "data"], help="directory")
        parser.add_argument("--calibration", type=Path, help="file that manage.py calibrate wrote")
        parser.add_argument("--only-predict", action="store_true", help="without Spark")
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
    if as_json:
        print(json.dumps(found.as_dict()))
        return
    print(f"{experiment.name or options['file'].name}:")
    for name, ratio in found.ratios.items():
        title, unit = MEASURES[name]
        predicted, measured = getattr(found.predicted, name), getattr(found.measured, name)
        print(f"  {title:12} predicted {predicted:12,.0f} {unit}, measured {measured:12,.0f}: {ratio:.2f} times")
    for sentence in found.said:
        print(f"  {sentence}")
