"""Parameters of the engine `flink`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import DrivenEngine


class FlinkEngine(DrivenEngine):
    """Record at a time, with network buffers of a bounded number per channel: a sender without a free buffer waits, so congestion walks
    upstream to the sources, which then pull less. Aggregates update all windows of a record when it arrives.
    Left out: the time-out of buffers, chained operators in one thread, state that spills to disk.
    """

    title: ClassVar[str] = "Flink 1.1"
    source: ClassVar[str] = "Karimov 2020, 2.2 and 3.6"
    position: ClassVar[int] = 3
    price_list: ClassVar[str] = "flink_2020"
    checkpointings: ClassVar[tuple[str, ...]] = ("none", "coordinated", "coordinated_unaligned")
    kind: Literal["flink"] = "flink"
