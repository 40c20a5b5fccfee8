"""What a study keeps of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.spec.study.metrics import flat
from engine.spec.study.study import NoSearch, Study, SustainableLoad

from .verdict import Verdict, judge


@dataclass(frozen=True)
class Measured:
    """metrics: numbers by dotted name, as in the summary. verdict: where the study's search needs one. failure: why there are neither.
    broken: why the run ended by itself before its end, which is a result all the same."""

    metrics: dict[str, float]
    verdict: Verdict | None = None
    failure: str = ""
    broken: str = ""

    @classmethod
    def of(cls, study: Study, summary: Mapping[str, Any], frames: Callable[[], Sequence[Mapping[str, Any]]]) -> Measured:
        """frames: gives the run's; asked only if they are needed."""
        search = study.search
        broken = summary.get("deadlock") or summary.get("exhaustion") or ""
        if isinstance(search, NoSearch):
            return cls(dict(flat(summary)), broken=broken)
        assert isinstance(search, SustainableLoad)
        return cls(dict(flat(summary)), judge(frames(), summary, search.sustained), broken=broken)
