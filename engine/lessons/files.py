"""Lesson files: `<root>/lessons/<id>.yaml`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.spec.base.problems import InvalidExperiment, Problem, suggestion
from engine.spec.experiment.document import read_document

from .build_steps import AnyLesson, lesson_of


@dataclass(frozen=True)
class LessonFiles:
    """root: the directory of fixtures."""

    root: Path

    def ids(self) -> list[str]:
        """Return the ids in natural order."""
        return sorted((path.stem for path in self.root.glob("lessons/*.yaml")), key=_number_by_number)

    def lesson(self, id: str) -> AnyLesson:
        """Return a lesson. Raises InvalidExperiment if there is none, its file cannot be read, or it has problems."""
        if id not in (known := self.ids()):
            raise InvalidExperiment([Problem("", "unknown_lesson", f"there is no lesson '{id}'", id, suggestion(id, known))])
        path = self.root / "lessons" / f"{id}.yaml"
        return _read(path, path.stat().st_mtime_ns)


@cache
def _read(path: Path, changed_ns: int) -> AnyLesson:
    return lesson_of(read_document(path))


def _number_by_number(id: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", id)]
