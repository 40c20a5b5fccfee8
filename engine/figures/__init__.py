"""Figures: assertions about the results of studies, and their evaluation (docs/figures.md)."""

from engine.assertions.evaluation import NotEvaluated, evaluate
from engine.assertions.series import Missing, Number, Series

from .execution import Carried, Executor, Here, Made, Processes, packed
from .extraction import extract
from .judging import Judged, Result, reproduce, status_of

__all__ = [
    "Carried",
    "Executor",
    "Here",
    "Judged",
    "Made",
    "Missing",
    "NotEvaluated",
    "Number",
    "Processes",
    "Result",
    "Series",
    "evaluate",
    "extract",
    "packed",
    "reproduce",
    "status_of",
]
