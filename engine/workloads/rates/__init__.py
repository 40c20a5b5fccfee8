"""Rates over time. Each kind has a file of its name with a function `curve`."""

from __future__ import annotations

from engine.spec.experiment.rates.base import Rate
from engine.spec.experiment.rates.file import FileRate
from engine.spec.rules.flow import Datasets

from ..curves import Curve
from . import file
from .pattern import curve_of_pattern


def curve_of(rate: Rate, horizon_ns: int, datasets: Datasets) -> Curve:
    """Return the curve of a rate, valid until the horizon.

    Raises Refusal (path below the rate) if it has too many steps or its file is not a rate trace. A recorded rate has no curve.
    """
    return file.curve(rate, datasets) if isinstance(rate, FileRate) else curve_of_pattern(rate, horizon_ns)
