"""Train cost models on a corpus, and report what they are worth beside simpler predictors.

Models that are trained already are kept, so a stopped command goes on where it was. Exit status 2: they cannot be trained; 130: stopped
(Ctrl-C).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from engine.corpus.corpora import CorpusError
from engine.costmodels.metrics import METRICS
from engine.spec.figure.evaluations import Models
from webapp.lab.cost_models import NAME
from webapp.lib.command import QuickCommand

from .corpus import INVALID, STOPPED


def on_spark(told: Callable[[str], Any], together: int) -> Callable[..., None]:
    """together: processes that train each model. Raises CorpusError when it is called."""
    from workers.spark.learning import train  # pyspark takes seconds
    from workers.spark.session import SparkUnavailable

    def trained(*of: Any) -> None:
        try:
            train(*of, told, together)
        except SparkUnavailable as error:
            raise CorpusError(str(error)) from None

    return trained


class Command(QuickCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("corpus", help="name of a corpus (manage.py corpus list)")
        parser.add_argument("--name", help="name of the models (default: that of the corpus)")
        parser.add_argument("--metrics", nargs="+", choices=METRICS, default=list(METRICS), help="costs to be predicted (default: all)")
        parser.add_argument("--members", type=int, default=3, help="models of each cost (default: 3)")
        parser.add_argument("--hidden", type=int, default=128, help="width of the network's states (default: 128)")
        parser.add_argument("--epochs", type=int, default=200, help="epochs at most (default: 200)")
        parser.add_argument(
            "--batch", type=int, default=128, help="graphs of a step of training (default: 128; 32 is better for a few thousand traces)"
        )
        parser.add_argument("--logarithmic", action="store_true", help="scale the logarithms of rates, sizes and features of hosts")
        parser.add_argument("--half", action="store_true", help="store weights in 16 bits")
        parser.add_argument("--processes", type=int, default=2, metavar="N", help="models trained at the same time (default: 2)")
        parser.add_argument("--on", choices=("processes", "spark"), default="processes", help="what trains them; SPARK_MASTER says where")
        parser.add_argument(
            "--together", type=int, default=1, metavar="N", help="with --on spark: processes that train each model together (default: 1)"
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON value")

    def handle(self, *args: Any, as_json: bool, **options: Any) -> None:
        try:
            told = self._trained(as_json, **options)
        except ValueError as error:  # CorpusError, TrainingError, BrokenModel
            self.stdout.write(json.dumps({"error": str(error)})) if as_json else self.stderr.write(str(error))
            sys.exit(INVALID)
        except KeyboardInterrupt:
            self.stderr.write("stopped; the models that were done are kept, and the same command goes on")
            sys.exit(STOPPED)
        if as_json:
            self.stdout.write(json.dumps(told))

    def _trained(
        self,
        as_json: bool,
        corpus: str,
        name: str | None,
        metrics: list[str],
        members: int,
        hidden: int,
        epochs: int,
        batch: int,
        logarithmic: bool,
        half: bool,
        processes: int,
        on: str,
        together: int,
        **_: Any,
    ) -> list[dict[str, Any]]:
        try:
            from engine.learning.models import learn
            from engine.learning.report import line
        except ModuleNotFoundError as error:
            raise CorpusError(f"{error.name} is not installed; run: pip install -r requirements-models.txt -c constraints.txt") from None
        if not re.fullmatch(NAME, name or corpus):
            raise CorpusError(f"name is '{name or corpus}'; use lower-case letters, digits, _ and -, at most 63 of them")
        data = Path(settings.DATA_DIR)
        said = (lambda doing: None) if as_json else self._told()
        models = Models(hidden=hidden, members=members, epochs=epochs, batch=batch, logarithmic=logarithmic)
        if together < 1 or (together > 1 and on != "spark"):
            raise CorpusError(f"--together is {together}; it must be 1, or with --on spark more")
        elsewhere = on_spark(said, together) if on == "spark" else None
        place = data / "models" / (name or corpus)
        found = learn(data / "corpora" / corpus, place, models, max(1, processes), said, metrics, half, elsewhere)
        for one in () if as_json else found:
            metric = METRICS[one["metric"]]
            self.stdout.write(f"{metric.title}, {one['traces']['training']:,} traces for training")
            for predictor, off in one["off"].items():
                self.stdout.write(f"  {line(metric, predictor, off)}")
        return found

    def _told(self) -> Callable[[str], None]:
        """Print what is going on, each model once."""
        before = ""

        def told(doing: str) -> None:
            nonlocal before
            trained, _, _ = doing.partition(";")
            if trained != before:
                before = trained
                self.stdout.write(trained)

        return told
