"""Parameters of the scaling `manual`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Scaling


class Manual(Scaling):
    """No policy: the document's orders are carried out at their times."""

    title: ClassVar[str] = "By hand"
    position: ClassVar[int] = 1
    by_hand: ClassVar[bool] = True
    kind: Literal["manual"] = "manual"
