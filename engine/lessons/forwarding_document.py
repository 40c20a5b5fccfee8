"""The document of a lesson on what the schedulers of hosts tell one another (docs/scheduling.md)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from engine.spec.base.operator import Model
from engine.spec.base.problems import Refusal, suggestion

from .document import Name


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


class NetworkCase(Model):
    """transit_s: of a message between neighbours. forwarding: whether they tell one another anything."""

    name: str = Field(min_length=1, max_length=60)
    text: str = Field(default="", max_length=1000)
    transit_s: float = Field(default=0.1, ge=0, le=100)
    forwarding: bool = True


class ForwardingLesson(Model):
    kind: Literal["forwarding"]
    title: str = Field(min_length=1, max_length=100)
    group: str = Field(default="Scheduling", max_length=40)
    figure: str = Field(default="", max_length=20, description="number of the figure that it is after")
    source: str = Field(default="", max_length=200)
    text: str = Field(min_length=1, max_length=2000)
    hosts: tuple[Name, ...] = Field(min_length=2, max_length=4)
    cycle_s: float = Field(default=1.0, ge=0.01, le=100)
    cycles: int = Field(default=3, ge=1, le=20)
    queries: tuple[DividedQuery, ...] = Field(min_length=1, max_length=4)
    cases: tuple[NetworkCase, ...] = Field(min_length=1, max_length=10)

    @model_validator(mode="after")
    def _names_are_there(self) -> ForwardingLesson:
        _once("host", self.hosts, ("hosts",), ())
        _once("query", [query.name for query in self.queries], ("queries",), ("name",))
        for q, query in enumerate(self.queries):
            hosts = [part.host for part in query.parts]
            for n, name in enumerate(hosts):
                if name not in self.hosts:
                    at, hint = ("queries", q, "parts", n, "host"), suggestion(name, self.hosts)
                    raise Refusal(f"there is no host '{name}'", at=at, code="unknown", value=name, hint=hint)
            _once("host", hosts, ("queries", q, "parts"), ("host",))
        return self


def _once(what: str, names: list[str] | tuple[str, ...], at: tuple[str | int, ...], field: tuple[str, ...]) -> None:
    for n, name in enumerate(names):
        if name in names[:n]:
            raise Refusal(f"{what} '{name}' occurs twice; give each its own name", at=(*at, n, *field), code="twice", value=name)
