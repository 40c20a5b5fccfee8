"""Parameters of the fault `delay`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Number, milliseconds_ns, quantity
from ...base.words import number_in_words
from .link_fault import LinkFault


class Delay(LinkFault):
    """Links have a higher latency. Overlapping delays add up. A link never reorders."""

    title: ClassVar[str] = "Slow links"
    icon: ClassVar[str] = "clock"
    position: ClassVar[int] = 1
    kind: Literal["delay"] = "delay"
    added_ms: Number = quantity(unit="ms", ge=0.000001, le=1e8, title="Added latency", description="Latency added to the link's own.")

    @property
    def in_words(self) -> str:
        return f"{number_in_words(self.added_ms, 'ms')} more latency {self.links_in_words} {self.span_in_words}"

    @property
    def added_ns(self) -> int:
        return milliseconds_ns(self.added_ms)
