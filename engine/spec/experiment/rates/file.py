"""Parameters of the rate `file`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Number, quantity
from ..uploads import DatasetName, column
from .base import Rate


class FileRate(Rate):
    """Rates from an uploaded data set of times and rates. Each row's rate applies until the next row's time, the last one indefinitely.

    Times are timestamps, relative to the first row, or plain numbers of seconds, used unchanged. They must ascend.
    """

    title: ClassVar[str] = "From a file"
    icon: ClassVar[str] = "file"
    position: ClassVar[int] = 9
    kind: Literal["file"] = "file"
    dataset: DatasetName
    time: str = column(title="Time column", description="Column with timestamps or seconds.")
    rate: str = column(title="Rate column", description="Column with the rate from that time on, in records per second.")
    speed: Number = quantity(
        1.0, unit="x", ge=1e-6, le=1e9, title="Speed", description="Playback speed: seconds of the file per second of virtual time."
    )
    factor: Number = quantity(1.0, unit="x", ge=1e-6, le=1e6, title="Factor", description="Multiplier of the file's rates.")
