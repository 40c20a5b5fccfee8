"""Parameters of the occurrence `at`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Number, quantity
from .base import Occurrence


class At(Occurrence):
    """Once, at a given time of the run."""

    title: ClassVar[str] = "At a time"
    position: ClassVar[int] = 0
    begins_field: ClassVar[str] = "at_s"
    kind: Literal["at"] = "at"
    at_s: Number = quantity(unit="s", ge=0, le=1e9, title="At", description="Virtual time, before the run's horizon.")
