"""The lab's disk usage, its storage limit and its retention time. All members can see them; owners can change them."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from webapp.accounts.rights import Right
from webapp.lab import quota
from webapp.lab.models import Lab

from .authentication import Needs
from .parsing import Body, Int

router = Router()

LIMIT_MAX = 10**18
DAYS_MAX = 36_500


class Large(Schema):
    """A large experiment or data set. runs: number of runs of the experiment; 0 for a data set."""

    id: str
    name: str
    bytes: int
    runs: int


class StorageShape(Schema):
    """Sizes in bytes. Runs, data sets and versions of experiments count against the limit; deleted ones do not and are removed later.
    free: on the server's disk."""

    limit_bytes: int | None
    keep_frames_days: int | None
    used_bytes: int
    runs_bytes: int
    datasets_bytes: int
    versions_bytes: int
    deleted_bytes: int
    free_bytes: int
    experiments: list[Large]
    datasets: list[Large]

    @classmethod
    def of(cls, lab: Lab) -> StorageShape:
        runs, datasets, versions = quota.used_bytes(lab)
        return cls(
            limit_bytes=lab.storage_limit_bytes, keep_frames_days=lab.keep_frames_days, used_bytes=runs + datasets + versions,
            runs_bytes=runs, datasets_bytes=datasets, versions_bytes=versions,
            deleted_bytes=sum(quota.used_bytes(lab, deleted=True)), free_bytes=quota.free_bytes(),
            experiments=[Large(**vars(one)) for one in quota.largest_experiments(lab)],
            datasets=[Large(**vars(one)) for one in quota.largest_datasets(lab)],
        )  # fmt: skip


class Rule(Body):
    """null: no limit, and frames are kept forever."""

    limit_bytes: Int | None = Field(ge=0, le=LIMIT_MAX)
    keep_frames_days: Int | None = Field(ge=1, le=DAYS_MAX)


@router.get("", response=StorageShape, summary="Storage used, the limit, and the largest items")
def read(request: HttpRequest) -> StorageShape:
    return StorageShape.of(request.auth.lab)


@router.put("", auth=Needs(Right.ADMIN), response=StorageShape, summary="Set the limit and how long frames are kept")
def change(request: HttpRequest, body: Rule) -> StorageShape:
    """Above the limit no new work starts; work in progress continues. Workers remove old frames within minutes."""
    Lab.objects.filter(pk=request.auth.lab.pk).update(storage_limit_bytes=body.limit_bytes, keep_frames_days=body.keep_frames_days)
    return StorageShape.of(Lab.objects.get(pk=request.auth.lab.pk))
