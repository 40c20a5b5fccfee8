"""Parameters of the rate `file`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Number, quantity
from ..uploads import DatasetName, column
from .base import Rate


class FileRate(Rate):
    """Rates from an uploaded data set of times and rates: each row's rate holds until the next row's time, the last one for ever.

    Times are timestamps, counted from the first row's, or plain numbers of seconds, as they are; they must ascend.
    """

    title: ClassVar[str] = "From a file"
    icon: ClassVar[str] = "file"
    position: ClassVar[int] = 9
    kind: Literal["file"] = "file"
    dataset: DatasetName
    time: str = column(title="Time column", description="Timestamps, or seconds.")
    rate: str = column(title="Rate column", description="Records per second from that time on.")
    speed: Number = quantity(1.0, unit="x", ge=1e-6, le=1e9, title="Speed", description="How many seconds of the file pass in one second.")
    factor: Number = quantity(1.0, unit="x", ge=1e-6, le=1e6, title="Factor", description="By which the file's rates are multiplied.")
