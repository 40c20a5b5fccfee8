"""Answers questions about placements: `python -m workers.advice`. A process of its own, so that a full queue of runs delays no answer.

Models lie in folders of the data directory (`manage.py train`), and those that come with Millrace in fixtures/models.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import django
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the products are small: threads would wait for each other, and take the runs' cores
django.setup()

import redis  # noqa: E402

from engine.advice.describe import NotDescribed, Unknown  # noqa: E402
from engine.advice.suggest import GOALS, NoAdvice, suggest  # noqa: E402
from engine.corpus.fingerprint import fingerprint  # noqa: E402
from engine.costmodels.inference import Trained  # noqa: E402
from engine.costmodels.metrics import METRICS  # noqa: E402
from engine.costmodels.storage import DESCRIPTION  # noqa: E402
from engine.spec import InvalidExperiment, Problem  # noqa: E402
from engine.spec.base.problems import pointer  # noqa: E402
from engine.spec.rules.validation import Context, load  # noqa: E402
from webapp.lab.cost_models import KnownModels, folders, homes, known_in, loaded  # noqa: E402
from webapp.lab.documents import datasets_of  # noqa: E402
from webapp.lab.models import Lab  # noqa: E402
from webapp.messaging import advice  # noqa: E402

log = logging.getLogger(__name__)

SIGN_S = 2.0
OTHER_ENGINE = "the models' corpus was measured by an engine with other prices or rules; make a corpus and train models again"
NO_MODELS = "there are no trained models; run manage.py corpus make NAME and manage.py train NAME"


@dataclass(frozen=True)
class Models:
    """Of one corpus. members: by metric."""

    known: KnownModels
    members: dict[str, list[Trained]]

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.known.name,
            "corpus": self.known.corpus,
            "traces": self.known.traces,
            "members": min(map(len, self.members.values())),
            "goals": [goal for goal in GOALS if goal in self.members],
        }


class Shelf:
    """All models that a lab can ask, the default first. They are loaded again when their files change.

    load: gives the models of a folder as they were changed last.
    """

    def __init__(self, folders: Callable[[], dict[str, Path]], load: Callable[[tuple[Path, float]], Models | None] | None = None):
        self._folders = folders
        self._load = load or (lambda key: _models_in(key[0]))
        self.loaded: dict[tuple[Path, float], Models | None] = {}
        self.models: dict[str, Models] = {}

    def look(self) -> None:
        """Another thread may answer questions meanwhile."""
        keys = [(folder, _changed(folder)) for folder in self._folders().values()]
        self.loaded = {key: self.loaded[key] if key in self.loaded else self._load(key) for key in keys}
        self.models = {models.known.name: models for models in self.loaded.values() if models is not None}

    def tell(self, folder: str = "") -> None:
        """folder: of the lab."""
        models = [one.as_json() for one in self.models.values()]
        advice.tell_state(folder, bool(models), "" if models else NO_MODELS, models)


class Shelves:
    """A shelf for each lab, by its folder, and one for labs that have no models of their own. Models that come with Millrace are loaded
    once for all."""

    def __init__(self) -> None:
        self._shelves: dict[str, Shelf] = {}

    def look(self) -> None:
        data = Path(settings.DATA_DIR)
        found = {"" if home == data else str(home.relative_to(data)): home for home in homes()} | {advice.SHIPPED: Path(os.devnull)}
        self._shelves = {folder: self._shelves.get(folder) or Shelf(partial(folders, home), self._load) for folder, home in found.items()}
        for shelf in self._shelves.values():
            shelf.look()

    def tell(self) -> None:
        for folder, shelf in self._shelves.items():
            shelf.tell(folder)

    def of(self, lab: Lab) -> Shelf:
        return self._shelves.get(lab.folder) or self._shelves[advice.SHIPPED]

    def _load(self, key: tuple[Path, float]) -> Models | None:
        elsewhere = next((shelf for shelf in self._shelves.values() if key in shelf.loaded), None)
        return elsewhere.loaded[key] if elsewhere else _models_in(key[0])


def _models_in(folder: Path) -> Models | None:
    found = loaded(folder)
    if found is None:
        return None
    return Models(known_in(folder), {metric: [one.model for one in some] for metric, some in found.items()})


def _changed(folder: Path) -> float:
    """Latest change of a model in it; 0 if there is none, or it is being deleted."""
    try:
        return max((path.stat().st_mtime for path in folder.glob(f"*/{DESCRIPTION}")), default=0.0)
    except OSError:
        return 0.0


def answer(shelf_of: Callable[[Lab], Shelf], question: dict[str, Any]) -> dict[str, Any]:
    """An advice, or `detail` with `problems` that say why there is none."""
    try:
        lab = Lab.objects.get(pk=question["lab"])
        return {"advice": _advice(shelf_of(lab), lab, question)}
    except NotDescribed as error:
        detail = "the models cannot predict this experiment; see problems"
        return {"detail": detail, "problems": [_problem(question["document"], one) for one in error.unknown]}
    except NoAdvice as error:
        return {"detail": str(error), "problems": []}
    except InvalidExperiment as error:
        return {"detail": "the experiment has errors; see problems", "problems": [problem.as_dict() for problem in error.problems]}
    except Exception as error:
        log.exception("a question was not answered")
        return {"detail": f"the advice failed: {type(error).__name__}; the log of the process says more", "problems": []}


def _problem(document: dict[str, Any], of: Unknown) -> dict[str, Any]:
    ids = [operator["id"] for operator in document["query"]["operators"]]
    where = pointer("query", "operators", ids.index(of.operator)) if of.operator else pointer("query")
    return Problem(where, "unknown_to_models", of.reason, of.operator).as_dict()


def _advice(shelf: Shelf, lab: Lab, question: dict[str, Any]) -> dict[str, Any]:
    if not shelf.models:
        raise NoAdvice(NO_MODELS)
    name = question["models"] or next(iter(shelf.models))
    if name not in shelf.models:
        raise NoAdvice(f"there are no models '{name}'; there are {', '.join(shelf.models)}")
    models, datasets = shelf.models[name], datasets_of(lab)
    experiment = load(question["document"], Context(datasets=datasets))
    goal = question["goal"]
    found = suggest(experiment, datasets, models.members, goal, question["pinned"], question["forbidden"])
    told = found.as_json()
    if models.known.measured_by != fingerprint():
        told["cautions"].insert(0, OTHER_ENGINE)
    return {"models": name, "unit": METRICS[goal].unit, **told}


def main() -> None:
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    shelves = Shelves()
    fingerprint()  # takes some seconds once
    threading.Thread(target=_keep_telling, args=(shelves, ended), name="state of advice", daemon=True).start()
    while not ended.is_set():
        try:
            advice.answer_next(lambda question: answer(shelves.of, question))
        except (redis.RedisError, OSError):
            ended.wait(WAIT_FOR_REDIS_S)


WAIT_FOR_REDIS_S = 1.0


def _keep_telling(shelves: Shelf | Shelves, ended: threading.Event) -> None:
    while not ended.is_set():
        try:
            shelves.look()
            shelves.tell()
        except Exception:  # whatever is wrong with the files, it may be mended
            log.exception("the models were not looked at; they are again in %g s", SIGN_S)
        ended.wait(SIGN_S)


if __name__ == "__main__":
    main()
