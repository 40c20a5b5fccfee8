"""Read the lab's audit log: who did what, and when. Each action writes its own entry."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from webapp.accounts.models import LogEntry
from webapp.accounts.rights import Right

from .authentication import Needs

router = Router(auth=Needs(Right.ADMIN))


class LogQuery(Schema):
    person: str = ""
    action: str = ""  # an action or its prefix, for example "runs"
    limit: int = Field(50, ge=1, le=1000)
    offset: int = Field(0, ge=0, le=10**9)


class Entry(Schema):
    id: int
    at: datetime
    person: str
    token: str
    action: str
    subject: str
    subject_id: str
    detail: str


class Entries(Schema):
    items: list[Entry]
    count: int


@router.get("", response=Entries, summary="The audit log, newest first")
def listing(request: HttpRequest, which: Query[LogQuery]) -> Entries:
    found = LogEntry.objects.filter(lab=request.auth.lab).order_by("-id")
    if which.person:
        found = found.filter(person=which.person.replace("\x00", ""))
    if which.action:
        found = found.filter(action__startswith=which.action.replace("\x00", ""))
    items = found[which.offset : which.offset + which.limit]
    return Entries(items=[Entry.model_validate(entry, from_attributes=True) for entry in items], count=found.count())
