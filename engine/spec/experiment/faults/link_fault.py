"""Base class of all link faults."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field, model_validator

from ...base.problems import Refusal
from ...base.units import Number, quantity, seconds_ns
from ...base.words import number_in_words
from .base import Fault


class LinkFault(Fault):
    """A fault of links during an interval of time."""

    begins_field: ClassVar[str] = "from_s"
    holds: ClassVar[bool] = False  # messages wait at the sender until the fault ends
    sources: tuple[str, ...] = Field(
        min_length=1, title="From", description="Hosts on one side. The name of an entry with a count stands for all its machines."
    )
    targets: tuple[str, ...] | None = Field(
        default=None, min_length=1, title="To", description="Hosts on the other side, named in the same way. Default: all other hosts."
    )
    both_ways: bool = Field(default=True, title="Both ways", description="Also affects the links in the opposite direction.")
    from_s: Number = quantity(unit="s", ge=0, le=1e8, title="Begins", description="Virtual time at which the fault begins.")
    to_s: Number | None = quantity(
        None, unit="s", gt=0, le=1e8, title="Ends", description="Virtual time at which the fault ends. Default: never."
    )

    @model_validator(mode="after")
    def _ends_after_it_begins(self) -> LinkFault:
        if self.to_s is not None and seconds_ns(self.to_s) <= seconds_ns(self.from_s):
            message = f"to_s is {self.to_s:g}, but the fault begins at from_s {self.from_s:g}; it must be later"
            raise Refusal(message, at=("to_s",), code="out_of_range", value=self.to_s)
        return self

    @property
    def in_words(self) -> str:
        return f"{self.title} {self.links_in_words} {self.span_in_words}"

    @property
    def links_in_words(self) -> str:
        """Its links, as part of a sentence."""
        sides = (", ".join(self.sources), ", ".join(self.targets) if self.targets is not None else "all other hosts")
        return f"between {sides[0]} and {sides[1]}" if self.both_ways else f"from {sides[0]} to {sides[1]}"

    @property
    def span_in_words(self) -> str:
        """Its time, as the end of a sentence."""
        begin = number_in_words(self.from_s, "s")
        return f"from {begin} on" if self.to_s is None else f"from {begin} to {number_in_words(self.to_s, 's')}"

    @property
    def added_ns(self) -> int:
        """Added latency, ns."""
        return 0

    @property
    def begins_ns(self) -> int:
        return self.from_ns

    @property
    def span_ns(self) -> int | None:
        return None if self.to_ns is None else self.to_ns - self.from_ns

    @property
    def from_ns(self) -> int:
        return seconds_ns(self.from_s)

    @property
    def to_ns(self) -> int | None:
        return None if self.to_s is None else seconds_ns(self.to_s)
