"""What goes wrong during a run, and when."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from ..base.problems import Refusal
from ..base.units import Number, milliseconds_ns, quantity, scaled, seconds_ns
from ..base.variant import Variant

# Of links


class LinkFault(Variant):
    """Something that befalls links from one moment to another."""

    sources: tuple[str, ...] = Field(
        min_length=1, title="From", description="Hosts on one side; the name of an entry with a count stands for all its machines."
    )
    targets: tuple[str, ...] | None = Field(
        default=None, min_length=1, title="To", description="Hosts on the other side, named in the same way; not given: all other hosts."
    )
    both_ways: bool = Field(default=True, title="Both ways", description="It befalls the links back, too.")
    from_s: Number = quantity(unit="s", ge=0, le=1e8, title="Begins", description="Virtual time at which it begins.")
    to_s: Number | None = quantity(
        None, unit="s", gt=0, le=1e8, title="Ends", description="Virtual time at which it ends; not given: never."
    )

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


# Of hosts


class At(Variant):
    """Once, at a time of the run."""

    title: ClassVar[str] = "At a time"
    kind: Literal["at"] = "at"
    at_s: Number = quantity(unit="s", ge=0, le=1e9, title="At", description="Virtual time; before the end of the run's horizon.")


class AtRandom(Variant):
    """Again and again, with exponentially distributed spans between the end of one and the start of the next, from the workload's seed."""

    title: ClassVar[str] = "At random"
    kind: Literal["random"] = "random"
    mean_s: Number = quantity(unit="s", ge=0.001, le=1e9, title="Mean span", description="Mean time from the end of one to the next.")


AnyOccurrence = Annotated[At | AtRandom, Field(discriminator="kind")]


class HostFault(Variant):
    """Something that happens to one host."""

    group: ClassVar[str] = "Hosts"
    host: str = Field(
        min_length=1, title="Host", description="Name of the host that it happens to.", json_schema_extra={"x-editor": "host"}
    )
    when: AnyOccurrence = Field(title="When", description="Once, or by a random process.")

    @property
    @abstractmethod
    def span_ns(self) -> int | None:
        """How long it lasts; None: for ever."""

    @property
    def at_ns(self) -> int | None:
        """When, if it happens once at a time."""
        return seconds_ns(self.when.at_s) if isinstance(self.when, At) else None


class PassingFault(HostFault):
    """Something that happens to one host for a while."""

    for_ms: Number = quantity(unit="ms", ge=0.000001, le=1e12, title="For", description="How long it lasts.")

    @property
    def span_ns(self) -> int:
        return milliseconds_ns(self.for_ms)


class Pause(PassingFault):
    """The host stands still: nothing is served or sent, what arrives waits. Services in progress take so much longer. (A stop-the-world
    collection, a suspended machine.)
    """

    title: ClassVar[str] = "Pause"
    icon: ClassVar[str] = "pause"
    kind: Literal["pause"] = "pause"


class SlowHost(PassingFault):
    """The cores of the host run at another speed; services that have begun keep theirs."""

    title: ClassVar[str] = "Slow host"
    icon: ClassVar[str] = "gauge"
    kind: Literal["slow_host"] = "slow_host"
    factor: Number = Field(
        default=0.5, ge=0.001, le=1000, title="Factor", description="Of the host's speed meanwhile; kept in thousandths."
    )

    @property
    def factor_milli(self) -> int:
        return scaled(self.factor, 1000)


class HostLoss(HostFault):
    """The host is lost with everything in its memory: services in progress, queues, state, what it had not sent. What is sent to it is
    lost, too. If it restarts, its instances begin anew, empty; its sources go on behind the last record that they read.
    """

    title: ClassVar[str] = "Host loss"
    icon: ClassVar[str] = "power"
    kind: Literal["host_loss"] = "host_loss"
    restart_after_s: Number | None = quantity(
        None, unit="s", ge=0.000000001, le=1e9, title="Restart after", description="How long it is gone; not given: for ever."
    )

    @property
    def span_ns(self) -> int | None:
        return None if self.restart_after_s is None else seconds_ns(self.restart_after_s)


AnyFault = Annotated[Partition | Delay | Pause | SlowHost | HostLoss, Field(discriminator="kind")]
