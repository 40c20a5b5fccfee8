"""Reading an upload, with answers in JSON. It needs no Django and no database, so that it can run in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.workloads import DatasetError, DatasetInfo, to_parquet
from engine.workloads.datasets import PARQUET_MAGIC
from engine.workloads.reading import EMPTY, PREVIEW_BYTES, Choices, ReadingRefused, preview_text


def convert(file: str, destination: str, choices: Choices | None, bytes_max: int) -> dict[str, Any]:
    """Write an upload's normal form to `destination`. Returns what it holds, or why it is refused."""

    def answer() -> dict[str, Any]:
        read = to_parquet(Path(file), Path(destination), choices, bytes_max)
        return {
            "rows": read.info.rows,
            "columns": columns_of(read.info),
            "timestamps": list(read.info.timestamps),
            "reading": read.reading.as_dict() if read.reading else None,
            "counts": read.counts.as_dict(),
            "hash": read.hash,
        }

    return _or_refusal(answer)


def preview(file: str, whole: bool, choices: Choices) -> dict[str, Any]:
    """The beginning of a file of text under a reading. whole: the upload is all of the file. Returns it, or why it is refused."""

    def answer() -> dict[str, Any]:
        with Path(file).open("rb") as upload:
            content = upload.read(PREVIEW_BYTES)
            is_whole = whole and not upload.read(1)
        if content.startswith(PARQUET_MAGIC):
            raise DatasetError("a Parquet file has types of its own, so that there is nothing to choose; upload it without a preview")
        if not content:
            raise DatasetError(EMPTY, value=0)
        shown = preview_text(content, is_whole, choices)
        return {
            "reading": shown.reading.as_dict(),
            "reasons": [asdict(reason) for reason in shown.reasons],
            "problems": shown.problems,
            "rows": shown.rows,
            "missing": shown.missing,
            "bad": shown.bad,
            "written": shown.written,
            "read": shown.read,
        }

    return _or_refusal(answer)


def _or_refusal(answer: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return {"read": answer()}
    except ReadingRefused as refused:
        return {"refused": [asdict(problem) for problem in refused.problems]}
    except DatasetError as error:
        return {"error": {"message": str(error), "line": error.line, "column": error.column, "value": error.value}}


def columns_of(info: DatasetInfo) -> list[dict[str, Any]]:
    return [{"name": column.name, "type": column.type, "sample": list(column.sample)} for column in info.columns]
