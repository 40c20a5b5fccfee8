"""How far each part of a query may be scaled: by bounds, key groups, partitions, and by how many workers there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..base.operator import Operator
from ..experiment.query import Query
from ..experiment.scaling import AnyScaling
from ..experiment.scaling.base import PARALLELISM_MAX, Bounds, Order, Scaling
from ..experiment.scaling.none import NoScaling
from ..experiment.workload import Workload
from .scalable import unscalable, vertices


class ScalingLimit(NamedTuple):
    """Of a vertex: its operators, in the document's order, the parallelism with which it begins, the least and the most that it may have.
    parts: key groups or partitions that its instances divide among them, None if there are no such. stays: why it cannot be scaled."""

    operators: tuple[str, ...]
    parallelism: int
    least: int
    most: int
    parts: int | None
    stays: str = ""


def partitions_of(scaling: AnyScaling, written: int | None, parallelism: int, stays: bool) -> int:
    """How many logs a source has: as is written, else one for each instance, or for each worker that a policy may make of it. Where
    nobody decides there are as many as without scaling, so that a run until its first order is the run without one."""
    if written is not None:
        return written
    return parallelism if stays or isinstance(scaling, NoScaling) or scaling.by_hand else max(parallelism, scaling.workers_max)


def scaling_limits(scaling: AnyScaling, query: Query, kinds: Mapping[str, type[Operator]], workload: Workload) -> list[ScalingLimit]:
    """Of all vertices, in the document's order. kinds: by operator id."""
    stay = unscalable(query, kinds, workload)
    bounds = scaling.operators if isinstance(scaling, Scaling) else {}
    begins = {spec.id: spec.parallelism for spec in query.operators}
    found = []
    for vertex in vertices(query):
        p, stays = begins[vertex[0]], stay.get(vertex[0], "")
        given = [
            partitions_of(scaling, workload.sources[id].partitions, begins[id], bool(stays)) for id in vertex if id in workload.sources
        ]
        keyings = [keying for edge in query.edges if edge.target in vertex and (keying := edge.partitioning.keying) is not None]
        given += [keying.groups for keying in keyings if keying.groups]
        parts = min(given, default=None)
        own = [bounds.get(id, Bounds()) for id in vertex]
        least = max(each.min for each in own)
        most = min([PARALLELISM_MAX if parts is None else parts, *(each.max for each in own if each.max is not None)])
        found.append(ScalingLimit(vertex, p, p, p, parts, stays) if stays else ScalingLimit(vertex, p, least, most, parts))
    return found


def ordered(order: Order, limit: ScalingLimit) -> int | None:
    """What an order makes of a vertex; None if it does not name it. All of its operators go with the one that is named."""
    return next((order.parallelism[id] for id in limit.operators if id in order.parallelism), None)


def reach(scaling: AnyScaling, limits: list[ScalingLimit]) -> dict[str, int]:
    """The most instances that operators may ever have, by the id of each that can be scaled: of orders as many as the largest has, of
    policies as many as its bounds and the other operators leave it of the workers."""
    return dict(_reach(scaling, limits))


def _reach(scaling: AnyScaling, limits: list[ScalingLimit]) -> Iterator[tuple[str, int]]:
    if not isinstance(scaling, Scaling):
        return
    least = sum(limit.least * len(limit.operators) for limit in limits)
    for limit in limits:
        if limit.stays:
            continue
        size = len(limit.operators)
        most = max([limit.parallelism, *(p for order in scaling.orders if (p := ordered(order, limit)) is not None)])
        if scaling.decides:
            most = max(most, min(limit.most, (scaling.workers_max - least) // size + limit.least))
        yield from ((id, most) for id in limit.operators)
