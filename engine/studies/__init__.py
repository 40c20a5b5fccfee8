"""Studies: runs of runs (docs/studies.md)."""

from .carrying_out import carry_out
from .measured import Measured
from .plan import Answer, Plan, Trial, plan
from .search import Bracket, narrow
from .statistics import Interval, interval
from .verdict import Verdict, judge

__all__ = ["Answer", "Bracket", "Interval", "Measured", "Plan", "Trial", "Verdict", "carry_out", "interval", "judge", "narrow", "plan"]
