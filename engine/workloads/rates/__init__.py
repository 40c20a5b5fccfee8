"""Rates over time: a file of the name of its kind for each, with a function `curve`."""

from __future__ import annotations

from engine.spec.experiment.rates.base import Rate
from engine.spec.experiment.rates.file import FileRate
from engine.spec.rules.flow import Datasets

from ..curves import Curve
from . import file
from .pattern import curve_of_pattern


def curve_of(rate: Rate, horizon_ns: int, datasets: Datasets) -> Curve:
    """The curve of a rate, right until the horizon.

    Raises Refusal (path below the rate) when its steps are too many or its file is no trace of rates. A recorded rate has no curve.
    """
    return file.curve(rate, datasets) if isinstance(rate, FileRate) else curve_of_pattern(rate, horizon_ns)
