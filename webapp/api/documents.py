"""The schema of documents, and validation of a document."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from django.http import FileResponse, HttpRequest, HttpResponse
from django.views.decorators.gzip import gzip_page
from ninja import Router, Schema
from ninja.decorators import decorate_view
from pydantic import Field
from typing_extensions import TypedDict

from engine.export import NotExported, TooManyRecords
from engine.spec import Refusal
from engine.spec.experiment import registry
from engine.spec.rules.validation import Context
from webapp.accounts.rights import Right
from webapp.lab import documents
from webapp.lab.schemas import Kind, Problem, RecordSchema
from webapp.lib.described import JsonObject
from webapp.reports import python_code, spark_program

from .authentication import Needs
from .errors import Problem422
from .parsing import Body, Float, Int, unstorable

router = Router()


class Validate(Body):
    document: dict[str, Any]


class Validation(Schema):
    """schemas: record schemas by operator and output port, where known. placement: host names by operator, one per instance in index order.
    event_zero: calendar date of event time 0, if sources read data sets."""

    problems: list[Problem]
    hash: str | None
    schemas: dict[str, RecordSchema]
    placement: dict[str, list[str]]
    event_zero: str | None


class Previewed(Body):
    document: dict[str, Any]
    points: Int = Field(default=240, ge=1, le=2000, description="Number of equal parts into which the horizon is divided.")


class Preview(Schema):
    """sources: by source operator, [time in s, records per s] at the middle of each part of the horizon."""

    sources: dict[str, list[list[float]]]


class Selectivity(Body):
    """operator: a similarity join. selectivity: share of all pairs that shall match."""

    document: dict[str, Any]
    operator: str
    selectivity: Float = Field(gt=0, lt=1)


class Threshold(Schema):
    """threshold: up to which about as many pairs match as asked for. share: of the sample's pairs that do. pairs: of the sample. sources:
    whose first records it has, by input."""

    threshold: float
    share: float
    pairs: int
    sources: dict[str, str]


class PythonCode(Body):
    code: str


class PythonCodeShape(Schema):
    code: str


class DocumentShape(Schema):
    document: JsonObject


FAMILIES = ("operators", *registry.FAMILIES, "prices", "functions", "measurements", "assertion_functions")
Catalogue = TypedDict("Catalogue", dict.fromkeys(FAMILIES, list[Kind]))  # type: ignore[misc]


# Compressed: large, the same for everyone, and without secrets that a compressed length could reveal.
@router.get("/registry", summary="All available kinds, by family", response=Catalogue)
@decorate_view(gzip_page)
def kinds(request: HttpRequest) -> HttpResponse:
    return HttpResponse(descriptions()[0], content_type="application/json")


@router.get("/schema", summary="JSON Schema of the document", response=JsonObject)
@decorate_view(gzip_page)
def schema(request: HttpRequest) -> HttpResponse:
    return HttpResponse(descriptions()[1], content_type="application/json")


def descriptions() -> tuple[bytes, bytes]:
    """The registry and the document's schema as JSON: cached until a package registers another kind."""
    return _descriptions((*registry.operators().values(), *registry.members("placements")))


@lru_cache(maxsize=1)
def _descriptions(kinds: tuple[type, ...]) -> tuple[bytes, bytes]:
    return json.dumps(registry.catalogue()).encode(), json.dumps(registry.document_schema()).encode()


@router.post("/validate", auth=Needs(Right.READ), response=Validation, summary="Validate a document; stores nothing")
def validate(request: HttpRequest, body: Validate) -> Validation:
    checked = documents.check(body.document, request.auth.lab)
    return Validation(
        problems=checked.problems,
        hash=checked.hash or None,
        schemas=checked.schemas,
        placement=checked.placement,
        event_zero=checked.event_zero,
    )


@router.post(
    "/preview",
    auth=Needs(Right.READ),
    response=Preview,
    summary="Source rates of a document over its horizon; stores nothing",
)
def preview(request: HttpRequest, body: Previewed) -> Preview:
    """Invalid sources are left out; POST /validate says why."""
    return Preview(sources=documents.preview(body.document, request.auth.lab, body.points))


@router.post(
    "/threshold",
    auth=Needs(Right.READ),
    response=Threshold,
    summary="The threshold of a similarity join for a target selectivity; stores nothing",
)
def threshold(request: HttpRequest, body: Selectivity) -> Threshold:
    """Records of both streams are compared with each other. 422, with each place, for an invalid document; also for another operator,
    vectors that no source has, and a share that is too small for a sample."""
    checked = documents.check(body.document, request.auth.lab)
    if checked.experiment is None:
        raise Problem422("the experiment has errors; see problems", checked.problems)
    try:
        return Threshold(**vars(documents.threshold(checked.experiment, body.operator, body.selectivity, request.auth.lab)))
    except Refusal as refusal:
        raise Problem422(str(refusal)) from None


@router.post("/python", auth=Needs(Right.READ), response=PythonCodeShape, summary="A document as Python code for a notebook")
def to_python(request: HttpRequest, body: Validate) -> PythonCodeShape:
    """Fields that equal their defaults are left out if the document is valid."""
    return PythonCodeShape(code=python_code.write(body.document, documents.check(body.document, request.auth.lab).experiment))


@router.post("/pyspark", auth=Needs(Right.READ), summary="A document's query as a program of PySpark with its input, as a ZIP")
def to_pyspark(request: HttpRequest, body: Validate) -> FileResponse:
    """422, with each place, for an invalid document or one with parts that have no equivalent in Spark."""
    checked = documents.check(body.document, request.auth.lab)
    if checked.experiment is None:
        raise Problem422("the experiment has errors; see problems", checked.problems)
    try:
        file = spark_program.packed(checked.experiment, Context(datasets=documents.datasets_of(request.auth.lab)))
    except NotExported as refused:
        problems = [problem.as_dict() for problem in refused.problems]
        raise Problem422(refused.problems[0].message, problems) from None
    except TooManyRecords as many:
        raise Problem422(f"{many}; shorten the horizon, or use: python manage.py export") from None
    return FileResponse(file, as_attachment=True, filename="query.zip", content_type="application/zip")


@router.post("/python/read", auth=Needs(Right.READ), response=DocumentShape, summary="The document that such code builds; stores nothing")
def from_python(request: HttpRequest, body: PythonCode) -> DocumentShape:
    """The code is parsed and never executed. 422, with the line, for anything but the form that POST /python writes."""
    try:
        document = python_code.read(body.code)
    except python_code.NotOurs as refused:
        raise Problem422(str(refused)) from None
    problems = [problem.as_dict() for problem in unstorable({"document": document})]
    if problems:
        raise Problem422(f"{problems[0]['pointer']}: {problems[0]['message']}", problems)
    return DocumentShape(document=document)
