"""The lab's disk usage, its storage limit, and the rules by which it removes what is old. All members see them; owners change them."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema, Status
from pydantic import Field, StringConstraints, model_validator

from webapp.accounts.rights import Right
from webapp.lab import quota
from webapp.lab.models import Dataset, Lab, Removal, RetentionRule, Run
from webapp.maintenance import rules

from .authentication import Needs
from .errors import Problem404, Problem409
from .parsing import Body, Bool, Int

router = Router()

LIMIT_MAX = 10**18
DAYS_MAX = 36_500
RULES_MAX, TAGS_MAX = 20, 50
FIRST = 10
REMOVALS_SHOWN = 50
What = Literal["frames", "runs", "datasets"]
TagName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=50)]


class Large(Schema):
    """A large experiment or data set. runs: number of runs of the experiment; 0 for a data set."""

    id: str
    name: str
    bytes: int
    runs: int


class RuleShape(Schema):
    """It takes what is older than `days`, or the oldest things while all together have more than `bytes`. kept_tags: runs with one of these
    stay; null: runs with any tag stay. paused: it takes nothing, since what it took was given back."""

    id: int
    what: What
    days: int | None
    bytes: int | None
    kept_tags: list[str] | None
    paused: bool

    @classmethod
    def of(cls, rule: RetentionRule) -> RuleShape:
        return cls(id=rule.pk, what=rule.what, days=rule.days, bytes=rule.bytes, kept_tags=rule.kept_tags, paused=rule.paused)


class RemovalShape(Schema):
    """What a rule took on one day. until: when it can no longer be undone; frames are there until then."""

    id: int
    rule: int | None
    what: What
    at: datetime
    until: datetime
    count: int
    bytes: int
    undone_at: datetime | None
    final_at: datetime | None

    @classmethod
    def of(cls, removal: Removal) -> RemovalShape:
        return cls(
            id=removal.pk, rule=removal.rule_id, what=removal.what, at=removal.at, until=removal.at + rules.UNDO_FOR, count=removal.count,
            bytes=removal.bytes, undone_at=removal.undone_at, final_at=removal.final_at,
        )  # fmt: skip


class StorageShape(Schema):
    """Sizes in bytes. Runs, data sets and versions of experiments count against the limit; deleted ones do not and are removed later.
    free: on the server's disk. removals: the newest first."""

    limit_bytes: int | None
    used_bytes: int
    runs_bytes: int
    datasets_bytes: int
    versions_bytes: int
    deleted_bytes: int
    free_bytes: int
    experiments: list[Large]
    datasets: list[Large]
    rules: list[RuleShape]
    removals: list[RemovalShape]

    @classmethod
    def of(cls, lab: Lab) -> StorageShape:
        runs, datasets, versions = quota.used_bytes(lab)
        return cls(
            limit_bytes=quota.limit_bytes(lab), used_bytes=runs + datasets + versions, runs_bytes=runs, datasets_bytes=datasets,
            versions_bytes=versions, deleted_bytes=sum(quota.used_bytes(lab, deleted=True)), free_bytes=quota.free_bytes(),
            experiments=[Large(**vars(one)) for one in quota.largest_experiments(lab)],
            datasets=[Large(**vars(one)) for one in quota.largest_datasets(lab)],
            rules=[RuleShape.of(rule) for rule in RetentionRule.objects.filter(lab=lab).order_by("pk")],
            removals=[RemovalShape.of(removal) for removal in Removal.objects.filter(lab=lab).order_by("-at")[:REMOVALS_SHOWN]],
        )  # fmt: skip


class Limit(Body):
    """null: no limit."""

    limit_bytes: Int | None = Field(ge=0, le=LIMIT_MAX)


class NewRule(Body):
    """Either days or bytes. kept_tags: names of tags; null for any tag, empty for none. Data sets have no tags."""

    what: What
    days: Int | None = Field(None, ge=1, le=DAYS_MAX)
    bytes: Int | None = Field(None, ge=0, le=LIMIT_MAX)
    kept_tags: list[TagName] | None = Field(None, max_length=TAGS_MAX)

    @model_validator(mode="after")
    def one_of_two(self) -> NewRule:
        if (self.days is None) == (self.bytes is None):
            raise ValueError("give either days or bytes")
        if self.what == "datasets" and self.kept_tags:
            raise ValueError("kept_tags is for runs and frames; data sets have no tags")
        return self

    def values(self) -> dict[str, Any]:
        return {"what": self.what, "days": self.days, "bytes": self.bytes, "kept_tags": self.kept_tags}


class ChangedRule(NewRule):
    paused: Bool = False


class DueShape(Schema):
    """A run or data set. number: of a run; null for a data set. at: from when its age counts."""

    id: uuid.UUID
    name: str
    number: int | None
    bytes: int
    at: datetime


class RulePreview(Schema):
    """What a rule would take now. first: the oldest ones. kept: as old, but with a tag or note, or in use; 0 for a rule of bytes."""

    count: int
    bytes: int
    first: list[DueShape]
    kept: int


class Undone(StorageShape):
    """not_restored: data sets that stay deleted, since others have their names now."""

    not_restored: list[str]


@router.get("", response=StorageShape, summary="Storage used, the limit, the largest items, rules and removals")
def read(request: HttpRequest) -> StorageShape:
    return StorageShape.of(request.auth.lab)


@router.put("", auth=Needs(Right.ADMIN), response=StorageShape, summary="Set the storage limit")
def change(request: HttpRequest, body: Limit) -> StorageShape:
    """Above the limit no new work starts; work in progress continues."""
    Lab.objects.filter(pk=request.auth.lab.pk).update(storage_limit_bytes=body.limit_bytes)
    return StorageShape.of(request.auth.lab)


@router.post("/rules", auth=Needs(Right.ADMIN), response={201: StorageShape}, summary="Add a retention rule")
def add_rule(request: HttpRequest, body: NewRule) -> Status:
    """Workers apply rules every ten minutes. What they take can be given back for a week."""
    lab = request.auth.lab
    if RetentionRule.objects.filter(lab=lab).count() >= RULES_MAX:
        raise Problem409(f"the lab has {RULES_MAX} rules, which is the maximum; delete one first")
    RetentionRule.objects.create(lab=lab, **body.values())
    return Status(201, StorageShape.of(lab))


@router.post("/rules/preview", auth=Needs(Right.ADMIN), response=RulePreview, summary="What a rule would take now; removes nothing")
def preview(request: HttpRequest, body: NewRule) -> RulePreview:
    now = timezone.now()
    rule = RetentionRule(lab=request.auth.lab, **body.values())
    found = rules.due(rule, now)
    model: Any = Dataset if body.what == "datasets" else Run.objects.only("name", "number")
    rows = (model.objects if model is Dataset else model).in_bulk([one.id for one in found[:FIRST]])
    first = [
        DueShape(id=one.id, name=rows[one.id].name, number=getattr(rows[one.id], "number", None), bytes=one.bytes, at=one.at)
        for one in found[:FIRST]
        if one.id in rows
    ]
    return RulePreview(count=len(found), bytes=sum(one.bytes for one in found), first=first, kept=rules.protected_count(rule, now))


@router.put("/rules/{int:rule_id}", auth=Needs(Right.ADMIN), response=StorageShape, summary="Change, pause or resume a rule")
def change_rule(request: HttpRequest, rule_id: int, body: ChangedRule) -> StorageShape:
    if not RetentionRule.objects.filter(pk=rule_id, lab=request.auth.lab).update(**body.values(), paused=body.paused):
        raise Problem404(f"there is no rule {rule_id} in this lab")
    return StorageShape.of(request.auth.lab)


@router.delete("/rules/{int:rule_id}", auth=Needs(Right.ADMIN), response={204: None}, summary="Delete a rule; what it took stays taken")
def delete_rule(request: HttpRequest, rule_id: int) -> Status:
    if not RetentionRule.objects.filter(pk=rule_id, lab=request.auth.lab).delete()[0]:
        raise Problem404(f"there is no rule {rule_id} in this lab")
    return Status(204, None)


@router.post("/removals/{int:removal_id}/undo", auth=Needs(Right.ADMIN), response=Undone, summary="Give back what a rule took on a day")
def undo(request: HttpRequest, removal_id: int) -> Undone:
    """Pauses the rule, which would take it again otherwise. Possible for a week."""
    removal = Removal.objects.filter(pk=removal_id, lab=request.auth.lab).first()
    if removal is None:
        raise Problem404(f"there is no removal {removal_id} in this lab")
    try:
        left = rules.undo(removal, timezone.now())
    except rules.TooLate as error:
        raise Problem409(str(error)) from None
    return Undone(not_restored=left, **StorageShape.of(request.auth.lab).dict())
