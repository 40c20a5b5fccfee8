"""Corpora and trained cost models as files: in the data directory, and those that come with Millrace. Read here, made by workers."""

from __future__ import annotations

import json
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

NAME = r"[a-z0-9][a-z0-9_-]{0,62}"
"""Of corpora and models."""

PROMOTED = "promoted.json"
CARD, BALANCE, DESCRIPTION, REPORT, PROGRESS = "corpus.json", "balance.json", "model.json", "report.json", "progress.json"


def places() -> list[Path]:
    """Folders with a folder for each set of models. Of the same name, the first counts."""
    return [Path(settings.DATA_DIR) / "models", Path(settings.BASE_DIR) / "fixtures" / "models"]


def folders() -> dict[str, Path]:
    """Of all models by name: first those that were promoted, then those of the data directory."""
    found: dict[str, Path] = {}
    for place in places():
        for folder in _folders_in(place):
            found.setdefault(folder.name, folder)
    first = promoted()
    return {name: found[name] for name in sorted(found, key=lambda name: name != first)}


def promoted() -> str:
    """Name of the models that are asked if a question names none; empty if nobody has chosen any."""
    given = _read(places()[0] / PROMOTED)
    return str(given["name"]) if isinstance(given, dict) and "name" in given else ""


def promote(name: str, author: str) -> None:
    """Of two at once the later one counts. An empty name takes the choice back."""
    place = places()[0]
    place.mkdir(parents=True, exist_ok=True)
    temporary = place / f".{PROMOTED}.{uuid.uuid4().hex}"
    try:
        temporary.write_text(json.dumps({"name": name, "author": author, "at": time.time()}))
        temporary.replace(place / PROMOTED)
    finally:
        temporary.unlink(missing_ok=True)


def corpora_place() -> Path:
    return Path(settings.DATA_DIR) / "corpora"


def place_of(kind: str) -> Path:
    """Where corpora or models of this installation are."""
    return corpora_place() if kind == "corpus" else places()[0]


def _folders_in(place: Path) -> Iterator[Path]:
    for folder in sorted(place.iterdir()) if place.is_dir() else ():
        if folder.is_dir() and not folder.name.startswith("."):
            yield folder


def _read(file: Path) -> Any:
    """None if it is not there, or no JSON."""
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError):
        return None


@dataclass(frozen=True)
class KnownCorpus:
    """done: traces in the files that are there. balance: how labels are spread, once it is whole."""

    name: str
    draw: str
    seed: int
    traces: int
    done: int
    measured_by: str
    balance: dict[str, Any] | None


def corpora() -> list[KnownCorpus]:
    return [known for folder in _folders_in(corpora_place()) if (known := corpus_in(folder)) is not None]


def corpus_in(folder: Path) -> KnownCorpus | None:
    """None if its card is missing or wrong."""
    card = _read(folder / CARD)
    numbers, texts = ("seed", "traces", "per_part"), ("draw", "measured_by")
    if not isinstance(card, dict) or not all(isinstance(card.get(name), int) for name in numbers):
        return None
    if not all(isinstance(card.get(name), str) for name in texts):
        return None
    parts = len(list(folder.glob("part-*.parquet")))
    done = min(parts * card["per_part"], card["traces"])
    names = ("draw", "seed", "traces", "measured_by")
    return KnownCorpus(folder.name, done=done, balance=_read(folder / BALANCE), **{name: card[name] for name in names})


@dataclass(frozen=True)
class KnownModel:
    """A member of an ensemble. epochs: of its training, with loss and validation; of one in training those so far."""

    metric: str
    seed: int
    epochs: list[dict[str, Any]]
    is_trained: bool


@dataclass(frozen=True)
class KnownModels:
    """The models of a corpus. shipped: they come with Millrace. corpus, traces, measured_by: what they learned from; empty and 0 until the
    first is trained. report: what they are worth on the test, by cost. promoted: they are asked if a question names none."""

    name: str
    shipped: bool
    promoted: bool
    corpus: str
    traces: int
    measured_by: str
    hidden: int
    logarithmic: bool
    members: list[KnownModel]
    report: list[dict[str, Any]]


def models(name: str) -> KnownModels | None:
    """With the epochs of each member; None if there are none of this name."""
    folder = folders().get(name)
    return None if folder is None else _known(folder)


def all_models() -> list[KnownModels]:
    return [_known(folder) for folder in folders().values()]


def folder_of(kind: str, name: str) -> Path | None:
    """Of a corpus or of models, those that come with Millrace included."""
    if kind == "models":
        return folders().get(name)
    return next((folder for folder in _folders_in(corpora_place()) if folder.name == name), None)


def _known(folder: Path) -> KnownModels:
    descriptions = [one for member in _folders_in(folder) if isinstance(one := _read(member / DESCRIPTION), dict)]
    members = [KnownModel(one["metric"], one["seed"], one["epochs"], True) for one in descriptions]
    for task, epochs in (_read(folder / PROGRESS) or {}).items():
        metric, _, seed = task.rpartition("-")
        members.append(KnownModel(metric, int(seed), epochs, False))
    facts, first = (descriptions[0]["facts"], descriptions[0]) if descriptions else ({}, {})
    return KnownModels(
        folder.name,
        folder.parent != places()[0],
        folder.name == next(iter(folders()), ""),
        facts.get("corpus", ""),
        facts.get("traces", 0),
        facts.get("measured_by", ""),
        first.get("architecture", {}).get("hidden", 0),
        bool(first.get("encoder", {}).get("logarithmic", False)),
        members,
        _read(folder / REPORT) or [],
    )


GONE, KEPT_S = ".deleted-", 86_400.0
"""Prefix of folders that were deleted, and how long they are kept for who wants them back."""


def delete(place: Path, name: str) -> bool:
    """A corpus or models of the data directory. Returns False if there are none of this name."""
    _purge(place)
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


def _purge(place: Path) -> None:
    for gone in place.glob(f"{GONE}*"):
        if gone.stat().st_mtime < time.time() - KEPT_S:
            shutil.rmtree(gone, ignore_errors=True)
