"""Assertions of an experiment, and the verdicts on them (docs/assertions.md)."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from ..base.operator import Model
from ..base.problems import Refusal
from ..expressions.assertions import CHARACTERS_MAX

OVERRIDES = {*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}
"""Characters that change the direction of the text after them."""

State = Literal["holds", "fails", "cannot be judged"]


class Assertion(Model):
    """A condition on the results of a run."""

    name: str = Field(
        min_length=1,
        max_length=100,
        title="Name",
        description="What should hold, in a few words. No two assertions have the same.",
    )
    check: str = Field(
        min_length=1,
        max_length=CHARACTERS_MAX,
        title="Check",
        description="Condition on measured values, such as latency_ms.p99 < 1000.",
        json_schema_extra={"x-editor": "check"},
    )
    note: str = Field(default="", max_length=1000, title="Note", description="Why it should hold, or where the limit comes from.")

    @model_validator(mode="after")
    def _name_can_be_printed(self) -> Self:
        """A name stands in lists, logs and terminals, next to other text."""
        if self.name != self.name.strip():
            raise Refusal("the name begins or ends with a space; remove it", at=("name",), code="wrong_form", value=self.name)
        for character in self.name:
            if unicodedata.category(character) in ("Cc", "Zl", "Zp") or character in OVERRIDES:
                message = f"the name has the control character U+{ord(character):04X}; remove it"
                raise Refusal(message, at=("name",), code="wrong_form", value=self.name)
        return self


@dataclass(frozen=True)
class Measured:
    """A side of a comparison. least, most: its value, or the range of a series; most is None if the value was still growing at the end of
    its observation. unit: "" if unknown."""

    text: str
    least: float
    most: float | None
    unit: str = ""


@dataclass(frozen=True)
class Verdict:
    """An assertion and its outcome. reason: why it cannot be judged, or what happened, if that is known."""

    name: str
    check: str
    note: str
    state: State
    measured: tuple[Measured, ...] = ()
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The verdict as JSON values."""
        return {**asdict(self), "measured": [asdict(side) for side in self.measured]}


def not_judged(assertions: Sequence[Assertion], reason: str) -> tuple[Verdict, ...]:
    """The verdicts on assertions that have nothing to be judged by."""
    return tuple(Verdict(one.name, one.check, one.note, "cannot be judged", (), reason) for one in assertions)


def overall(states: Sequence[str]) -> State | None:
    """The outcome of all assertions together; None if there are none. A failure counts most: nothing later can make up for it."""
    if not states:
        return None
    order: tuple[State, ...] = ("fails", "cannot be judged")
    return next((state for state in order if state in states), "holds")
