"""Parameters of the scheduling policy `streambox`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Scheduling


class StreamBox(Scheduling):
    """The queries with the closest window deadlines hold the cores until they have processed a watermark, though cores idle meanwhile. All
    operators of a query must be on one host."""

    title: ClassVar[str] = "StreamBox"
    source: ClassVar[str] = "Miao 2017; Farhat 2020, 3.5"
    position: ClassVar[int] = 6
    kind: Literal["streambox"] = "streambox"
    needs_windows: ClassVar[bool] = True
    whole_queries: ClassVar[bool] = True
