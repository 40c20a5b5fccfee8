"""Results as they come with Millrace, made from those of this machine (docs/figures.md)."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime

from engine.prices import PRICE_LISTS
from engine.spec.figure.figure import Experiments, Figure, Scale, identity, price_lists
from engine.spec.figure.results import ShippedResult

from .judging import Result


def shipped(figure: Figure, scale: Scale, experiments: Experiments, result: Result, took_s: float) -> ShippedResult:
    """The result as it is shipped, made today on this machine."""
    told = result.as_dict()
    values = {name: {part: value for part, value in of.items() if part != "runs"} for name, of in told.pop("values").items()}
    return ShippedResult(
        figure=figure.id,
        scale=scale,
        hash=identity(figure, scale, experiments),
        prices=prices_of(figure, experiments),
        took_s=round(took_s, 1),
        machine=f"{os.cpu_count()} cores, {platform.machine()}",
        made_on=datetime.now(UTC).date(),
        values=values,
        **told,
    )


def prices_of(figure: Figure, experiments: Experiments) -> dict[str, str]:
    """Digests of the price lists that the result rests on, by name."""
    names = price_lists(figure, experiments)
    return {name: PRICE_LISTS[name].digest for name in sorted(names & PRICE_LISTS.keys())}
