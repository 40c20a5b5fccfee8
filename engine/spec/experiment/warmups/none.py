"""Parameters of the warm-up `none`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import WarmUp


class NoWarmUp(WarmUp):
    """An instance runs at full speed from its first record."""

    title: ClassVar[str] = "None"
    position: ClassVar[int] = 0
    varies: ClassVar[bool] = False
    kind: Literal["none"] = "none"
