"""Base classes of all delay distributions."""

from __future__ import annotations

from ...base.units import Number, quantity
from ...base.variant import Variant

KLINK = "Farhat 2020, 3.5"


AION = "Farhat 2020, 4.5"


DELAY_MAX_MS = 1e11


def milliseconds(default: float = ..., *, title: str, description: str) -> float:  # type: ignore[assignment]
    """A field for a delay, in ms."""
    delay: float = quantity(default, unit="ms", ge=0, le=DELAY_MAX_MS, title=title, description=description)
    return delay


class Delay(Variant):
    """Delay distribution of a source. A record is created at its event time and reaches the log after its own random delay.

    A kind of another package derives from this class and has a method `delays(random, datasets)`.
    """


class CappedDelay(Delay):
    """An unbounded distribution with an optional cap: longer delays are cut to the cap."""

    cap_ms: Number = milliseconds(0.0, title="Cap", description="Longest delay. 0: no cap.")
