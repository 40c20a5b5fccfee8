"""The examples that come with Millrace: experiments and data sets of `fixtures/`, put into the lab once each."""

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
    """Add what is missing; returns the names of what was added.

    An example that a person has deleted stays deleted, one that a person has changed stays changed: it is recognised by its file's name.
    """
    added = []
    for path in sorted(DATASETS_DIR.glob("*.parquet")) + sorted(DATASETS_DIR.glob("*.csv")):
        if not Dataset.objects.filter(lab=lab, name=path.stem).exists():
            datasets.add(lab, path, path.stem)
            added.append(path.name)
    for path in reversed(experiment_files()):  # lists begin with the last one
        if not Experiment.objects.filter(lab=lab, fixture=path.stem).exists():
            add_experiment(lab, path)
            added.append(path.name)
    return added


def experiment_files() -> list[Path]:
    return sorted(EXPERIMENTS_DIR.glob("*.yaml"), key=_number_by_number)


def _number_by_number(path: Path) -> list[str | int]:
    """q2 comes before q11."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", path.stem)]


def add_experiment(lab: Lab, path: Path) -> Experiment:
    document = read_document(path)
    return Experiment.objects.create(lab=lab, name=name_of(document), document=document, hash=check(document, lab).hash, fixture=path.stem)
