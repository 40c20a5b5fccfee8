"""Where operators should run: placements that trained cost models suggest. Nothing is run or stored."""

from __future__ import annotations

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from webapp.accounts.rights import Right
from webapp.messaging import advice

from .authentication import Needs
from .errors import Problem409, Problem422
from .parsing import Body

router = Router()

Goal = Literal["throughput", "processing_latency", "end_to_end_latency"]
Filtered = Literal["fails", "falls behind", "members differ"]


class ModelsShape(Schema):
    """Models of one corpus. traces: of the corpus. members: models of each cost."""

    name: str
    corpus: str
    traces: int
    members: int
    goals: list[Goal]


class AdviceState(Schema):
    """reason: why there is no advice, empty if there is."""

    available: bool
    reason: str
    models: list[ModelsShape]


class AdviceQuestion(Body):
    """models: a name; default: the first. pinned: hosts by operator id. forbidden: hosts that nothing runs on, but what is pinned there."""

    document: dict[str, Any]
    goal: Goal = "processing_latency"
    models: str = ""
    pinned: dict[str, str] = Field(default_factory=dict)
    forbidden: list[str] = Field(default_factory=list, max_length=1000)


class OutsideShape(Schema):
    """A value that training has not seen. least, most: in training; null for a category."""

    type: str
    feature: str
    value: float | str
    least: float | None
    most: float | None


class Votes(Schema):
    """Members that predict success, and that the query keeps up."""

    success: int
    flows: int


class CandidateShape(Schema):
    """hosts: by operator id. costs: by metric, the prediction of each member; of success and flows a probability. spread: of the goal.
    filtered: the prediction for which it is ranked last. rule: of placements, that it breaks."""

    hosts: dict[str, str]
    origin: str
    costs: dict[str, list[float]]
    mean: dict[str, float]
    spread: float
    votes: Votes
    members: int
    filtered: Filtered | None
    rule: Literal[2, 3] | None


class OtherHostShape(Schema):
    """What the goal's cost would be with an operator where it is now."""

    kind: Literal["other_host"]
    operator: str
    host: str
    cost: float


class OtherFeatureShape(Schema):
    """What it would be if a host had more of something, or were nearer."""

    kind: Literal["other_feature"]
    host: str
    feature: Literal["cpu_percent", "ram_mb", "mbit_per_s", "latency_ms"]
    before: float
    after: float
    cost: float


class AdviceShape(Schema):
    """reasons: what would change the cost of the best candidate, most first. order: numbers of candidates, from the best on. relaxed:
    filters that were dropped because nothing would have been left."""

    models: str
    goal: Goal
    unit: str
    order: list[int]
    relaxed: list[Filtered]
    cautions: list[str]
    outside: list[OutsideShape]
    reasons: list[OtherHostShape | OtherFeatureShape]
    candidates: list[CandidateShape]


@router.get("", response=AdviceState, summary="Whether placements can be suggested, and by which models")
def state(request: HttpRequest) -> dict[str, Any]:
    return advice.state(request.auth.lab.folder)


@router.post("", auth=Needs(Right.READ), response=AdviceShape, summary="Placements of a document, ranked by predicted costs; runs nothing")
def ask(request: HttpRequest, body: AdviceQuestion) -> dict[str, Any]:
    now = advice.state(request.auth.lab.folder)
    if not now["available"]:
        raise Problem409(now["reason"])
    try:
        answer = advice.ask({**body.model_dump(), "lab": str(request.auth.lab.pk)})
    except advice.NoAnswer as why:
        raise Problem409(str(why)) from None
    if "advice" not in answer:
        raise Problem422(answer["detail"], answer["problems"])
    found: dict[str, Any] = answer["advice"]
    return found
