"""Parameters of the delay distribution `file`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ..uploads import DatasetName, column
from .base import Delay


class FileDelay(Delay):
    """Delays from a column of an uploaded data set: row by row, repeating from the start, or drawn at random."""

    title: ClassVar[str] = "From a file"
    position: ClassVar[int] = 7
    kind: Literal["file"] = "file"
    dataset: DatasetName
    column: str = column(title="Column", description="Column with delays in milliseconds.")
    order: Literal["rows", "drawn"] = Field(default="rows", title="Order", description="In row order, or drawn at random from all rows.")
