"""Parameters shared by ingress policies with load limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from pydantic import Field, model_validator

from ...base.problems import Problem, Refusal, pointer
from ...base.units import Integer, Number, quantity, scaled
from ..memory import Budget
from .base import AT, Ingress, Marks


class Guarded(Ingress):
    """Base of ingress policies that act while their host is above a load limit."""

    queued_max: Integer | None = quantity(
        None, unit="items", ge=0, le=10**12, title="Queued", description="Number of queued items above which the host is full."
    )
    memory_max: Number | None = Field(
        default=None, gt=0, le=10, title="Memory", description="Share of its memory budget above which the host is full."
    )
    resume: Number = Field(
        default=1.0, ge=0, le=1, title="Resume", description="Share of each limit to which the load must fall before sources resume."
    )

    @model_validator(mode="after")
    def _has_a_mark(self) -> Self:
        if self.queued_max is None and self.memory_max is None:
            message = "ingress has no limit, so no host would ever be full; give queued_max or memory_max, or choose read"
            raise Refusal(message, at=("queued_max",), code="missing")
        return self

    def marks(self, budget_bytes: int | None) -> Marks:
        resume_milli = scaled(self.resume, 1000)
        marks = Marks()
        if self.queued_max is not None:
            marks = marks._replace(queued_max=self.queued_max, queued_resume=self.queued_max * resume_milli // 1000)
        if self.memory_max is not None and budget_bytes is not None:
            used_max = budget_bytes * scaled(self.memory_max, 1000) // 1000
            marks = marks._replace(used_max=used_max, used_resume=used_max * resume_milli // 1000)
        return marks

    def problems(self, draft: Any, placement: Mapping[str, Sequence[int]]) -> Iterator[Problem]:
        if self.memory_max is None or draft.hosts is None:
            return
        for id, kind in draft.kinds.items():
            if kind.inputs:
                continue
            for index in placement.get(id, ()):
                host = draft.hosts[index]
                if not isinstance(host.memory, Budget):
                    message = (
                        f"memory_max is {self.memory_max:g} of the budget, but host '{host.name}', which runs source '{id}', has no "
                        "memory budget; give it a memory model, place the source elsewhere, or use queued_max"
                    )
                    yield Problem(pointer(*AT, "memory_max"), "no_budget", message, self.memory_max)
                    return
