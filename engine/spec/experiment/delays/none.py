"""Parameters of the law of delays `none`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Delay


class NoDelay(Delay):
    """Records arrive as they are made: event time equals append time."""

    title: ClassVar[str] = "None"
    position: ClassVar[int] = 0
    kind: Literal["none"] = "none"
