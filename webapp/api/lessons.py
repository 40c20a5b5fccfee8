"""Lessons: small histories of messages and checkpoints, explained step by step by the engine's own rules. The same for every lab."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.http import HttpRequest
from ninja import Router, Schema

from engine.lessons import AnyLesson, Explained, LessonFiles, explained
from engine.spec import InvalidExperiment
from engine.spec.base.problems import suggestion

from .errors import Problem404, Problem422

router = Router()
FILES = LessonFiles(settings.BASE_DIR / "fixtures")


class LessonItem(Schema):
    """figure: number of the paper's figure that it follows. group: lessons on one subject."""

    id: str
    title: str
    group: str
    figure: str
    source: str
    text: str


class LessonTold(LessonItem):
    cases: list[Explained]


@router.get("", response=list[LessonItem], summary="All lessons, in order")
def listing(request: HttpRequest) -> list[LessonItem]:
    return [LessonItem(id=id, **about(lesson_of(id))) for id in FILES.ids()]


@router.get("/{str:id}", response=LessonTold, summary="A lesson with the steps of its cases")
def read(request: HttpRequest, id: str) -> LessonTold:
    if id not in (ids := FILES.ids()):
        raise Problem404(f"there is no lesson '{id}'; {suggestion(id, ids)}")
    lesson = lesson_of(id)
    return LessonTold(id=id, **about(lesson), cases=[explained(lesson, case) for case in lesson.cases])


def about(lesson: AnyLesson) -> dict[str, str]:
    return lesson.model_dump(include={"title", "group", "figure", "source", "text"})


def lesson_of(id: str) -> AnyLesson:
    with told_plainly(id):
        return FILES.lesson(id)


@contextmanager
def told_plainly(id: str) -> Iterator[None]:
    try:
        yield
    except InvalidExperiment as invalid:
        problems = [problem.as_dict() for problem in invalid.problems]
        raise Problem422(f"lesson '{id}' is invalid: {problems[0]['message']}", problems) from None
