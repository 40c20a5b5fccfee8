"""Parameters of the delay law `fetch`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Number, quantity
from .base import Delay


class FetchDelay(Delay):
    """A reader fetches from a broker, one request after the other: a record comes with the first request that reaches the broker after it.
    Requests begin at a random phase, and records stay in order.
    """

    title: ClassVar[str] = "Fetches"
    source: ClassVar[str] = "Costream, 8.1"
    position: ClassVar[int] = 9
    kind: Literal["fetch"] = "fetch"
    round_trip_ms: Number = quantity(
        2.0, unit="ms", gt=0, le=1e8, title="Round trip", description="Of a request: half of it to the broker, half of it back."
    )
