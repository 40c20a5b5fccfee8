"""Rescaling of a running query by a job manager and its workers (docs/autoscaling.md, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.checkpointing.setup import COORDINATOR_HOST, ProtocolSetup, capture_costs, costs_of, may_lose_hosts, store_of
from engine.core.layout import FAR
from engine.spec import Experiment
from engine.spec.base.family import implementation
from engine.spec.base.units import seconds_ns
from engine.spec.experiment.checkpointing.checkpoints import Checkpoints
from engine.spec.experiment.checkpointing.store import Store
from engine.spec.experiment.scaling.base import Scaling
from engine.spec.experiment.scaling.moving import Moving
from engine.spec.rules.scalable import vertices

from .job import Job, Order, Rescale, Times
from .savepoint_assignment import OperatorSlots
from .setup import RescalingSetup

__all__ = ["Job", "Rescale", "build_protocol", "job_of"]


def build_protocol(
    experiment: Experiment, scaling: Scaling | Moving, greatest: Mapping[str, int], begins: Mapping[str, int]
) -> ProtocolSetup:
    """Return the setup of a run whose parallelism may change, or whose operators move. Its job manager also runs the checkpoint rounds of
    the protocol.

    greatest: number of instances laid out per operator, if more than in the document. begins: index of the first active instance of
    operators that move.
    """
    protocol = experiment.policies.checkpointing
    costs = capture_costs(scaling.capture_ms, scaling.serialise_mb_per_s)
    interval_ns, detect_ns = FAR, 0
    store: Store = scaling.rescaling.store
    if isinstance(protocol, Checkpoints):
        costs = costs_of(protocol)
        interval_ns, detect_ns, store = protocol.interval_ns, protocol.detect_ns, protocol.store
    about = scaling.rescaling
    setup: RescalingSetup = implementation(type(about), __name__, "setup")(about)
    times = Times(setup.pause_ns, seconds_ns(about.pod_start_s), seconds_ns(about.timeout_s))
    orders, workers_max = _orders(experiment, scaling)
    begins_with = {spec.id: spec.parallelism for spec in experiment.query.operators}
    laid, names = _laid(experiment, greatest), [host.name for host in experiment.expanded_hosts()]
    until_ns = experiment.workload.horizon_ns
    job = setup.job(COORDINATOR_HOST, interval_ns, until_ns, detect_ns, laid, begins_with, times, orders, names, workers_max, begins)
    worker = setup.worker(costs, may_lose_hosts(experiment))
    parts = ProtocolSetup((job, store_of(store)), worker, setup.features)
    if isinstance(protocol, Checkpoints):
        parts.store_changes(protocol)
    return parts


def job_of(actors: Sequence[Any]) -> Job | None:
    """Return the job manager of a run, if it has one."""
    return next((actor for actor in actors if isinstance(actor, Job)), None)


def _orders(experiment: Experiment, scaling: Scaling | Moving) -> tuple[list[Order], int]:
    """The document's orders, and the largest number of instances."""
    if isinstance(scaling, Scaling):
        return [(seconds_ns(order.at_s), order.parallelism, {}) for order in scaling.orders], scaling.workers_max
    number = {host.name: host.index for host in experiment.expanded_hosts()}
    moves: list[Order] = [(seconds_ns(move.at_s), {}, {id: number[name] for id, name in move.hosts.items()}) for move in scaling.moves]
    return moves, len(experiment.query.operators)


def _laid(experiment: Experiment, greatest: Mapping[str, int]) -> list[OperatorSlots]:
    query = experiment.query
    together = {id: vertex for vertex in vertices(query) for id in vertex}
    groups = {edge.target: keying.groups or 1 for edge in query.edges if (keying := edge.partitioning.keying) is not None}
    numbers = {spec.id: o for o, spec in enumerate(query.operators)}
    feeds: dict[str, list[int]] = {id: [] for id in numbers}
    for edge in query.edges:
        feeds[edge.source].append(numbers[edge.target])
    found: list[OperatorSlots] = []
    for spec in query.operators:
        first = found[-1].first + found[-1].most if found else 0
        most = greatest.get(spec.id, spec.parallelism)
        found.append(
            OperatorSlots(spec.id, first, most, spec.kind == "source", groups.get(spec.id, 1), together[spec.id], tuple(feeds[spec.id]))
        )
    return found
