"""Parameters of the scaling `manual`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Scaling


class Manual(Scaling):
    """Nobody decides: orders are carried out at their times."""

    title: ClassVar[str] = "By hand"
    position: ClassVar[int] = 1
    by_hand: ClassVar[bool] = True
    kind: Literal["manual"] = "manual"
