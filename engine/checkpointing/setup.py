"""Setup of a run's protocol: coordinator, worker, store, and features of the event loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from engine.core import layout as L
from engine.core.control.actors import Actor, ActorHost, Agent
from engine.core.kernels import dependency_vectors
from engine.core.world import World
from engine.services import Disk, ObjectStore
from engine.spec import Experiment
from engine.spec.base.family import implementation
from engine.spec.base.units import megabytes_bytes, milliseconds_ns, scaled
from engine.spec.experiment.checkpointing.checkpoints import Checkpoints
from engine.spec.experiment.checkpointing.store import Store
from engine.spec.rules.validation import placement_of

from .worker import Costs

COORDINATOR_HOST = ActorHost("coordinator")


@dataclass(frozen=True)
class ProtocolSetup:
    """New parts that a run's protocol needs, and the settings of the event loop.

    features: of the event loop (`engine.core.weave.FEATURES`). overtakes: barriers overtake waiting records. forcing_rule: `layout.RULE_*`.
    """

    actors: tuple[Actor, ...] = ()
    agent: Agent | None = None
    features: tuple[str, ...] = ()
    drops_duplicates: bool = False
    overtakes: bool = False
    forcing_rule: int = 0
    vector_bytes: int = 0

    def store_changes(self, protocol: Checkpoints) -> None:
        """Make coordinator and worker chain checkpoints, if the document asks for it."""
        if protocol.snapshots.links > 1:
            coordinator: Any = self.actors[0]
            worker: Any = self.agent
            coordinator.chained, worker.links = True, protocol.snapshots.links

    def prepare(self, world: World) -> None:
        """Configure the core before the run starts."""
        w = world.arrays
        columns = [L.G_FILTER, L.G_OVERTAKE, L.G_FORCING_RULE, L.G_VECTOR_BYTES]
        w.g[columns] = self.drops_duplicates, self.overtakes, self.forcing_rule, self.vector_bytes
        if w.g[L.G_VECTOR]:
            for i in range(len(w.inst)):
                dependency_vectors.note_checkpoint(w, i, -1)  # the initial checkpoint


@dataclass(frozen=True)
class ProtocolContext:
    """The run, for the builder of a protocol.

    instances: initial instances of each operator, by number. costs: of checkpoints and recoveries.
    """

    experiment: Experiment
    instances: Mapping[str, range]
    costs: Costs

    @property
    def until_ns(self) -> int:
        """End of the load: no checkpoint starts later."""
        return self.experiment.workload.horizon_ns

    @property
    def seed(self) -> int:
        return self.experiment.workload.seed

    @property
    def scale(self) -> int:
        """Number of real records per simulated record."""
        return self.experiment.workload.scale

    @property
    def may_lose_hosts(self) -> bool:
        return may_lose_hosts(self.experiment)

    @property
    def machines(self) -> list[int]:
        """Hosts with instances."""
        return sorted({host for hosts in placement_of(self.experiment).values() for host in hosts})

    @property
    def sources(self) -> list[int]:
        """Instances of sources."""
        return [i for spec in self.experiment.query.operators if spec.kind == "source" for i in self.instances[spec.id]]


def build_protocol(experiment: Experiment, greatest: Mapping[str, int] | None = None) -> ProtocolSetup:
    """Return the setup of the document's protocol.

    Each kind has a function `build(protocol, run)` in the module of its name here, or, in another package, a method `build(run)`. It takes
    a `ProtocolContext` and returns the coordinator as the only actor. greatest: number of instances laid out per operator, if more than in
    the document.
    """
    protocol = experiment.policies.checkpointing
    if not isinstance(protocol, Checkpoints):
        return ProtocolSetup()
    run = ProtocolContext(experiment, _instances(experiment, greatest or {}), costs_of(protocol))
    setup: ProtocolSetup = implementation(type(protocol), __package__, "build")(protocol, run)
    setup.store_changes(protocol)
    return replace(setup, actors=(*setup.actors, store_of(protocol.store)))


def counting_features(replays: bool) -> tuple[str, ...]:
    """Return the features of an event loop that numbers records. replays: whether records may be replayed."""
    return ("counting", "logging") if replays else ("counting",)


def costs_of(protocol: Checkpoints) -> Costs:
    return replace(
        capture_costs(protocol.capture_ms, protocol.serialise_mb_per_s),
        restart_ns=protocol.restart_ns,
        open_log_ns=protocol.open_log_ns,
        replay_ns=protocol.replay_ns,
    )


def capture_costs(capture_ms: float, serialise_mb_per_s: float) -> Costs:
    """Return the costs of checkpoints alone."""
    return Costs(scaled(capture_ms, 1_000_000_000), round(1_000_000 / serialise_mb_per_s), restart_ns=0)


def may_lose_hosts(experiment: Experiment) -> bool:
    """Return whether a host can be lost in this run."""
    by_fault = any(fault.loses_host for fault in experiment.faults)
    return by_fault or any(getattr(host.memory, "restart_after_s", None) is not None for host in experiment.cluster.hosts)


def store_of(about: Store) -> ObjectStore:
    host = ActorHost("store", about.egress_mbit_per_s, milliseconds_ns(about.latency_ms))
    capacity = None if about.capacity_mb is None else megabytes_bytes(about.capacity_mb)
    disk = Disk(max(1, scaled(about.write_mb_per_s, 8)), max(1, scaled(about.read_mb_per_s, 8)), capacity_bytes=capacity)
    return ObjectStore(host, disk, milliseconds_ns(about.request_ms))


def _instances(experiment: Experiment, greatest: Mapping[str, int]) -> dict[str, range]:
    found: dict[str, range] = {}
    first = 0
    for spec in experiment.query.operators:
        found[spec.id] = range(first, first + spec.parallelism)
        first += greatest.get(spec.id, spec.parallelism)
    return found
