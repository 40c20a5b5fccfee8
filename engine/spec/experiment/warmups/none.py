"""Parameters of the warm-up `none`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import WarmUp


class NoWarmUp(WarmUp):
    """From its first record on an instance is as fast as ever."""

    title: ClassVar[str] = "None"
    position: ClassVar[int] = 0
    varies: ClassVar[bool] = False
    kind: Literal["none"] = "none"
