"""What a document may say, and what is wrong with one."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema

from engine import spec
from engine.spec import registry
from webapp.lab.documents import check

from .parsing import Body

router = Router()


class Validate(Body):
    document: dict[str, Any]


class Validation(Schema):
    problems: list[dict[str, Any]]
    hash: str | None
    schemas: dict[str, Any]
    placement: dict[str, list[str]]


@router.get("/registry", summary="Everything that can be chosen, by family", response=dict[str, list[dict[str, Any]]])
def kinds(request: HttpRequest) -> dict[str, list[dict[str, Any]]]:
    return registry.catalogue()


@router.get("/schema", summary="JSON Schema of the document", response=dict[str, Any])
def schema(request: HttpRequest) -> dict[str, Any]:
    return spec.Experiment.model_json_schema()


@router.post("/validate", response=Validation, summary="Problems of a document; stores nothing")
def validate(request: HttpRequest, body: Validate) -> Validation:
    checked = check(body.document, request.auth.lab)
    return Validation(problems=checked.problems, hash=checked.hash or None, schemas=checked.schemas, placement=checked.placement)
