"""What a study keeps of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.spec.metrics import flat
from engine.spec.study import NoSearch, Study, SustainableLoad

from .verdict import Verdict, judge


@dataclass(frozen=True)
class Measured:
    """metrics: numbers by dotted name, as in the summary. verdict: where the study's search needs one."""

    metrics: dict[str, float]
    verdict: Verdict | None = None

    @classmethod
    def of(cls, study: Study, summary: Mapping[str, Any], frames: Sequence[Mapping[str, Any]]) -> Measured:
        search = study.search
        if isinstance(search, NoSearch):
            return cls(dict(flat(summary)))
        assert isinstance(search, SustainableLoad)
        return cls(dict(flat(summary)), judge(frames, summary, search.sustained))
