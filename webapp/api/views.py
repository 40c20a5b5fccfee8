"""Views: named run lists, shared by the whole lab."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Annotated, Any, Literal, NoReturn

from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema, Status
from pydantic import Field, StringConstraints

from webapp.lab.models import Lab, RunState, View
from webapp.lab.run_search import SORTS, SearchText, ShortText
from webapp.lib.described import AsIs

from .errors import Problem404, Problem409
from .parsing import Body, Bool

router = Router()

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]


Names = Annotated[str, StringConstraints(max_length=2000, pattern=r"^[^\x00]*$")]


class Asked(Body):
    """The query of a view, as in the URL of the run list. columns, measures, axes: names separated by commas. Empty: the default.

    show: groups by one field or by two (`by`, `then`), ordered by `order`, with `measures`; a scatter of `x` and `y`; parallel `axes`; or
    the list alone. colour: the field by which points are coloured. log: the axes that are logarithmic.
    """

    state: RunState | None = None
    experiment: uuid.UUID | None = None
    study: uuid.UUID | None = None
    of_studies: Bool = False
    tag: ShortText = ""
    search: SearchText = ""
    sort: Annotated[str, StringConstraints(pattern=f"^({'|'.join(SORTS)})?$")] = ""
    columns: Names = ""
    show: Literal["", "groups", "scatter", "parallel"] = ""
    by: Names = ""
    then: Names = ""
    measures: Names = ""
    order: Names = ""
    x: Names = ""
    y: Names = ""
    colour: Names = ""
    log: Names = ""
    axes: Names = ""


class NewView(Body):
    name: Name
    query: Asked = Field(default_factory=Asked)


class Change(Body):
    name: Name | None = None
    query: Asked | None = None


class ViewShape(Schema):
    id: str
    name: str
    query: Annotated[dict[str, Any], AsIs(Asked)]
    author: str | None
    created_at: datetime

    @classmethod
    def of(cls, view: View) -> ViewShape:
        author = view.author.get_username() if view.author else None
        return cls(id=str(view.pk), name=view.name, query=view.query, author=author, created_at=view.created_at)


@router.get("", response=list[ViewShape], summary="The lab's views, by name")
def listing(request: HttpRequest) -> list[ViewShape]:
    found = View.objects.filter(lab=request.auth.lab, deleted_at__isnull=True).select_related("author")
    return [ViewShape.of(view) for view in found.order_by("name")]


@router.post("", response={201: ViewShape}, summary="Save a run list under a name; 409 if the name is taken")
def create(request: HttpRequest, body: NewView) -> Status:
    try:
        with transaction.atomic():
            view = View.objects.create(lab=request.auth.lab, name=body.name, query=stored(body.query), author=request.auth.user)
    except IntegrityError:
        taken(body.name)
    return Status(201, ViewShape.of(view))


@router.put("/{uuid:view_id}", response=ViewShape, summary="Rename a view, or change its query")
def change(request: HttpRequest, view_id: uuid.UUID, body: Change) -> ViewShape:
    view = view_of(request.auth.lab, view_id)
    view.name = view.name if body.name is None else body.name
    view.query = view.query if body.query is None else stored(body.query)
    try:
        with transaction.atomic():
            view.save(update_fields=["name", "query"])
    except IntegrityError:
        taken(view.name)
    return ViewShape.of(view)


@router.delete("/{uuid:view_id}", response={204: None}, summary="Delete; its runs stay")
def delete(request: HttpRequest, view_id: uuid.UUID) -> Status:
    View.objects.filter(pk=view_of(request.auth.lab, view_id).pk).update(deleted_at=timezone.now())
    return Status(204, None)


@router.post("/{uuid:view_id}/restore", response={204: None}, summary="Undo a deletion; 409 if the name is in use again")
def restore(request: HttpRequest, view_id: uuid.UUID) -> Status:
    view = View.objects.filter(pk=view_id, lab=request.auth.lab).first() or missing(view_id)
    try:
        with transaction.atomic():
            View.objects.filter(pk=view.pk).update(deleted_at=None)
    except IntegrityError:
        taken(view.name)
    return Status(204, None)


def stored(query: Asked) -> dict[str, Any]:
    """Return the query as in the URL, without defaults."""
    return query.model_dump(mode="json", exclude_defaults=True)


def view_of(lab: Lab, view_id: uuid.UUID) -> View:
    return View.objects.filter(pk=view_id, lab=lab, deleted_at__isnull=True).select_related("author").first() or missing(view_id)


def missing(view_id: uuid.UUID) -> NoReturn:
    raise Problem404(f"there is no view {view_id} in this lab; it may have been deleted")


def taken(name: str) -> NoReturn:
    raise Problem409(f"a view named '{name}' already exists; choose another name, or change that view") from None
