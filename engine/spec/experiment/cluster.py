"""The modelled hardware, and where the instances of the query stand on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from ..base.operator import Model
from ..base.problems import Refusal, refusals_below
from ..base.units import Integer, Number, latency, megabytes_bytes, milliseconds_ns, quantity, scaled
from ..base.variant import Variant
from .memory import AnyMemory, Counted
from .network import Link, Trunk, bandwidth

HOST_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$"


# Processors


class Dedicated(Variant):
    """One core for each instance placed on the host; no two instances share one."""

    title: ClassVar[str] = "Dedicated cores"
    icon: ClassVar[str] = "cpu"
    kind: Literal["dedicated"] = "dedicated"


class SharedFifo(Variant):
    """The host's cores are shared: the j-th instance is pinned to core j mod cores, and a core serves first come, first served."""

    title: ClassVar[str] = "Shared cores, first in first out"
    icon: ClassVar[str] = "cpu"
    kind: Literal["shared_fifo"] = "shared_fifo"


class Pool(Variant):
    """Any core serves any instance of the host: first come, first served, or in the order that a scheduling policy gives."""

    title: ClassVar[str] = "Pool of cores"
    icon: ClassVar[str] = "cpu"
    kind: Literal["pool"] = "pool"


class ProcessorSharing(Variant):
    """Each instance is a thread; the threads that have something to do share the cores in equal parts, as an operating system lets them.

    The only kind that takes a fraction of a core.
    """

    title: ClassVar[str] = "Processor sharing"
    icon: ClassVar[str] = "cpu"
    kind: Literal["processor_sharing"] = "processor_sharing"
    tax: Number = Field(
        default=0.0, ge=0, le=0.9, title="Tax", description="Share of the cores lost to switching while there are more threads than cores."
    )
    quota_cores: Number | None = Field(
        default=None, ge=0.001, le=1024, title="Quota", description="Cores' worth of time that all threads together get in each period."
    )
    quota_period_ms: Number = quantity(
        100.0, unit="ms", ge=0.001, le=1000, title="Quota period", description="When its quota is used up the host stands still to the end."
    )


AnyProcessor = Annotated[Dedicated | SharedFifo | Pool | ProcessorSharing, Field(discriminator="kind")]


# Hosts


class Host(Model):
    """One machine, or `count` equal ones. With a count the machines are called name1, name2, ..."""

    name: str = Field(pattern=HOST_NAME, title="Name", description="Letters, digits, '_', '.', '-'; at most 63 characters.")
    count: Integer | None = Field(
        default=None, ge=1, le=10_000, title="Count", description="How many equal machines; not given: one, with the name itself."
    )
    group: str = Field(
        default="cloud", min_length=1, max_length=40, title="Group", description="Where the machine stands, e.g. edge, fog or cloud."
    )
    processor: AnyProcessor = Field(default=SharedFifo(), title="Processor", description="How instances share the cores.")
    cores: Number = Field(
        default=1, ge=0.001, le=1024, title="Cores", description="Number of cores; a fraction (in thousandths) needs processor sharing."
    )
    speed: Number = quantity(
        1.0, unit="x", ge=0.001, le=1000, title="Speed", description="Speed of a core against the price list's; kept in thousandths."
    )
    memory_mb: Number = quantity(4096, unit="MB", gt=0, le=1e9, title="Memory", description="Memory; 1 MB is 1,000,000 bytes.")
    memory: AnyMemory = Field(default=Counted(), title="Memory model", description="What fills the memory, and what follows from it.")
    egress_mbit_per_s: Integer = bandwidth(1000, title="Egress", description="Bandwidth of the outgoing link.")
    egress_latency_ms: Number = latency(0.5, description="Latency to every other host.")

    @model_validator(mode="after")
    def _cores_fit(self) -> Host:
        shared = isinstance(self.processor, ProcessorSharing)
        if not shared and self.cores != int(self.cores):
            raise Refusal(
                f"cores is {self.cores:g}, a fraction; give whole cores, or take processor processor_sharing",
                at=("cores",),
                value=self.cores,
            )
        if isinstance(self.processor, ProcessorSharing) and (self.processor.quota_cores or 0) > self.cores:
            raise Refusal(
                f"quota_cores is {self.processor.quota_cores:g}, above the host's {self.cores:g} cores; give at most that many",
                at=("processor", "quota_cores"),
                value=self.processor.quota_cores,
            )
        return self

    @model_validator(mode="after")
    def _memory_fits(self) -> Host:
        with refusals_below("memory"):
            self.memory.refuse_misfit(megabytes_bytes(self.memory_mb))
        return self


class Cluster(Model):
    """The hosts and what connects them."""

    local_latency_ns: Integer = quantity(
        1000,
        unit="ns",
        ge=1,
        le=10**15,
        title="Local latency",
        description="Hand-over between two instances on one host.",
        too_little="every hand-over takes time",
    )
    envelope_bytes: Integer = quantity(
        0,
        unit="B",
        ge=0,
        le=10**6,
        title="Envelope",
        description="What every record is wrapped in on its way between two instances: headers, identities, times.",
    )
    hosts: tuple[Host, ...] = Field(min_length=1, title="Hosts", description="Machines, numbered in this order after counts are expanded.")
    links: tuple[Link, ...] = Field(default=(), title="Links", description="Latencies and bandwidths that differ from the sender's own.")
    trunks: tuple[Trunk, ...] = Field(default=(), title="Trunks", description="Links that many hosts share.")


@dataclass(frozen=True)
class ExpandedHost:
    """One machine, in the engine's units. `template` is the index of its entry in `cluster.hosts`."""

    name: str
    index: int
    template: int
    group: str
    processor: AnyProcessor
    cores_milli: int
    speed_milli: int
    memory_bytes: int
    memory: AnyMemory
    egress_mbit_per_s: int
    egress_latency_ns: int


def host_names(host: Host) -> list[str]:
    return [host.name] if host.count is None else [f"{host.name}{k + 1}" for k in range(host.count)]


def machine_count(cluster: Cluster) -> int:
    """How many machines the cluster has, without making them."""
    return sum(1 if host.count is None else host.count for host in cluster.hosts)


def machines_named(cluster: Cluster) -> dict[str, list[int]]:
    """Host indices by name: of each machine, and of each entry with a count (all its machines), unless a machine has that name."""
    named: dict[str, list[int]] = {}
    entries: dict[str, list[int]] = {}
    index = 0
    for host in cluster.hosts:
        for name in host_names(host):
            named.setdefault(name, [index])
            entries.setdefault(host.name, []).append(index)
            index += 1
    return {**entries, **named}


def links_between(cluster: Cluster, sources: Sequence[str], targets: Sequence[str] | None) -> list[tuple[int, int]]:
    """Ordered pairs of different hosts from `sources` to `targets` (None: all other hosts), ascending. Names must be known."""
    named = machines_named(cluster)
    senders = sorted({index for name in sources for index in named[name]})
    others = set(range(machine_count(cluster))).difference(senders)
    receivers = sorted(others if targets is None else {index for name in targets for index in named[name]})
    return [(a, b) for a in senders for b in receivers if a != b]


def expand(cluster: Cluster) -> list[ExpandedHost]:
    """Every machine of the cluster, in document order."""
    machines: list[ExpandedHost] = []
    for template, host in enumerate(cluster.hosts):
        for name in host_names(host):
            machines.append(
                ExpandedHost(
                    name=name,
                    index=len(machines),
                    template=template,
                    group=host.group,
                    processor=host.processor,
                    cores_milli=scaled(host.cores, 1000),
                    speed_milli=scaled(host.speed, 1000),
                    memory_bytes=megabytes_bytes(host.memory_mb),
                    memory=host.memory,
                    egress_mbit_per_s=host.egress_mbit_per_s,
                    egress_latency_ns=milliseconds_ns(host.egress_latency_ms),
                )
            )
    return machines
