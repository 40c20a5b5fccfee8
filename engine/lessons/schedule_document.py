"""The document of a lesson on scheduling: queries that share one core, and the policies that order them (docs/scheduling.md)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from engine.spec.base.operator import Model
from engine.spec.base.problems import Refusal
from engine.spec.experiment.scheduling import AnyScheduling
from engine.spec.experiment.scheduling.base import Scheduling

from .document import Name

Seconds = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]


class WaitingQuery(Model):
    """A query with one window. deadline_s: when the watermark comes that ends it. events_s: when each of its events was made; all of them
    wait from the start. cost_s: of each."""

    name: Name
    deadline_s: float = Field(gt=0, le=1000)
    events_s: tuple[Seconds, ...] = Field(min_length=1, max_length=50)
    cost_s: float = Field(default=1.0, ge=0.01, le=100)


class PolicyCase(Model):
    """The same queries under a policy, with its own cycle."""

    name: str = Field(min_length=1, max_length=60)
    text: str = Field(default="", max_length=1000)
    policy: AnyScheduling

    @model_validator(mode="after")
    def _ranks(self) -> PolicyCase:
        if not isinstance(self.policy, Scheduling):
            message = f"policy is '{self.policy.kind}', which orders no queries; choose one that does, such as klink"
            raise Refusal(message, at=("policy", "kind"), code="no_order", value=self.policy.kind)
        return self


class ScheduleLesson(Model):
    kind: Literal["schedule"]
    title: str = Field(min_length=1, max_length=100)
    group: str = Field(default="Scheduling", max_length=40)
    figure: str = Field(default="", max_length=20, description="number of the figure that it is after")
    source: str = Field(default="", max_length=200)
    text: str = Field(min_length=1, max_length=2000)
    queries: tuple[WaitingQuery, ...] = Field(min_length=1, max_length=6)
    cases: tuple[PolicyCase, ...] = Field(min_length=1, max_length=10)

    @model_validator(mode="after")
    def _names_are_there_once(self) -> ScheduleLesson:
        names = [query.name for query in self.queries]
        for n, name in enumerate(names):
            if name in names[:n]:
                raise Refusal(f"query '{name}' occurs twice; give each its own name", at=("queries", n, "name"), code="twice", value=name)
        return self
