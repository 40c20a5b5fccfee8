"""Parameters of the law of delays `file`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ..uploads import DatasetName, column
from .base import Delay


class FileDelay(Delay):
    """Delays from a column of an uploaded data set, row by row and then from the start again, or drawn from it."""

    title: ClassVar[str] = "From a file"
    position: ClassVar[int] = 7
    kind: Literal["file"] = "file"
    dataset: DatasetName
    column: str = column(title="Column", description="Delays in milliseconds.")
    order: Literal["rows", "drawn"] = Field(
        default="rows", title="Order", description="In the order of the rows, or each drawn from all of them."
    )
