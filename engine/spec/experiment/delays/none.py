"""Parameters of the delay distribution `none`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Delay


class NoDelay(Delay):
    """No delay: append time equals event time."""

    title: ClassVar[str] = "None"
    position: ClassVar[int] = 0
    kind: Literal["none"] = "none"
