"""The document of a lesson on the balancing of worksets (docs/similarity.md)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from engine.spec.base.operator import Model
from engine.spec.base.problems import Refusal
from engine.spec.experiment.balancings import AnyBalancing
from engine.spec.experiment.balancings.base import Balancing

from .document import CaseHead, LessonHead, Name, refuse_twice

Load = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]


class LoadedWorker(Model):
    """loads: of its worksets."""

    name: Name
    loads: tuple[Load, ...] = Field(max_length=8)


class BalancingCase(CaseHead):
    """workers: those of the lesson, unless it has its own."""

    balancing: AnyBalancing
    workers: tuple[LoadedWorker, ...] | None = Field(default=None, min_length=2, max_length=8)

    @model_validator(mode="after")
    def _moves_something(self) -> BalancingCase:
        if not isinstance(self.balancing, Balancing):
            message = f"balancing is '{self.balancing.kind}', which moves nothing; choose one that does, such as s3j"
            raise Refusal(message, at=("balancing", "kind"), code="no_moves", value=self.balancing.kind)
        refuse_twice("worker", [worker.name for worker in self.workers or ()], "workers", field="name")
        return self


class BalancingLesson(LessonHead):
    kind: Literal["balancing"]
    workers: tuple[LoadedWorker, ...] = Field(min_length=2, max_length=8)
    cases: tuple[BalancingCase, ...] = Field(min_length=1, max_length=10)

    @model_validator(mode="after")
    def _names_are_there_once(self) -> BalancingLesson:
        refuse_twice("worker", [worker.name for worker in self.workers], "workers", field="name")
        return self
