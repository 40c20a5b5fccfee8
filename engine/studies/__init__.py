"""Studies: runs of runs (docs/studies.md)."""

from .measured import Measured
from .optimisation import Tried, best, design_of
from .plan import (
    Answer,
    Followed,
    Found,
    Optimised,
    Plan,
    Row,
    Strand,
    Trial,
    TrialId,
    follow,
    optimise,
    plan,
    so_far,
    strands,
    tried_so_far,
)
from .search import Bracket, left, narrow
from .statistics import Difference, Interval, difference, interval, intervals, mean_interval
from .verdict import Verdict, judge

__all__ = [
    "Answer", "Bracket", "Difference", "Followed", "Found", "Interval", "Measured", "Optimised", "Plan", "Row", "Strand", "Trial",
    "TrialId", "Tried", "Verdict", "best", "design_of", "difference", "follow", "interval", "intervals", "judge", "left", "mean_interval",
    "narrow", "optimise", "plan", "so_far", "strands", "tried_so_far",
]  # fmt: skip
