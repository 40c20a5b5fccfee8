"""What the rest of the engine asks of every flow control, with the answers of one that bounds nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ...base.problems import Problem
from ...base.variant import Variant

AT = ("policies", "flow_control")
"""Where the flow control stands in a document."""


class FlowControl(Variant):
    """A flow control. One of another package has a method `records`."""

    bounded: ClassVar[bool] = True  # channels hold only so many records, and senders may wait

    def records(self, record_bytes: int, inputs: int, weight: int, record_ns: int) -> int | None:
        """How many of a run's records a channel may hold; 0 if not even one, None if any number.

        inputs: channels of its receiver. weight: real records for one of the run's. record_ns: how long its receiver serves one of the
        run's.
        """
        return None

    def byte_needs(self, record_bytes: int, inputs: int) -> dict[str, tuple[int, str]]:
        """By parameter that counts bytes: the least with which a channel holds one record, and why that is more than the record."""
        return {}

    def scale_problems(self, scale: int) -> Iterator[Problem]:
        """What is too small where each record of the run stands for `scale` real ones."""
        yield from ()
