"""Tags of runs. They are given and taken away with POST /runs/bulk."""

from __future__ import annotations

from django.db.models import Count, Q
from django.http import HttpRequest
from ninja import Router, Schema

from webapp.lab.models import Tag

router = Router()


class TagItem(Schema):
    name: str
    runs: int


@router.get("", response=list[TagItem], summary="The lab's tags by name, with how many runs have each")
def listing(request: HttpRequest) -> list[TagItem]:
    kept = Count("runs", filter=Q(runs__deleted_at__isnull=True))
    found = Tag.objects.filter(lab=request.auth.lab).annotate(kept=kept).filter(kept__gt=0).order_by("name")
    return [TagItem(name=tag.name, runs=tag.kept) for tag in found]
