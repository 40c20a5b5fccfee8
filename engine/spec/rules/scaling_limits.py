"""How far each vertex of a query may be scaled: limits from bounds, key groups, partitions and the number of instances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..base.operator import Operator
from ..experiment.query import Query
from ..experiment.scaling import AnyScaling
from ..experiment.scaling.base import PARALLELISM_MAX, Bounds, Order, Scaling
from ..experiment.workload import Workload
from .scalable import unscalable, vertices


class ScalingLimit(NamedTuple):
    """The limits of a vertex: its operators in document order, its initial parallelism, and the minimum and maximum parallelism.

    parts: number of key groups or partitions that its instances share, None without any. stays: why it cannot be scaled.
    """

    operators: tuple[str, ...]
    parallelism: int
    least: int
    most: int
    parts: int | None
    stays: str = ""


def partitions_of(scaling: AnyScaling, written: int | None, parallelism: int, stays: bool) -> int:
    """Number of a source's logs. Default: one per instance, or one per instance that a policy may give it. With manual scaling there are as
    many as without scaling, so that a run equals the unscaled run until its first order."""
    if written is not None:
        return written
    return max(parallelism, scaling.workers_max) if isinstance(scaling, Scaling) and not (stays or scaling.by_hand) else parallelism


def scaling_limits(scaling: AnyScaling, query: Query, kinds: Mapping[str, type[Operator]], workload: Workload) -> list[ScalingLimit]:
    """The limits of all vertices, in document order. kinds: operator kinds by operator id."""
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
    """The parallelism that an order gives a vertex, None if the order names none of its operators. The whole vertex follows."""
    return next((order.parallelism[id] for id in limit.operators if id in order.parallelism), None)


def reach(scaling: AnyScaling, limits: list[ScalingLimit]) -> dict[str, int]:
    """The largest parallelism that each scalable operator may reach, by operator id. With orders it is that of the largest order. With a
    policy it is limited by the operator's bounds and by the instances that the other operators leave."""
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
