"""Checkpointing protocols (docs/checkpointing.md): each a file, made of a coordinator and of workers, over the same few parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.core import layout as L
from engine.core.control.actors import Actor, ActorHost, Agent
from engine.core.kernels import channel_log, dependency_vectors
from engine.core.world import World
from engine.services import Disk, ObjectStore
from engine.spec import Experiment
from engine.spec.base.units import megabytes_bytes, milliseconds_ns, scaled
from engine.spec.experiment.checkpointing import NoCheckpoints, Store
from engine.spec.experiment.faults import HostLoss
from engine.spec.rules.regions import coordinated_region, regions_of
from engine.spec.rules.validation import placement_of

from . import messages
from .adapting import Rule
from .communication_induced import InducedWorker
from .coordinated import CoordinatedRounds, CoordinatedWorker
from .coordinated_unaligned import UnalignedRounds, UnalignedWorker
from .coordinator import Coordinator
from .hybrid import HybridCoordinator, HybridWorker, Numbering, Region
from .uncoordinated import UncoordinatedCoordinator, UncoordinatedWorker
from .worker import Costs

Instances = dict[str, range]
"""Numbers of the instances of each operator with which the run begins."""


@dataclass(frozen=True)
class Cast:
    """Who plays the protocol of a run."""

    actors: tuple[Actor, ...] = ()
    agent: Agent | None = None
    features: tuple[str, ...] = ()  # of the loop (`engine.core.weave.FEATURES`)
    drops_duplicates: bool = False
    overtakes: bool = False  # barriers overtake what waits
    lore_rule: int = 0  # `engine.core.layout.RULE_*`
    lore_bytes: int = 0


def cast_of(experiment: Experiment, greatest: Mapping[str, int] | None = None) -> Cast:
    """Fresh ones for the protocol that the document names. greatest: with how many instances operators are laid out, where these are more
    than the document has."""
    protocol = experiment.policies.checkpointing
    if isinstance(protocol, NoCheckpoints):
        return Cast()
    cast = PROTOCOLS[protocol.kind](experiment, protocol, costs_of(protocol), _instances_of(experiment, greatest or {}))
    return replace(cast, actors=(*cast.actors, store_of(protocol.store)))


def costs_of(protocol: Any) -> Costs:
    """protocol: of `engine.spec.experiment.checkpointing`, or what rescales cost where there is none."""
    return Costs(
        capture_ps=scaled(protocol.capture_ms, 1_000_000_000),
        ps_per_byte=round(1_000_000 / protocol.serialise_mb_per_s),
        restart_ns=getattr(protocol, "restart_ns", 0),
        open_log_ns=milliseconds_ns(getattr(protocol, "open_log_ms", 0)),
        replay_ns=scaled(getattr(protocol, "replay_us", 0), 1000),
    )


def _coordinated(experiment: Experiment, protocol: Any, costs: Costs, instances: Instances) -> Cast:
    until_ns, sources = experiment.workload.horizon_ns, _sources_of(experiment, instances)
    rounds = CoordinatedRounds(COORDINATOR, protocol.interval_ns, until_ns, protocol.detect_ns, _machines_of(experiment), sources)
    return Cast((rounds,), CoordinatedWorker(costs, may_lose_hosts(experiment)))


def _coordinated_unaligned(experiment: Experiment, protocol: Any, costs: Costs, instances: Instances) -> Cast:
    until_ns, sources, may_be_lost = experiment.workload.horizon_ns, _sources_of(experiment, instances), may_lose_hosts(experiment)
    rounds = UnalignedRounds(COORDINATOR, protocol.interval_ns, until_ns, protocol.detect_ns, _machines_of(experiment), sources)
    return Cast((rounds,), UnalignedWorker(costs, may_be_lost), _counting(may_be_lost), drops_duplicates=True, overtakes=True)


def _uncoordinated(experiment: Experiment, protocol: Any, costs: Costs, instances: Instances) -> Cast:
    workload, may_be_lost = experiment.workload, may_lose_hosts(experiment)
    worker = UncoordinatedWorker(costs, may_be_lost, protocol.interval_ns, protocol.jitter_ns, workload.horizon_ns, workload.seed)
    return _logged(experiment, protocol, worker, UncoordinatedCoordinator(*_searching(experiment, protocol)))


def _communication_induced(experiment: Experiment, protocol: Any, costs: Costs, instances: Instances) -> Cast:
    workload, may_be_lost = experiment.workload, may_lose_hosts(experiment)
    added_bytes = protocol.added_bytes(sum(map(len, instances.values())))
    worker = InducedWorker(costs, may_be_lost, protocol.interval_ns, protocol.jitter_ns, workload.horizon_ns, workload.seed, added_bytes)
    cast = _logged(experiment, protocol, worker, UncoordinatedCoordinator(*_searching(experiment, protocol)))
    rule = L.RULE_INDEX if protocol.variant == "bcs" else L.RULE_CLOCK * protocol.clock_test + L.RULE_CYCLE * protocol.cycle_test
    return replace(cast, features=(*cast.features, "forcing"), lore_rule=rule, lore_bytes=added_bytes * workload.scale)


def _hybrid(experiment: Experiment, protocol: Any, costs: Costs, instances: Instances) -> Cast:
    workload, may_be_lost = experiment.workload, may_lose_hosts(experiment)
    inside = coordinated_region(protocol, experiment.query)
    fed = {edge.target for edge in experiment.query.edges if edge.source in inside and inside[edge.source] == inside.get(edge.target)}
    intervals_ns = [protocol.interval_ns] * sum(map(len, instances.values()))
    regions = []
    for written in regions_of(protocol, experiment.query):
        own = [id for id in instances if id in written.operators]
        members = [i for id in own for i in instances[id]]
        interval_ns = protocol.interval_ns_of(written)
        if written.mode == "coordinated":
            regions.append(Region(written.name, own, interval_ns, members, [i for id in own if id not in fed for i in instances[id]]))
        for i in members:
            intervals_ns[i] = interval_ns
    adapts = protocol.adapt is not None
    rule = Rule(**dict(protocol.adapt)) if adapts else None
    numbering = Numbering(protocol.number_step(workload.horizon_ns, regions_of(protocol, experiment.query)))
    until_ns = workload.horizon_ns
    worker = HybridWorker(costs, may_be_lost, intervals_ns, protocol.jitter_ns, until_ns, workload.seed, regions, adapts, numbering)
    coordinator = HybridCoordinator(*_searching(experiment, protocol), until_ns, regions, rule, numbering)
    cast = _logged(experiment, protocol, worker, coordinator)
    return replace(cast, features=(*cast.features, "regions", *(("adapting",) if adapts else ())))


def _logged(experiment: Experiment, protocol: Any, worker: UncoordinatedWorker, coordinator: UncoordinatedCoordinator) -> Cast:
    features = _counting(_is_kept(experiment, protocol))
    return Cast((coordinator,), worker, features, drops_duplicates=protocol.semantics == "exactly_once")


def _searching(experiment: Experiment, protocol: Any) -> tuple[ActorHost, int, list[int], str, bool]:
    """What a coordinator is made of that searches the line."""
    return COORDINATOR, protocol.detect_ns, _machines_of(experiment), protocol.semantics, _is_kept(experiment, protocol)


def _is_kept(experiment: Experiment, protocol: Any) -> bool:
    """Whether somebody may want what the channels' logs contain."""
    return protocol.log and protocol.semantics != "at_most_once" and may_lose_hosts(experiment)


def _counting(kept: bool) -> tuple[str, ...]:
    """Features of a loop that numbers records. kept: those that were sent may be sent again."""
    return ("counting", "logging") if kept else ("counting",)


PROTOCOLS: Mapping[str, Callable[[Experiment, Any, Costs, Instances], Cast]] = {
    "coordinated": _coordinated,
    "coordinated_unaligned": _coordinated_unaligned,
    "uncoordinated": _uncoordinated,
    "communication_induced": _communication_induced,
    "hybrid": _hybrid,
}
"""By kind: who coordinates and works, and what the loop has to do for them."""

COORDINATOR = ActorHost("coordinator")


def may_lose_hosts(experiment: Experiment) -> bool:
    """Whether a host can be lost in this run."""
    by_fault = any(isinstance(fault, HostLoss) for fault in experiment.faults)
    return by_fault or any(getattr(host.memory, "restart_after_s", None) is not None for host in experiment.cluster.hosts)


def _machines_of(experiment: Experiment) -> list[int]:
    """The hosts that have instances."""
    return sorted({host for hosts in placement_of(experiment).values() for host in hosts})


def _sources_of(experiment: Experiment, instances: Instances) -> list[int]:
    """The instances of sources."""
    return [i for spec in experiment.query.operators if spec.kind == "source" for i in instances[spec.id]]


def _instances_of(experiment: Experiment, greatest: Mapping[str, int]) -> Instances:
    """Those of the document."""
    found: Instances = {}
    first = 0
    for spec in experiment.query.operators:
        found[spec.id] = range(first, first + spec.parallelism)
        first += greatest.get(spec.id, spec.parallelism)
    return found


def store_of(about: Store) -> ObjectStore:
    host = ActorHost("store", about.egress_mbit_per_s, milliseconds_ns(about.latency_ms))
    capacity = None if about.capacity_mb is None else megabytes_bytes(about.capacity_mb)
    disk = Disk(max(1, scaled(about.write_mb_per_s, 8)), max(1, scaled(about.read_mb_per_s, 8)), capacity_bytes=capacity)
    return ObjectStore(host, disk, milliseconds_ns(about.request_ms))


def prepare(cast: Cast, world: World) -> None:
    """Tell the core what the protocol wants of it, before the run."""
    w = world.arrays
    w.g[[L.G_FILTER, L.G_OVERTAKE, L.G_FORCING_RULE, L.G_VECTOR_BYTES]] = (
        cast.drops_duplicates,
        cast.overtakes,
        cast.lore_rule,
        cast.lore_bytes,
    )
    if w.g[L.G_VECTOR]:
        for i in range(len(w.inst)):
            dependency_vectors.note_checkpoint(w, i, -1)  # that at the start


def forget(actors: Sequence[Any], world: World) -> None:
    """Free the memory of what no recovery can ask for any more. To the model it is still there: its bytes count, as do those of logs."""
    coordinator = next((actor for actor in actors if isinstance(actor, Coordinator)), None)
    if coordinator is None or coordinator.settled is None:
        return
    settled, coordinator.settled = coordinator.settled, None
    channel_log.forget_before(world.arrays, settled.records)
    for store in actors:
        if isinstance(store, ObjectStore):
            for key, (size_bytes, content) in store.objects.items():
                number, instance = messages.of_key(key)
                if content and number < settled.checkpoints[instance]:
                    store.objects[key] = size_bytes, b""


def report(actors: Any) -> dict[str, Any] | None:
    """What a run's coordinator knows, as JSON values (`CoordinatedRounds.state`); None without one."""
    coordinator = next((actor for actor in actors if isinstance(actor, Coordinator)), None)
    return None if coordinator is None else coordinator.state()
