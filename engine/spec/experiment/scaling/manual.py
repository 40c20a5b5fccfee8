"""Parameters of the scaling `manual`."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .base import Scaling
from .none import NoScaling


class Manual(Scaling):
    """No policy: the document's orders are carried out at their times."""

    title: ClassVar[str] = "By hand"
    position: ClassVar[int] = 1
    by_hand: ClassVar[bool] = True
    kind: Literal["manual"] = "manual"

    def change_in_words(self, before: Any) -> str:
        if not (isinstance(before, NoScaling) and self.orders):
            return ""
        return f"by hand, {'; '.join(order.in_words for order in self.orders)}"
