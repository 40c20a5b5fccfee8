"""Templates: the examples that come with Millrace, unaffected by edits in the lab."""

from __future__ import annotations

from functools import cache

from django.http import HttpRequest
from ninja import Router, Schema

from engine.spec.experiment.document import read_document
from webapp.lab import fixtures
from webapp.lib.described import JsonObject

router = Router()


class Template(Schema):
    id: str
    document: JsonObject


@router.get("", response=list[Template], summary="Documents to start from")
def listing(request: HttpRequest) -> list[Template]:
    return templates()


@cache
def templates() -> list[Template]:
    return [Template(id=path.stem, document=read_document(path)) for path in fixtures.experiment_files()]
