"""Parameters of the rate `recorded`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Number, quantity
from .base import Rate


class RecordedRate(Rate):
    """Replays the file's own times, at a chosen speed. Only for file streams."""

    title: ClassVar[str] = "As recorded"
    icon: ClassVar[str] = "rewind"
    position: ClassVar[int] = 10
    kind: Literal["recorded"] = "recorded"
    speed: Number = quantity(
        1.0, unit="x", ge=1e-6, le=1e9, title="Speed", description="Playback speed: seconds of the file per second of virtual time."
    )
