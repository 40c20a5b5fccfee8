"""An ingress policy from outside the package: it throws away, until the queue is empty again."""

from __future__ import annotations

from typing import ClassVar, Literal

from engine.spec.base.units import Integer, quantity
from engine.spec.experiment.ingress.base import Ingress, Marks


class DropUntilEmpty(Ingress):
    """Sources throw away what they read from the moment at which their host has too many items until it has none."""

    title: ClassVar[str] = "Drop until empty"
    source: ClassVar[str] = "Newcomer et al., section 6"
    kind: Literal["drop_until_empty"] = "drop_until_empty"
    drops: ClassVar[bool] = True
    items: Integer = quantity(10, unit="items", ge=0, le=10**9, title="Items", description="With more items than these it begins.")

    def marks(self, budget_bytes: int | None) -> Marks:
        return Marks(queued_max=self.items, queued_resume=0)
