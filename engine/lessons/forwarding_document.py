"""The document of a lesson on what the schedulers of hosts tell one another (docs/scheduling.md)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from engine.spec.base.operator import Model
from engine.spec.base.problems import Refusal, suggestion

from .document import CaseHead, LessonHead, Name, refuse_twice


class PartOfQuery(Model):
    """Operators of a query on a host. waiting_s: so long it takes to serve what waits there."""

    host: Name
    operators: tuple[Name, ...] = Field(min_length=1, max_length=8)
    waiting_s: float = Field(ge=0, le=1000)


class DividedQuery(Model):
    """parts: from the source on. due_s: when its next sweeping watermark is expected."""

    name: Name
    due_s: float = Field(gt=0, le=1000)
    parts: tuple[PartOfQuery, ...] = Field(min_length=1, max_length=4)


class NetworkCase(CaseHead):
    """transit_s: of a message between neighbours. forwarding: whether they tell one another anything."""

    transit_s: float = Field(default=0.1, ge=0, le=100)
    forwarding: bool = True


class ForwardingLesson(LessonHead):
    kind: Literal["forwarding"]
    hosts: tuple[Name, ...] = Field(min_length=2, max_length=4)
    cycle_s: float = Field(default=1.0, ge=0.01, le=100)
    cycles: int = Field(default=3, ge=1, le=20)
    queries: tuple[DividedQuery, ...] = Field(min_length=1, max_length=4)
    cases: tuple[NetworkCase, ...] = Field(min_length=1, max_length=10)

    @model_validator(mode="after")
    def _names_are_there(self) -> ForwardingLesson:
        refuse_twice("host", self.hosts, "hosts")
        refuse_twice("query", [query.name for query in self.queries], "queries", field="name")
        for q, query in enumerate(self.queries):
            hosts = [part.host for part in query.parts]
            for n, name in enumerate(hosts):
                if name not in self.hosts:
                    at, hint = ("queries", q, "parts", n, "host"), suggestion(name, self.hosts)
                    raise Refusal(f"there is no host '{name}'", at=at, code="unknown", value=name, hint=hint)
            refuse_twice("host", hosts, "queries", q, "parts", field="host")
        return self
