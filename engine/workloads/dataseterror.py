"""Errors in uploaded files."""

from __future__ import annotations

from typing import Any

from engine.spec.base.problems import Refusal


class DatasetError(Refusal):
    """An invalid file. The message names the place, the value and the fix; the fields are for programs. In a document, the error refers to
    the name of the data set.

    line: in the file, from 1 (the header); None for files without lines. column: its name. value: the offending value.
    """

    def __init__(self, message: str, *, line: int | None = None, column: str | None = None, value: Any = None):
        super().__init__(message, at=("dataset",), code="bad_file", value=value)
        self.line, self.column = line, column
