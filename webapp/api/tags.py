"""Tags of runs. POST /runs/bulk adds and removes them."""

from __future__ import annotations

from django.db.models import Count
from django.http import HttpRequest
from ninja import Router, Schema

from webapp.lab.models import Tag

router = Router()


class TagItem(Schema):
    name: str
    runs: int


@router.get("", response=list[TagItem], summary="The lab's tags by name, with the number of runs of each")
def listing(request: HttpRequest) -> list[TagItem]:
    given = Tag.runs.through.objects.filter(tag__lab=request.auth.lab, run__deleted_at__isnull=True)
    counted = given.values_list("tag__name").annotate(runs=Count("*")).order_by("tag__name")
    return [TagItem(name=name, runs=runs) for name, runs in counted]
