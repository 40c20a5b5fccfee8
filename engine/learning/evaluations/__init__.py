"""Evaluations of figures: a file for each kind (docs/learned-placement.md). Needs torch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from engine.corpus.fingerprint import fingerprint
from engine.spec.base.version import ENGINE_VERSION
from engine.spec.figure.evaluations import Evaluation, Scores

from ..stock import Stock, keep
from .accuracy import accuracy
from .monitoring import monitoring
from .short_runs import short_runs
from .speedups import speedups

KINDS: Mapping[str, Callable[[Any, Stock], Scores]] = {
    "accuracy": accuracy,
    "speedups": speedups,
    "monitoring": monitoring,
    "short_runs": short_runs,
}


def evaluate(evaluation: Evaluation, stock: Stock) -> Scores:
    """One that was made before, by this engine, is not made again. Raises CorpusError, TrainingError, and what `stock.told` raises."""
    file = file_of(evaluation, stock)
    if file.exists():
        return Scores.from_json(json.loads(file.read_text()))
    found = KINDS[evaluation.kind](evaluation, stock)
    keep(file, found.as_json())
    return found


def file_of(evaluation: Evaluation, stock: Stock) -> Path:
    """Where its scores are kept."""
    what = json.dumps([fingerprint(), ENGINE_VERSION, evaluation.model_dump(mode="json")], sort_keys=True)
    return stock.kept / "scores" / f"{hashlib.sha256(what.encode()).hexdigest()[:24]}.json"
