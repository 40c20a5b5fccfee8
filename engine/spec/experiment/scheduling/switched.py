"""Parameters of the scheduling `switched`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from ...base.units import Number, quantity
from ...base.variant import Variant
from ...base.words import number_in_words
from .base import Scheduling
from .default import FairThreads
from .none import NoScheduling

if TYPE_CHECKING:
    AnyScheduling = Variant


class SwitchedScheduling(Variant):
    """One policy until a given time, another afterwards, each with a cycle of its own. Used by forks with another scheduler. Fair threads
    can only come last: once operators are threads, more of them may be in service than there are cores."""

    title: ClassVar[str] = "Switched"
    position: ClassVar[int] = 9
    kind: Literal["switched"] = "switched"
    before: AnyScheduling = Field(default=NoScheduling(), title="Before", description="Policy until the switch.")
    at_s: Number = quantity(30.0, unit="s", ge=0, le=1e8, title="At", description="Virtual time of the switch.")
    after: AnyScheduling = Field(default=NoScheduling(), title="After", description="Policy after the switch.")

    @property
    def in_words(self) -> str:
        return f"{self.before.title}, {self.after.title} from {number_in_words(self.at_s, 's')}"

    def change_in_words(self, before: Any) -> str:
        return f"{self.after.title} from {number_in_words(self.at_s, 's')}" if before == self.before else ""

    @property
    def epochs_kept(self) -> int:
        parts: list[Any] = [self.before, self.after]
        return max((part.epochs_kept for part in parts if isinstance(part, Scheduling)), default=1)


def final_threads(about: Variant) -> FairThreads | None:
    """Fair threads, if runs with this scheduling end with them."""
    if isinstance(about, SwitchedScheduling):
        return final_threads(about.after)
    return about if isinstance(about, FairThreads) else None
