"""What is wrong with an uploaded file."""

from __future__ import annotations

from typing import Any

from engine.spec.base.problems import Refusal


class DatasetError(Refusal):
    """The message names the place, the value and what would be right; the fields are for programs. In a document it is the name of the data
    set that is refused.

    line: in the file, from 1 (the header); None for files without lines. column: its name. value: the offending value.
    """

    def __init__(self, message: str, *, line: int | None = None, column: str | None = None, value: Any = None):
        super().__init__(message, at=("dataset",), code="bad_file", value=value)
        self.line, self.column = line, column
