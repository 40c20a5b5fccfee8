"""The document of a lesson on scheduling: queries that share one core, and the policies that order them (docs/scheduling.md)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from engine.spec.base.operator import Model
from engine.spec.base.problems import Refusal
from engine.spec.experiment.scheduling import AnyScheduling
from engine.spec.experiment.scheduling.base import Scheduling

from .document import CaseHead, LessonHead, Name, refuse_twice

Seconds = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]


class WaitingQuery(Model):
    """A query with one window. deadline_s: when the watermark comes that ends it. events_s: when each of its events was made; all of them
    wait from the start. cost_s: of each."""

    name: Name
    deadline_s: float = Field(gt=0, le=1000)
    events_s: tuple[Seconds, ...] = Field(min_length=1, max_length=50)
    cost_s: float = Field(default=1.0, ge=0.01, le=100)


class PolicyCase(CaseHead):
    """The same queries under a policy, with its own cycle."""

    policy: AnyScheduling

    @model_validator(mode="after")
    def _ranks(self) -> PolicyCase:
        if not isinstance(self.policy, Scheduling):
            message = f"policy is '{self.policy.kind}', which orders no queries; choose one that does, such as klink"
            raise Refusal(message, at=("policy", "kind"), code="no_order", value=self.policy.kind)
        return self


class ScheduleLesson(LessonHead):
    kind: Literal["schedule"]
    queries: tuple[WaitingQuery, ...] = Field(min_length=1, max_length=6)
    cases: tuple[PolicyCase, ...] = Field(min_length=1, max_length=10)

    @model_validator(mode="after")
    def _names_are_there_once(self) -> ScheduleLesson:
        refuse_twice("query", [query.name for query in self.queries], "queries", field="name")
        return self
