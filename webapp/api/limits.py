"""What a person of the lab may have at a time, and what the asker has. Owners set the limits."""

from __future__ import annotations

from dataclasses import asdict

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from webapp.accounts.rights import Right
from webapp.lab.models import Lab
from webapp.lab.person_limits import PersonLimits, Usage

from .authentication import Needs
from .parsing import Body, Int

router = Router()

RUNS_MAX, BYTES_MAX, REQUESTS_MIN, REQUESTS_MAX = 100_000, 10**18, 60, 1_000_000


class LimitsShape(Schema):
    """running, waiting: runs, those of studies included. stored_bytes: of runs and data sets. requests: in a minute. null: no limit."""

    running: int | None
    waiting: int | None
    stored_bytes: int | None
    requests: int | None


class UsageShape(Schema):
    """What the asker has now. requests: so far in this minute; they are counted only while there is a limit."""

    running: int
    waiting: int
    stored_bytes: int
    requests: int


class LimitsAndUsage(Schema):
    limits: LimitsShape
    used: UsageShape


class NewLimits(Body):
    """null: no limit. requests: a page that is open sends some in a minute, so there are at least 60."""

    running: Int | None = Field(ge=1, le=RUNS_MAX)
    waiting: Int | None = Field(ge=1, le=RUNS_MAX)
    stored_bytes: Int | None = Field(ge=0, le=BYTES_MAX)
    requests: Int | None = Field(ge=REQUESTS_MIN, le=REQUESTS_MAX)


@router.get("", response=LimitsAndUsage, summary="Your limits, and what you have of them")
def read(request: HttpRequest) -> LimitsAndUsage:
    asker = request.auth
    limits = PersonLimits.of(Lab.objects.get(pk=asker.lab.pk))
    used = Usage.of(asker.lab, asker.user.get_username(), asker.user.pk)
    return LimitsAndUsage(limits=LimitsShape(**asdict(limits)), used=UsageShape(**asdict(used)))


@router.put("", auth=Needs(Right.ADMIN), response=LimitsAndUsage, summary="Set the limits of every person of the lab")
def change(request: HttpRequest, body: NewLimits) -> LimitsAndUsage:
    """Work in progress continues. Runs above the limit wait until others of the same person have ended."""
    PersonLimits(**body.model_dump()).store(request.auth.lab)
    return read(request)
