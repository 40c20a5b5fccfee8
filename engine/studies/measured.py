"""The results of a run that a study uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.spec.experiment.metrics import flat
from engine.spec.study.study import NoSearch, Study, SustainableLoad

from .verdict import Verdict, judge


@dataclass(frozen=True)
class Measured:
    """metrics: summary metrics by dotted name. verdict: if the study's search needs one. failure: why there is neither. broken: why the run
    ended early, which is a result nevertheless."""

    metrics: dict[str, float]
    verdict: Verdict | None = None
    failure: str = ""
    broken: str = ""

    @classmethod
    def of(cls, study: Study, summary: Mapping[str, Any], frames: Callable[[], Sequence[Mapping[str, Any]]]) -> Measured:
        """frames: returns the run's frames; called only if needed."""
        search = study.search
        broken = summary.get("deadlock") or summary.get("exhaustion") or ""
        if isinstance(search, NoSearch):
            return cls(dict(flat(summary)), broken=broken)
        assert isinstance(search, SustainableLoad)
        return cls(dict(flat(summary)), judge(frames(), summary, search.sustained), broken=broken)
