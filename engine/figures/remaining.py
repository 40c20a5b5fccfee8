"""How long the runs of figures will still take: an estimate, from what the runs made so far took."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from engine.spec.study.study import NoSearch, Study, SustainableLoad
from engine.studies import Trial

SEARCH_RUNS = 9
"""Runs of a search for a sustained load: about this many on a range of two orders of magnitude, to 2 %."""


class Remaining:
    """Work is counted in simulated instances times seconds, over the real records that one stands for, since loads grow with instances.

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
                    work[_key(at_point, told)] = SEARCH_RUNS * work_of(at_point)
                    if isinstance(search, SustainableLoad) and search.shares:
                        at_share = study.document(values, seed, at_share=True)
                        for share in search.shares:
                            work[_key(at_share, told, share)] = work_of(at_share)
        self.total = sum(work.values())
        self.done = 0.0

    def add(self, trial: Trial) -> None:
        """Count a run that was made now."""
        self.done += work_of(trial.document)

    def skip(self, trial: Trial) -> None:
        """Leave out a run that was there already."""
        self.total -= work_of(trial.document)

    def left_s(self, elapsed_s: float) -> float | None:
        """Seconds until all runs are made, None before the first. elapsed_s: since the first was begun."""
        return elapsed_s * max(self.total - self.done, 0.0) / self.done if self.done else None


def work_of(document: Mapping[str, Any]) -> float:
    """Of a run, in instances times seconds."""
    operators = document.get("query", {}).get("operators", ())
    workload = document.get("workload", {})
    instances = sum(operator.get("parallelism", 1) for operator in operators)
    return float(instances * workload.get("horizon_s", 60) / workload.get("scale", 1))


def _key(*parts: Any) -> str:
    return json.dumps(parts, sort_keys=True, default=str)
