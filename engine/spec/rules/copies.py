"""Writes out the copies of queries: the experiment in which every copy has operators of its own (docs/queries.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from pydantic.fields import FieldInfo

from engine.core.random import RandomStream

from ..base.operator import Model
from ..base.units import seconds_ns
from ..experiment.cluster import Pool, ProcessorSharing
from ..experiment.experiment import Experiment
from ..experiment.placement.explicit import Explicit
from ..experiment.queries import NamedQuery, numbered
from ..experiment.query import Edge, OperatorSpec, with_all_copies
from ..experiment.scaling.none import NoScaling
from ..experiment.scheduling.default import FairThreads
from ..experiment.scheduling.switched import SwitchedScheduling, final_threads
from .resources import placed

Ids = Mapping[str, tuple[str, ...]]
"""Ids of the operators that stand for each drawn one."""


def written_out(experiment: Experiment) -> Experiment:
    """A valid experiment with each copy of a query as a query of its own, and starts drawn. It has the same results, but another hash.
    Without copies, random starts and fair threads it is the experiment itself."""
    experiment = with_fair_threads(experiment)
    queries = experiment.query.queries
    if all(query.copies is None and not query.start_within_s for query in queries):
        return experiment
    ids = copies_by_id(experiment.query.operators, queries)
    parts = experiment.query.model_copy(
        update={
            "operators": tuple(spec.model_copy(update={"id": id}) for spec in experiment.query.operators for id in ids[spec.id]),
            "edges": tuple(copy for edge in experiment.query.edges for copy in _edges(edge, queries)),
            "queries": tuple(copy for query in queries for copy in _queries(query, experiment.workload.seed)),
        }
    )
    sources = {copy: source for id, source in experiment.workload.sources.items() for copy in ids[id]}
    return experiment.model_copy(
        update={
            "query": parts,
            "workload": experiment.workload.model_copy(update={"sources": sources}),
            "placement": Explicit(hosts=_hosts(experiment, ids)) if any(query.copies for query in queries) else experiment.placement,
            "policies": _for_copies(experiment.policies, ids),
        }
    )


def with_fair_threads(experiment: Experiment) -> Experiment:
    """The experiment with pools of cores replaced by threads that share them, where its scheduling is `default`."""
    about = experiment.policies.scheduling
    if not isinstance(about, FairThreads):
        return experiment
    threads = ProcessorSharing(tax=about.tax)
    hosts = tuple(
        host.model_copy(update={"processor": threads}) if isinstance(host.processor, Pool) else host for host in experiment.cluster.hosts
    )
    return experiment.model_copy(update={"cluster": experiment.cluster.model_copy(update={"hosts": hosts})})


def later_sharing(experiment: Experiment) -> ProcessorSharing | None:
    """How threads share the cores of pools from some time on, if the scheduling switches to `default`; else None."""
    about = experiment.policies.scheduling
    threads = final_threads(about) if isinstance(about, SwitchedScheduling) else None
    return None if threads is None else ProcessorSharing(tax=threads.tax)


def copies_by_id(operators: Sequence[OperatorSpec], queries: Sequence[NamedQuery]) -> dict[str, tuple[str, ...]]:
    """Ids of the copies of each operator, by its id; the id alone where there are no copies."""
    ids: dict[str, tuple[str, ...]] = {spec.id: (spec.id,) for spec in operators}
    for query in queries:
        if query.copies is not None:
            ids |= {id: tuple(numbered(id, k) for k in range(query.copies)) for id in query.operators}
    return ids


def _start_ns(query: NamedQuery, copy: int, seed: int) -> int:
    """When a copy of the query starts. copy: counted from 0. The draw depends on its name alone, not on the number of copies."""
    within_ns = seconds_ns(query.start_within_s)
    if not within_ns:
        return seconds_ns(query.start_s)
    return seconds_ns(query.start_s) + int(RandomStream(seed, query.named(copy), "start").below(np.zeros(1, np.int64), within_ns)[0])


def _queries(query: NamedQuery, seed: int) -> Iterator[NamedQuery]:
    for k in range(query.copy_count):
        operators = query.operators if query.copies is None else tuple(numbered(id, k) for id in query.operators)
        yield NamedQuery(name=query.named(k), operators=operators, start_s=_start_ns(query, k, seed) / 1e9)


def _edges(edge: Edge, queries: Sequence[NamedQuery]) -> Iterator[Edge]:
    """One edge for each copy at either end. No edge joins two queries."""
    inside = {id: query for query in queries if query.copies is not None for id in query.operators}
    query = inside.get(edge.source) or inside.get(edge.target)
    for k in range(1 if query is None else query.copy_count):
        ends = {end: numbered(id, k if id in inside else None) for end, id in (("source", edge.source), ("target", edge.target))}
        yield edge.model_copy(update=ends)


def _hosts(experiment: Experiment, ids: Ids) -> dict[str, tuple[str, ...]]:
    """Host names by operator: instances of later copies are placed as further instances of the operator, and so are those that a rescale
    adds to a copy."""
    operators, hosts = experiment.query.operators, experiment.expanded_hosts()
    copies = experiment.query.copies
    first = placed(experiment.placement, with_all_copies(operators, copies), hosts)
    more = 0 if isinstance(experiment.policies.scaling, NoScaling) else len(hosts)
    later = placed(experiment.placement, with_all_copies(operators, copies, more), hosts) if more else first
    names = [host.name for host in hosts]
    found = {}
    for spec in operators:
        p = spec.parallelism
        for k, id in enumerate(ids[spec.id]):
            own = [*first[spec.id][k * p : (k + 1) * p], *later[spec.id][(k + 1) * p : k * p + max(p, more)]]
            found[id] = tuple(names[host] for host in own)
    return found


def _for_copies(value: Any, ids: Ids) -> Any:
    """The value with every operator id in it replaced by those of its copies: keys of fields with `x-keys: operator`, items of those with
    `x-items: operator`."""
    if isinstance(value, tuple):
        return tuple(_for_copies(item, ids) for item in value)
    if not isinstance(value, Model):
        return value
    return value.model_copy(
        update={name: _field(getattr(value, name), field, ids) for name, field in type(value).model_fields.items() if name != "kind"}
    )


def _field(value: Any, field: FieldInfo, ids: Ids) -> Any:
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    if extra.get("x-keys") == "operator":
        return {copy: item for id, item in value.items() for copy in ids.get(id, (id,))}
    if extra.get("x-items") == "operator":
        return tuple(copy for id in value for copy in ids.get(id, (id,)))
    return _for_copies(value, ids)
