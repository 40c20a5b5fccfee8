"""Checkpointing protocols (docs/checkpointing.md): each a file, made of a coordinator and of workers, over the same few parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.core.actors import Actor, ActorHost, Agent
from engine.services import Disk, ObjectStore
from engine.spec import Experiment
from engine.spec.checkpointing import CoordinatedCheckpoints, NoCheckpoints, Store
from engine.spec.units import megabytes_bytes, milliseconds_ns, scaled
from engine.spec.validation import placement_of

from .coordinated import CoordinatedRounds, CoordinatedWorker
from .worker import Costs


@dataclass(frozen=True)
class Cast:
    """Who plays the protocol of a run."""

    actors: tuple[Actor, ...] = ()
    agent: Agent | None = None


def cast_of(experiment: Experiment) -> Cast:
    """Fresh ones for the protocol that the document names."""
    protocol = experiment.policies.checkpointing
    if isinstance(protocol, NoCheckpoints):
        return Cast()
    costs = Costs(
        capture_ps=scaled(protocol.capture_ms, 1_000_000_000),
        ps_per_byte=round(1_000_000 / protocol.serialise_mb_per_s),
        restart_ns=protocol.restart_ns,
    )
    coordinator, worker = _coordinated(experiment, protocol, costs)
    return Cast((coordinator, _store(protocol.store)), worker)


def _coordinated(experiment: Experiment, protocol: CoordinatedCheckpoints, costs: Costs) -> tuple[Actor, Agent]:
    machines: set[int] = set()
    sources: list[int] = []
    first = 0
    placement = placement_of(experiment)
    for spec in experiment.query.operators:
        machines |= set(placement[spec.id])
        if spec.kind == "source":
            sources += range(first, first + spec.parallelism)
        first += spec.parallelism
    host = ActorHost("coordinator")
    until_ns = experiment.workload.horizon_ns
    rounds = CoordinatedRounds(host, protocol.interval_ns, until_ns, protocol.detect_ns, sorted(machines), sources)
    return rounds, CoordinatedWorker(costs)


def _store(about: Store) -> ObjectStore:
    host = ActorHost("store", about.egress_mbit_per_s, milliseconds_ns(about.latency_ms))
    capacity = None if about.capacity_mb is None else megabytes_bytes(about.capacity_mb)
    disk = Disk(max(1, scaled(about.write_mb_per_s, 8)), max(1, scaled(about.read_mb_per_s, 8)), capacity_bytes=capacity)
    return ObjectStore(host, disk, milliseconds_ns(about.request_ms))


def report(actors: Any) -> dict[str, Any] | None:
    """What a run's coordinator knows, as JSON values (`CoordinatedRounds.state`); None without one."""
    coordinator = next((actor for actor in actors if isinstance(actor, CoordinatedRounds)), None)
    return None if coordinator is None else coordinator.state()
