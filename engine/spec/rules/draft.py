"""The valid parts of a document, read piece by piece so that checks continue around broken parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from ..base.family import Family
from ..base.operator import Operator
from ..experiment import registry
from ..experiment.balancings import BALANCINGS
from ..experiment.checkpointing import CHECKPOINTINGS
from ..experiment.cluster import Cluster, ExpandedHost, expand, machine_count
from ..experiment.engines import ENGINES
from ..experiment.engines.none import NoEngine
from ..experiment.experiment import Measurement
from ..experiment.faults import FAULTS
from ..experiment.flow_control import FLOW_CONTROLS
from ..experiment.ingress import INGRESSES
from ..experiment.placement import PLACEMENTS
from ..experiment.queries import NamedQuery
from ..experiment.query import Edge, OperatorSpec, Query
from ..experiment.scaling import SCALINGS
from ..experiment.scaling.base import Scaling
from ..experiment.scaling.moving import Moving
from ..experiment.scaling.none import NoScaling
from ..experiment.scheduling import SCHEDULINGS
from ..experiment.scheduling.none import NoScheduling
from ..experiment.states import STATES
from ..experiment.workload import SourceWorkload, Workload
from .scaling_limits import ScalingLimit, reach, scaling_limits


@dataclass(frozen=True)
class Wire:
    """The ends of an edge as written, even if the edge is otherwise invalid."""

    index: int
    feedback: bool
    source: str
    source_port: str
    target: str
    target_port: str


def section(value: Any, *path: str) -> Any:
    """The part of the document at this path, or None."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def items(value: Any) -> list[Any]:
    """The items of a list; empty for any other value."""
    return list(value) if isinstance(value, list | tuple) else []


def attempt(model: Any, value: Any) -> Any:
    """Read the value as a model or as a kind of a `Family`; None if invalid. `structure.check` reports the problems separately."""
    try:
        return _read(model, value)
    except ValidationError:
        return None


def _read(model: Any, value: Any) -> Any:
    return model.adapter.validate_python(value) if isinstance(model, Family) else model.model_validate(value)


class Draft:
    """A document under validation. Invalid parts are None or missing; positions are those of the document."""

    def __init__(self, document: dict[str, Any], hosts_max: int):
        self.document, self.hosts_max = document, hosts_max

    @cached_property
    def operators(self) -> dict[int, OperatorSpec]:
        """The valid operators by position."""
        return dict(_valid_items(OperatorSpec, items(section(self.document, "query", "operators"))))

    @cached_property
    def edges(self) -> dict[int, Edge]:
        """The valid edges by position."""
        return dict(_valid_items(Edge, items(section(self.document, "query", "edges"))))

    @cached_property
    def queries(self) -> dict[int, NamedQuery]:
        """The valid queries by position."""
        return dict(_valid_items(NamedQuery, items(section(self.document, "query", "queries"))))

    @cached_property
    def copies(self) -> dict[str, int]:
        """Number of copies of each operator that has a valid query, by id."""
        return {id: query.copy_count for query in self.queries.values() for id in query.operators}

    @cached_property
    def ids(self) -> dict[str, int]:
        """Every operator id in the document, with the position of its first operator."""
        written: dict[str, int] = {}
        for position, operator in enumerate(items(section(self.document, "query", "operators"))):
            id = section(operator, "id")
            if isinstance(id, str):
                written.setdefault(id, position)
        return written

    @cached_property
    def by_id(self) -> dict[str, OperatorSpec]:
        """The valid operators by id, in document order. Of several with the same id, the first."""
        return {operator.id: operator for position, operator in self.operators.items() if self.ids[operator.id] == position}

    @cached_property
    def kinds(self) -> dict[str, type[Operator]]:
        """The operator classes by operator id, without operators of unknown kind."""
        known = registry.operators()
        return {id: known[operator.kind] for id, operator in self.by_id.items() if operator.kind in known}

    @cached_property
    def wires(self) -> list[Wire]:
        """The ends of all edges with both ends given."""
        wires = []
        for index, edge in enumerate(items(section(self.document, "query", "edges"))):
            if not isinstance(edge, dict):
                continue
            ends = [edge.get("source"), edge.get("source_port", "out"), edge.get("target"), edge.get("target_port", "in")]
            texts = [end for end in ends if isinstance(end, str)]
            if len(texts) == len(ends):
                wires.append(Wire(index, edge.get("feedback") is True, *texts))
        return wires

    @cached_property
    def cluster(self) -> Cluster | None:
        cluster: Cluster | None = attempt(Cluster, section(self.document, "cluster"))
        return cluster

    @cached_property
    def hosts(self) -> list[ExpandedHost] | None:
        """Every machine; None if the cluster is invalid or too large."""
        if self.cluster is None or machine_count(self.cluster) > self.hosts_max:
            return None
        return expand(self.cluster)

    @cached_property
    def placement(self) -> Any:
        """The placement, or the default if none is given; None if invalid."""
        return attempt(PLACEMENTS, section(self.document, "placement") or {"kind": "spread"})

    @cached_property
    def faults(self) -> dict[int, Any]:
        """The valid faults by position."""
        return dict(_valid_items(FAULTS, items(section(self.document, "faults"))))

    @cached_property
    def engine(self) -> Any:
        """The engine, or `NoEngine` if none is given; None if invalid."""
        written = section(self.document, "policies", "engine")
        return NoEngine() if written is None else attempt(ENGINES, written)

    @cached_property
    def balancing(self) -> Any:
        """The balancing of worksets; None if none is given or it is invalid."""
        return attempt(BALANCINGS, section(self.document, "policies", "balancing"))

    @cached_property
    def flow_control(self) -> Any:
        """The flow control; None if none is given or it is invalid."""
        return attempt(FLOW_CONTROLS, section(self.document, "policies", "flow_control"))

    @cached_property
    def ingress(self) -> Any:
        """The ingress policy; None if none is given or it is invalid."""
        return attempt(INGRESSES, section(self.document, "policies", "ingress"))

    @cached_property
    def checkpointing(self) -> Any:
        """The checkpointing protocol; None if none is given or it is invalid."""
        return attempt(CHECKPOINTINGS, section(self.document, "policies", "checkpointing"))

    @cached_property
    def scaling(self) -> Any:
        """The scaling policy, or `NoScaling` if none is given; None if invalid."""
        written = section(self.document, "policies", "scaling")
        return NoScaling() if written is None else attempt(SCALINGS, written)

    @cached_property
    def scheduling(self) -> Any:
        """The scheduling, or `NoScheduling` if none is given; None if invalid."""
        written = section(self.document, "policies", "scheduling")
        return NoScheduling() if written is None else attempt(SCHEDULINGS, written)

    @cached_property
    def state(self) -> Any:
        """Where operators keep their state; None if nothing says so or it is invalid."""
        return attempt(STATES, section(self.document, "policies", "state"))

    @cached_property
    def scaling_limits(self) -> list[ScalingLimit] | None:
        """Scaling limits of each part of the query; None if the query is too broken to compute them."""
        sound = {*self.kinds} == {*self.ids} and all(wire.source in self.ids and wire.target in self.ids for wire in self.wires)
        if not sound or self.workload is None or self.scaling is None:
            return None
        query = Query(operators=tuple(self.by_id.values()), edges=tuple(self.edges.values()))
        try:
            return scaling_limits(self.scaling, query, self.kinds, self.workload)
        except ValidationError:  # in an operator's parameters
            return None

    @cached_property
    def laid_out(self) -> dict[str, OperatorSpec]:
        """Like `by_id`, with as many instances of each operator as are laid out (`max_layout.greatest`)."""
        most: dict[str, int] = {}
        if isinstance(self.scaling, Moving):
            most = dict.fromkeys(self.by_id, len(self.hosts or (None,)))
        elif isinstance(self.scaling, Scaling) and self.scaling_limits is not None:
            most = reach(self.scaling, self.scaling_limits)
        if not most:
            return self.by_id
        return {id: spec.model_copy(update={"parallelism": most.get(id, spec.parallelism)}) for id, spec in self.by_id.items()}

    @cached_property
    def workload(self) -> Workload | None:
        workload: Workload | None = attempt(Workload, section(self.document, "workload"))
        return workload

    @cached_property
    def source_ids(self) -> list[str]:
        """The ids under `workload.sources`, broken entries included."""
        sources = section(self.document, "workload", "sources")
        return list(sources) if isinstance(sources, dict) else []

    @cached_property
    def sources(self) -> dict[str, SourceWorkload]:
        """The valid entries of `workload.sources`."""
        written = section(self.document, "workload", "sources")
        pairs = ((id, attempt(SourceWorkload, written[id])) for id in self.source_ids)
        return {id: source for id, source in pairs if source is not None}

    @cached_property
    def measurement(self) -> Measurement | None:
        measurement: Measurement | None = attempt(Measurement, section(self.document, "measurement") or {})
        return measurement


def _valid_items(model: Any, values: list[Any]) -> Iterator[tuple[int, Any]]:
    for position, value in enumerate(values):
        try:
            yield position, _read(model, value)
        except ValidationError:
            continue
