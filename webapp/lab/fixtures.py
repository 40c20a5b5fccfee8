"""The examples that come with Millrace: experiments and data sets of `fixtures/`, each added to the lab once."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings

from engine.spec.experiment.document import read_document

from . import datasets
from .documents import check
from .models import Dataset, Experiment, Lab
from .models.experiments import name_of

EXPERIMENTS_DIR = settings.BASE_DIR / "fixtures" / "experiments"
DATASETS_DIR = settings.BASE_DIR / "fixtures" / "data"


def load(lab: Lab) -> list[str]:
    """Add missing examples. Returns the names of those added.

    Examples are recognised by file name: one that was deleted stays deleted, and one that was edited stays as edited.
    """
    added = []
    for path in sorted(DATASETS_DIR.glob("*.parquet")) + sorted(DATASETS_DIR.glob("*.csv")):
        if not Dataset.objects.filter(lab=lab, name=path.stem).exists():
            datasets.add(lab, path, path.stem)
            added.append(path.name)
    for path in reversed(experiment_files()):  # lists show the last one first
        if not Experiment.objects.filter(lab=lab, fixture=path.stem).exists():
            add_experiment(lab, path)
            added.append(path.name)
    return added


def experiment_files() -> list[Path]:
    return sorted(EXPERIMENTS_DIR.glob("*.yaml"), key=_number_by_number)


def _number_by_number(path: Path) -> list[str | int]:
    """Natural sort key: q2 before q11."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", path.stem)]


def add_experiment(lab: Lab, path: Path) -> Experiment:
    document = read_document(path)
    return Experiment.objects.create(lab=lab, name=name_of(document), document=document, hash=check(document, lab).hash, fixture=path.stem)
