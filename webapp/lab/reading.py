"""Uploads are read in a process of their own (`reader_process`), few at a time and in turn: no file can take the web server along."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings

from engine.spec import Problem
from engine.workloads import DatasetError
from engine.workloads.reading import Choices, ReadingRefused
from webapp.lib.limited import LimitExceeded, Limits, WorkFailed, call
from webapp.lib.turns import Turns

log = logging.getLogger(__name__)

AT_ONCE = max(2, (os.cpu_count() or 1) // 2)
UPLOADS = Turns(AT_ONCE, per_person=1, waiting_max=4)
PREVIEWS = Turns(AT_ONCE, per_person=2, waiting_max=8)
WALL_S, WALL_PER_CPU = 60, 4
"""Seconds that a reader may take, and further ones for each second of processor time, since others work as well."""
PREVIEW_CPU_S = 30

IsGone = Callable[[], bool]


def converted(file: Path, destination: Path, choices: Choices | None, who: Any, is_gone: IsGone) -> dict[str, Any]:
    """Write an upload's normal form to `destination`. Returns what it holds (`readers.convert`).

    who: whose turn it is. is_gone: whether the client has gone. Raises DatasetError, ReadingRefused, TooManyWaiting, Abandoned.
    """
    with UPLOADS.turn(who, is_gone):
        return _read("convert", (str(file), str(destination), choices, settings.UPLOAD_BYTES_MAX), settings.READING_CPU_S_MAX, is_gone)


def previewed(file: Path, whole: bool, choices: Choices, who: Any, is_gone: IsGone) -> dict[str, Any]:
    """The beginning of a file of text under a reading (`readers.preview`). Raises as `converted`."""
    with PREVIEWS.turn(who, is_gone):
        return _read("preview", (str(file), whole, choices), min(PREVIEW_CPU_S, settings.READING_CPU_S_MAX), is_gone)


def why_unfit(folder: Path, kind: str) -> str:
    """Why the files of a folder are no models or no corpus (`learning_checks.why_unfit`)."""
    try:
        return str(_in_process("why_unfit", (str(folder), str(kind)), settings.READING_CPU_S_MAX, lambda: False))
    except LimitExceeded as exceeded:
        return f"checking the archive {exceeded}; import fewer models, or smaller ones"
    except WorkFailed as failed:
        log.error("an archive could not be checked: %s", failed)
        return "the archive cannot be checked: its reader has failed"


def _read(function: str, arguments: tuple[Any, ...], cpu_s: int, is_gone: IsGone) -> dict[str, Any]:
    try:
        return outcome(_in_process(function, arguments, cpu_s, is_gone))
    except LimitExceeded as exceeded:
        raise DatasetError(f"reading the file {exceeded}; upload a sample of it") from None
    except WorkFailed as failed:
        log.error("an upload could not be read: %s", failed)
        raise DatasetError("the file cannot be read: its reader has failed; if others can read it, report this with the file") from None


def _in_process(function: str, arguments: tuple[Any, ...], cpu_s: int, is_gone: IsGone) -> Any:
    limits = Limits(settings.READING_MB_MAX, cpu_s, WALL_S + WALL_PER_CPU * cpu_s)
    return call("webapp.lab.reader_process:read", (function, *arguments), limits, is_gone)


def outcome(answer: dict[str, Any]) -> dict[str, Any]:
    """What a reader has found. Raises DatasetError, ReadingRefused."""
    if "refused" in answer:
        raise ReadingRefused([Problem(**problem) for problem in answer["refused"]])
    if "error" in answer:
        error = answer["error"]
        raise DatasetError(error["message"], line=error["line"], column=error["column"], value=error["value"])
    found: dict[str, Any] = answer["read"]
    return found
