"""Results as they come with Millrace, made from those of this machine (docs/figures.md)."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from dataclasses import asdict
from datetime import UTC, datetime

from engine.corpus.experiments import PRICES
from engine.prices import PRICE_LISTS
from engine.spec.figure.figure import Experiments, Figure, Scale, identity, study_at
from engine.spec.figure.results import ShippedResult

from .judging import Result

REFERENCE = "reference"
"""The price list of experiments that name none."""


def shipped(figure: Figure, scale: Scale, experiments: Experiments, result: Result, took_s: float) -> ShippedResult:
    """The result as it is shipped, made today on this machine."""
    told = result.as_dict()
    values = {name: {part: value for part, value in of.items() if part != "runs"} for name, of in told.pop("values").items()}
    return ShippedResult(
        figure=figure.id,
        scale=scale,
        hash=identity(figure, scale, experiments),
        prices=prices_of(figure, scale, experiments),
        took_s=round(took_s, 1),
        machine=f"{os.cpu_count()} cores, {platform.machine()}",
        made_on=datetime.now(UTC).date(),
        values=values,
        **told,
    )


def prices_of(figure: Figure, scale: Scale, experiments: Experiments) -> dict[str, str]:
    """Digests of the price lists that the result rests on, by name."""
    names = {study_at(figure, name, scale, experiments)["experiment"].get("prices", REFERENCE) for name in figure.studies}
    if figure.evaluations:
        names.add(PRICES)
    return {name: digest(name) for name in sorted(names & PRICE_LISTS.keys())}


def digest(prices: str) -> str:
    """Of the content of a price list."""
    return hashlib.sha256(json.dumps(asdict(PRICE_LISTS[prices]), sort_keys=True, default=str).encode()).hexdigest()[:16]
