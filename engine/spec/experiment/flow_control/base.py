"""Interface of all flow controls. The defaults describe unbounded channels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ...base.problems import Problem
from ...base.variant import Variant

AT = ("policies", "flow_control")
"""Path of the flow control in a document."""


class FlowControl(Variant):
    """A flow control. A kind of another package has a method `records`."""

    bounded: ClassVar[bool] = True  # channels are bounded, and senders may wait

    def records(self, record_bytes: int, inputs: int, weight: int, record_ns: int) -> int | None:
        """Number of simulated records that a channel may hold: 0 if less than one fits, None if unbounded.

        record_bytes: size of a real record. inputs: number of input channels of the receiver. weight: real records per simulated one.
        record_ns: service time of a simulated record at the receiver.
        """
        return None

    def byte_needs(self, record_bytes: int, inputs: int) -> dict[str, tuple[int, str]]:
        """For each byte-valued parameter: the smallest value with which a channel holds one record, and why that exceeds the record."""
        return {}

    def scale_problems(self, scale: int, heaviest: int) -> Iterator[Problem]:
        """Yield parameters that are too small at this scale. heaviest: the most real records that a record of an edge stands for."""
        yield from ()
