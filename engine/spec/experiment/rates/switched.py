"""Parameters of the rate `switched`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from ...base.units import Number
from ...base.words import model_in_words, number_in_words
from .base import Pattern, Step, seconds
from .constant import ConstantRate
from .multiples import factor_between

if TYPE_CHECKING:
    AnyPattern = Pattern


class SwitchedRate(Pattern):
    """One pattern until a given time, another afterwards, each evaluated as if it had applied from the start. Used by forks with a
    different load.
    """

    title: ClassVar[str] = "Switched"
    icon: ClassVar[str] = "split"
    position: ClassVar[int] = 8
    kind: Literal["switched"] = "switched"
    before: AnyPattern = Field(default_factory=ConstantRate, title="Before", description="Pattern until the switch.")
    at_s: Number = seconds(30.0, title="At", description="Virtual time of the switch.")
    after: AnyPattern = Field(default_factory=ConstantRate, title="After", description="Pattern after the switch.")

    @property
    def in_words(self) -> str:
        before, after = (pattern.model_dump(mode="json") for pattern in (self.before, self.after))
        factor = factor_between(before, after)
        then = model_in_words(self.after) if factor is None else f"× {number_in_words(factor)}"
        return f"{then} from {number_in_words(self.at_s, 's')}"

    def change_in_words(self, before: Any) -> str:
        return self.in_words if before == self.before else ""

    def jumps(self) -> tuple[Step, ...]:
        before, after = self.before.stretches(), self.after.stretches()
        if not before or not after:
            return ()
        then = next((step.per_s for step in reversed(after) if step.at_s <= self.at_s), 0.0)
        return (
            *(step for step in before if step.at_s < self.at_s),
            Step(at_s=self.at_s, per_s=then),
            *(step for step in after if step.at_s > self.at_s),
        )
