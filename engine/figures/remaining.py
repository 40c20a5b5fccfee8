"""How long the runs of figures will still take: an estimate, from what the runs made so far took."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from engine.spec.study.study import Between, NoSearch, Study, SustainableLoad
from engine.studies import Trial

COARSE_RUNS = 6
"""Runs of a search until the load is known to a step of 0.8, about; each halving of the bracket takes another."""
USUAL_PER_S = 1000.0
"""Of a rate that says neither `per_s` nor `top_per_s`."""


class Remaining:
    """Work is counted in services: simulated records times operators. A search is expected to run at the middle of its range.

    studies: of all figures. Runs that several of them share are counted once.
    """

    def __init__(self, studies: Iterable[Study]):
        work: dict[str, float] = {}
        for study in studies:
            for values in study.points():
                for seed in study.seeds:
                    at_point = study.document(values, seed)
                    search: Any = study.search
                    if isinstance(search, NoSearch):
                        work[_key(at_point)] = work_of(at_point)
                        continue
                    told = search.model_dump(mode="json", exclude={"shares", "changes_at_shares"})
                    middle = {search.load.name: _middle(search.load.values)}
                    work[_key(at_point, told)] = _runs_of(search) * work_of(study.document(values | middle, seed))
                    for share in search.shares if isinstance(search, SustainableLoad) else ():
                        at_share = study.document(values, seed, at_share=True)
                        work[_key(at_share, told, share)] = share * work_of(study.document(values | middle, seed, at_share=True))
        self.total = sum(work.values())
        self.done = 0.0

    def add(self, trial: Trial) -> None:
        """Count a run that was made now."""
        self.done += work_of(trial.document)

    def skip(self, trial: Trial) -> None:
        """Leave out a run that was there already."""
        self.total -= work_of(trial.document)

    def left_s(self, elapsed_s: float) -> float | None:
        """Seconds until all runs are made; None before the first, and if more was done than expected. elapsed_s: since the first began."""
        return elapsed_s * (self.total - self.done) / self.done if 0 < self.done < self.total else None


def work_of(document: Mapping[str, Any]) -> float:
    """Of a run: records that arrive, times operators."""
    workload = document.get("workload", {})
    rates = [source.get("rate", {}) for source in workload.get("sources", {}).values()]
    per_s = sum(rate.get("per_s") or rate.get("top_per_s") or USUAL_PER_S for rate in rates)
    operators = len(document.get("query", {}).get("operators", ()))
    return float(1 + per_s * workload.get("horizon_s", 60) / workload.get("scale", 1) * operators)


def _runs_of(search: Any) -> int:
    """The coarse search leaves a bracket of a fifth, which is halved until it is narrow enough."""
    runs, bracket = COARSE_RUNS, 0.2
    while bracket > getattr(search, "precision", bracket):
        runs, bracket = runs + 1, bracket / 2
    return runs


def _middle(values: Any) -> float:
    return math.sqrt(values.from_ * values.to) if isinstance(values, Between) else 1.0


def _key(*parts: Any) -> str:
    return json.dumps(parts, sort_keys=True, default=str)
