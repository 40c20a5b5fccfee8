"""What goes wrong during a run, at times known from the start."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from .problems import Refusal
from .units import Number, milliseconds_ns, quantity, seconds_ns
from .variant import Variant


class LinkFault(Variant):
    """Something that befalls links from one moment to another."""

    sources: tuple[str, ...] = Field(
        min_length=1, title="From", description="Hosts on one side; the name of an entry with a count stands for all its machines."
    )
    targets: tuple[str, ...] | None = Field(
        default=None, min_length=1, title="To", description="Hosts on the other side, named in the same way; not given: all other hosts."
    )
    both_ways: bool = Field(default=True, title="Both ways", description="It befalls the links back, too.")
    from_s: Number = quantity(unit="s", ge=0, le=1e8, title="From", description="Virtual time at which it begins.")
    to_s: Number | None = quantity(None, unit="s", gt=0, le=1e8, title="To", description="Virtual time at which it ends; not given: never.")

    @model_validator(mode="after")
    def _ends_after_it_begins(self) -> LinkFault:
        if self.to_s is not None and seconds_ns(self.to_s) <= seconds_ns(self.from_s):
            message = f"to_s is {self.to_s:g}, but the fault begins at from_s {self.from_s:g}; it must be later"
            raise Refusal(message, at=("to_s",), code="out_of_range", value=self.to_s)
        return self

    @property
    def from_ns(self) -> int:
        return seconds_ns(self.from_s)

    @property
    def to_ns(self) -> int | None:
        return None if self.to_s is None else seconds_ns(self.to_s)


class Partition(LinkFault):
    """Links pass nothing: what is sent waits at the sender, and leaves in order when the partition ends. Nothing is lost, as over TCP."""

    title: ClassVar[str] = "Network partition"
    icon: ClassVar[str] = "unlink"
    kind: Literal["partition"] = "partition"


class Delay(LinkFault):
    """Links have a longer latency. Delays that overlap add up; a link never reorders."""

    title: ClassVar[str] = "Slow links"
    icon: ClassVar[str] = "clock"
    kind: Literal["delay"] = "delay"
    added_ms: Number = quantity(unit="ms", ge=0.000001, le=1e8, title="Added latency", description="Latency that is added.")

    @property
    def added_ns(self) -> int:
        return milliseconds_ns(self.added_ms)


AnyFault = Annotated[Partition | Delay, Field(discriminator="kind")]
