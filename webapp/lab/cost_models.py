"""Corpora and trained cost models as files: those of a lab, and the models that come with Millrace. Read here, made by workers.

home: where the lab's are (Lab.home); manage.py has those of the first lab, in the data directory.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
import uuid
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from pydantic import TypeAdapter

from engine.corpus import corpora as corpus_files
from engine.costmodels import storage
from engine.costmodels.metrics import METRICS
from engine.costmodels.storage import BrokenModel, Stored

from . import learning_files
from .learning_files import EpochShape, Facts, LabelSpread, T, Unfit, WorthShape

log = logging.getLogger(__name__)

NAME = r"[a-z0-9][a-z0-9_-]{0,62}"
"""Of corpora and models."""

PROMOTED = "promoted.json"
SHIPPED_PLACE = Path(settings.BASE_DIR) / "fixtures" / "models"


def models_place(home: Path) -> Path:
    return home / "models"


def corpora_place(home: Path) -> Path:
    return home / "corpora"


def place_of(kind: str, home: Path) -> Path:
    """Where a lab's corpora or models are."""
    return corpora_place(home) if kind == "corpus" else models_place(home)


def homes() -> list[Path]:
    """Of all labs that may have models of their own: the first lab's, and those that were made."""
    data = Path(settings.DATA_DIR)
    return [data, *sorted(data.glob("labs/*"))]


def folders(home: Path) -> dict[str, Path]:
    """Of all models by name: first those that were promoted, then the lab's. Of the same name, the lab's count."""
    found: dict[str, Path] = {}
    for place in (models_place(home), SHIPPED_PLACE):
        for folder in _folders_in(place):
            found.setdefault(folder.name, folder)
    first = promoted(home)
    return {name: found[name] for name in sorted(found, key=lambda name: name != first)}


def promoted(home: Path) -> str:
    """Name of the models that were set as the default; empty if none were."""
    choice = _read(models_place(home) / PROMOTED, learning_files.CHOICE_SHAPE)
    return choice["name"] if choice else ""


def promote(home: Path, name: str) -> None:
    """Of two at once the later one counts."""
    place = models_place(home)
    place.mkdir(parents=True, exist_ok=True)
    temporary = place / f".{PROMOTED}.{uuid.uuid4().hex}"
    try:
        temporary.write_text(json.dumps({"name": name}))
        temporary.replace(place / PROMOTED)
    finally:
        temporary.unlink(missing_ok=True)


def default(home: Path) -> str:
    """Name of the models that advice asks if a question names none; empty if no models can be asked."""
    return next((known.name for known in all_models(home) if known.can_be_asked), "")


def can_ask(metrics: Collection[str]) -> bool:
    """Whether models of these metrics suffice for advice: whether a placement delivers and keeps up, and one cost at least."""
    costs = {name for name, metric in METRICS.items() if not metric.classifies}
    return {"success", "flows"} <= {*metrics} and bool(costs & {*metrics})


def loaded(folder: Path) -> dict[str, list[Stored]] | None:
    """The models of a folder by metric. None if advice cannot ask them; the log says which are broken."""
    try:
        found = storage.load_all(folder)
    except (BrokenModel, OSError) as error:
        log.warning("models '%s' are left out: %s", folder.name, error)
        return None
    return found if can_ask(found) else None


def _folders_in(place: Path) -> Iterator[Path]:
    for folder in sorted(place.iterdir()) if place.is_dir() else ():
        if folder.is_dir() and not folder.name.startswith("."):
            yield folder


def _read(file: Path, shape: TypeAdapter[T]) -> T | None:
    """None if it is not there, or does not fit."""
    try:
        return learning_files.read(file, shape)
    except Unfit:
        return None


@dataclass(frozen=True)
class KnownCorpus:
    """done: traces in the files that are there. balance: how labels are spread, once all were measured."""

    name: str
    draw: str
    seed: int
    traces: int
    done: int
    measured_by: str
    balance: LabelSpread | None


def corpora(home: Path) -> list[KnownCorpus]:
    return [known for folder in _folders_in(corpora_place(home)) if (known := _corpus_in(folder)) is not None]


def _corpus_in(folder: Path) -> KnownCorpus | None:
    """None if its card is missing or wrong."""
    card = _read(folder / corpus_files.CARD, learning_files.CARD_SHAPE)
    if card is None:
        return None
    done = min(len(list(folder.glob("part-*.parquet"))) * card["per_part"], card["traces"])
    return KnownCorpus(
        name=folder.name,
        draw=card["draw"],
        seed=card["seed"],
        traces=card["traces"],
        done=done,
        measured_by=card["measured_by"],
        balance=_read(folder / corpus_files.BALANCE, learning_files.BALANCE_SHAPE),
    )


def has_all_parts(home: Path, name: str) -> bool:
    """Whether each part of a corpus can be read. Raises CorpusError if there is none of this name."""
    folder = corpora_place(home) / name
    return not corpus_files.opened(folder).missing(folder)


@dataclass(frozen=True)
class KnownModel:
    """A member of an ensemble. epochs: of its training, with loss and validation; of one in training those so far."""

    metric: str
    seed: int
    epochs: list[EpochShape]
    is_trained: bool


@dataclass(frozen=True)
class KnownModels:
    """The models of a corpus. shipped: they come with Millrace. corpus, traces, measured_by: what they learned from; empty and 0 until the
    first is trained. report: what they are worth on the test, by cost. broken: why they cannot be loaded; empty if nothing is known to be
    wrong."""

    name: str
    shipped: bool
    corpus: str
    traces: int
    measured_by: str
    hidden: int
    logarithmic: bool
    members: list[KnownModel]
    report: list[WorthShape]
    broken: str

    @property
    def can_be_asked(self) -> bool:
        return not self.broken and can_ask({member.metric for member in self.members if member.is_trained})


def models(home: Path, name: str) -> KnownModels | None:
    """With the epochs of each member; None if there are none of this name."""
    folder = folders(home).get(name)
    return None if folder is None else known_in(folder)


def all_models(home: Path) -> Iterator[KnownModels]:
    """Those that were set as the default first."""
    return map(known_in, folders(home).values())


def folder_of(kind: str, home: Path, name: str) -> Path | None:
    """Of a corpus or of models, those that come with Millrace included."""
    if kind == "models":
        return folders(home).get(name)
    return next((folder for folder in _folders_in(corpora_place(home)) if folder.name == name), None)


def known_in(folder: Path) -> KnownModels:
    """What descriptions say. Weights are not read: `loaded` may still find them broken."""
    described, broken = [], ""
    for member in _folders_in(folder):
        if (member / storage.DESCRIPTION).exists():
            try:
                described.append(storage.described(member))
            except BrokenModel as error:
                broken = broken or str(error)
    members = [KnownModel(one.metric.name, one.seed, _fitted(one.epochs, learning_files.EPOCHS_SHAPE) or [], True) for one in described]
    for task, epochs in (_read(folder / storage.PROGRESS, learning_files.PROGRESS_SHAPE) or {}).items():
        metric, _, seed = task.rpartition("-")
        members.append(KnownModel(metric, int(seed), epochs, False))
    facts: Facts = (described and _fitted(described[0].facts, learning_files.FACTS_SHAPE)) or {}
    return KnownModels(
        folder.name,
        folder.parent == SHIPPED_PLACE,
        facts.get("corpus", ""),
        facts.get("traces", 0),
        facts.get("measured_by", ""),
        described[0].architecture.hidden if described else 0,
        described[0].encoder.logarithmic if described else False,
        members,
        _read(folder / storage.REPORT, learning_files.REPORT_SHAPE) or [],
        broken,
    )


def _fitted(value: Any, shape: TypeAdapter[T]) -> T | None:
    try:
        return learning_files.fitted("", value, shape)
    except Unfit:
        return None


GONE, IMPORTING, KEPT_S = ".deleted-", ".importing-", 86_400.0
"""Prefixes of folders that were deleted or are being imported, and how long they are kept: a deletion can be undone for so long, and an
import that takes longer has died."""


def delete(place: Path, name: str) -> bool:
    """A corpus or models of the data directory. Returns False if there are none of this name."""
    purge(place)
    folder = place / name
    if folder not in set(_folders_in(place)):
        return False
    gone = place / f"{GONE}{name}"
    shutil.rmtree(gone, ignore_errors=True)
    folder.rename(gone)
    os.utime(gone)
    return True


def restore(place: Path, name: str) -> bool:
    """What was deleted last with this name. Returns False if there is none, or if there is a new one of the name."""
    gone, folder = place / f"{GONE}{name}", place / name
    if not gone.is_dir() or folder.exists():
        return False
    gone.rename(folder)
    return True


def purge(place: Path) -> None:
    """Remove what was deleted, or left by an import that died, long enough ago."""
    for old in (*place.glob(f"{GONE}*"), *place.glob(f"{IMPORTING}*")):
        with suppress(FileNotFoundError):  # another request is removing it
            if old.stat().st_mtime < time.time() - KEPT_S:
                shutil.rmtree(old, ignore_errors=True)
