"""The modelled hardware: hosts, their processors and memory, and the network between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field, model_validator

from ..base.operator import Model
from ..base.problems import Refusal, refusals_below
from ..base.units import Integer, Number, latency, megabytes_bytes, milliseconds_ns, quantity, scaled
from ..base.variant import Variant
from .memory import AnyMemory, Counted
from .network import REGION_LENGTH_MAX, Link, RegionLink, Trunk, bandwidth

HOST_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$"


# Processors


class Dedicated(Variant):
    """One core per instance placed on the host; no two instances share a core."""

    title: ClassVar[str] = "Dedicated cores"
    icon: ClassVar[str] = "cpu"
    kind: Literal["dedicated"] = "dedicated"


class SharedFifo(Variant):
    """Instances share the host's cores. The j-th instance is pinned to core j mod cores; each core serves in FIFO order."""

    title: ClassVar[str] = "Shared cores, FIFO"
    icon: ClassVar[str] = "cpu"
    kind: Literal["shared_fifo"] = "shared_fifo"


class Pool(Variant):
    """Any core serves any instance of the host, in FIFO order or in the order set by a scheduling policy."""

    title: ClassVar[str] = "Pool of cores"
    icon: ClassVar[str] = "cpu"
    kind: Literal["pool"] = "pool"


class ProcessorSharing(Variant):
    """Each instance is a thread. Runnable threads share the cores equally, as under an operating system's fair scheduler.

    The only kind that allows a fraction of a core.
    """

    title: ClassVar[str] = "Processor sharing"
    icon: ClassVar[str] = "cpu"
    kind: Literal["processor_sharing"] = "processor_sharing"
    tax: Number = Field(
        default=0.0,
        ge=0,
        le=0.9,
        title="Tax",
        description="Share of the cores lost to context switches while there are more threads than cores.",
    )
    quota_cores: Number | None = Field(
        default=None, ge=0.001, le=1024, title="Quota", description="CPU quota of all threads together, in cores. Default: no quota."
    )
    quota_period_ms: Number = quantity(
        100.0,
        unit="ms",
        ge=0.001,
        le=1000,
        title="Quota period",
        description="The host stalls for the rest of the period once its quota is used up.",
    )


AnyProcessor = Annotated[Dedicated | SharedFifo | Pool | ProcessorSharing, Field(discriminator="kind")]


# Hosts


class Host(Model):
    """One machine, or `count` identical ones. With a count, the machines are named name1, name2, ..."""

    name: str = Field(pattern=HOST_NAME, title="Name", description="Letters, digits, '_', '.', '-'; at most 63 characters.")
    count: Integer | None = Field(
        default=None,
        ge=1,
        le=10_000,
        title="Count",
        description="Number of identical machines. Default: a single machine with exactly this name.",
    )
    group: str = Field(
        default="cloud",
        min_length=1,
        max_length=REGION_LENGTH_MAX,
        title="Region",
        description="Region or tier of the machine, e.g. eu-west, edge or cloud.",
        json_schema_extra={"x-editor": "own-region"},
    )
    processor: AnyProcessor = Field(default=SharedFifo(), title="Processor", description="How instances share the cores.")
    cores: Number = Field(
        default=1, ge=0.001, le=1024, title="Cores", description="Number of cores. A fraction (in thousandths) needs processor sharing."
    )
    speed: Number = quantity(
        1.0, unit="x", ge=0.001, le=1000, title="Speed", description="Core speed relative to the price list; kept in thousandths."
    )
    memory_mb: Number = quantity(4096, unit="MB", gt=0, le=1e9, title="Memory", description="Memory; 1 MB is 1,000,000 bytes.")
    memory: AnyMemory = Field(
        default=Counted(), title="Memory model", description="Memory model: what uses memory, and the effect of running out."
    )
    egress_mbit_per_s: Integer = bandwidth(1000, title="Egress", description="Bandwidth of the outgoing link.")
    egress_latency_ms: Number = latency(0.5, description="Latency to every other host.")

    @property
    def in_words(self) -> str:
        return self.name if self.count is None else f"{self.name} ({self.count:,} machines)"

    @model_validator(mode="after")
    def _cores_fit(self) -> Host:
        shared = isinstance(self.processor, ProcessorSharing)
        if not shared and self.cores != int(self.cores):
            raise Refusal(
                f"cores is {self.cores:g}, a fraction; give whole cores, or choose processor processor_sharing",
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
    """The hosts and the network between them."""

    local_latency_ns: Integer = quantity(
        1000,
        unit="ns",
        ge=1,
        le=10**15,
        title="Local latency",
        description="Latency of a hand-over between two instances on the same host.",
        too_little="every hand-over takes time",
    )
    envelope_bytes: Integer = quantity(
        0,
        unit="B",
        ge=0,
        le=10**6,
        title="Envelope",
        description="Overhead per record sent between two instances: headers, identifiers, timestamps.",
    )
    hosts: tuple[Host, ...] = Field(min_length=1, title="Hosts", description="Machines, numbered in this order after counts are expanded.")
    region_links: tuple[RegionLink, ...] = Field(
        default=(),
        title="Region links",
        description="Latency and bandwidth from region to region, for all hosts of the two.",
    )
    links: tuple[Link, ...] = Field(
        default=(),
        title="Links",
        description="Latency and bandwidth from host to host, where they differ from the regions' or the sender's.",
    )
    trunks: tuple[Trunk, ...] = Field(default=(), title="Trunks", description="Links shared by many hosts.")


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
    """Return the number of machines without expanding them."""
    return sum(1 if host.count is None else host.count for host in cluster.hosts)


def machines_named(cluster: Cluster) -> dict[str, list[int]]:
    """Host indices by name. The name of an entry with a count stands for all its machines, unless a machine has that name."""
    named: dict[str, list[int]] = {}
    entries: dict[str, list[int]] = {}
    index = 0
    for host in cluster.hosts:
        for name in host_names(host):
            named.setdefault(name, [index])
            entries.setdefault(host.name, []).append(index)
            index += 1
    return {**entries, **named}


def hosts_by_region(cluster: Cluster) -> dict[str, list[int]]:
    """Host indices by region, both in document order."""
    regions: dict[str, list[int]] = {}
    index = 0
    for host in cluster.hosts:
        machines = host.count or 1
        regions.setdefault(host.group, []).extend(range(index, index + machines))
        index += machines
    return regions


class PairLink(NamedTuple):
    """What a pair of hosts has instead of the sender's own latency, and instead of the sender's egress link. None: no difference."""

    latency_ns: int | None = None
    mbit_per_s: int | None = None


def pair_links(cluster: Cluster) -> dict[tuple[int, int], PairLink]:
    """The differing links of pairs of hosts, by sender and receiver: those of their regions, overridden by what their own link gives.

    Names must exist.
    """
    regions, named = hosts_by_region(cluster), machines_named(cluster)
    found: dict[tuple[int, int], PairLink] = {}
    for between in cluster.region_links:
        own = PairLink(between.latency_ns, between.mbit_per_s)
        for source, target in between.ways:
            found |= {(a, b): own for a in regions[source] for b in regions[target] if a != b}
    for link in cluster.links:
        pair = named[link.source][0], named[link.target][0]
        inherited = found.get(pair, PairLink())
        found[pair] = PairLink(
            inherited.latency_ns if link.latency_ns is None else link.latency_ns,
            inherited.mbit_per_s if link.mbit_per_s is None else link.mbit_per_s,
        )
    return found


def links_between(cluster: Cluster, sources: Sequence[str], targets: Sequence[str] | None) -> list[tuple[int, int]]:
    """Ordered pairs of distinct hosts from `sources` to `targets` (None: all other hosts), ascending. Names must exist."""
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
