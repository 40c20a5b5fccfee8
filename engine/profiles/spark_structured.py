"""Spark's Structured Streaming: micro-batches of what has come to the logs, jobs of stages, watermarks from batch to batch."""

from __future__ import annotations

from engine.core.control.policy import Control
from engine.prices import PRICE_LISTS
from engine.spec.experiment.engines.spark import combine_of
from engine.spec.experiment.engines.spark_structured import SparkStructuredEngine
from engine.spec.experiment.experiment import Experiment
from engine.spec.experiment.partitionings.forward import Forward
from engine.spec.experiment.placement.explicit import Explicit
from engine.spec.experiment.query import Cost, Edge, OperatorSpec
from engine.spec.experiment.workload import BoundedWatermarks, NoWatermarks, PeriodicWatermarks, SourceWorkload
from engine.spec.rules.resources import placed

from .jobs import stages_of
from .micro_batches import Log, MicroBatches

STATEFUL = ("aggregate", "session_aggregate", "join", "window_join", "interval_join")


def profile(about: SparkStructuredEngine, experiment: Experiment) -> Experiment:
    """The experiment with aggregates in two parts: one at the end of the stage before the repartitioning, where a record is put into its
    group, and one behind it, which has the groups."""
    query, hosts = experiment.query, experiment.expanded_hosts()
    drawn = placed(experiment.placement, query.operators, hosts)
    places = {id: tuple(hosts[index].name for index in indices) for id, indices in drawn.items()}
    operators, edges, queries = list(query.operators), list(query.edges), query.queries
    for spec in query.operators:
        into = [edge for edge in query.edges if edge.target == spec.id]
        if spec.kind != "aggregate" or len(into) != 1 or into[0].partitioning.one_to_one:
            continue
        (edge,) = into
        partial, final = _in_two_parts(spec, experiment.operator(edge.source).parallelism, about)
        places[partial.id] = places[edge.source]
        operators[operators.index(spec)] = final
        operators.insert(operators.index(final), partial)
        edges[edges.index(edge)] = edge.model_copy(update={"target": partial.id, "partitioning": Forward()})
        edges.append(Edge(source=partial.id, target=spec.id, target_port=edge.target_port, partitioning=edge.partitioning))
        queries = tuple(
            named.model_copy(update={"operators": (*named.operators, partial.id)}) if spec.id in named.operators else named
            for named in queries
        )
    made = query.model_copy(update={"operators": tuple(operators), "edges": tuple(edges), "queries": queries})
    sources = {id: _telling_its_end(source) for id, source in experiment.workload.sources.items()}
    workload = experiment.workload.model_copy(update={"sources": sources})
    return experiment.model_copy(update={"query": made, "workload": workload, "placement": Explicit(hosts=places)})


def controls(about: SparkStructuredEngine, executed: Experiment) -> list[Control]:
    """The driver program. executed: the experiment with all operators of the run, in their order."""
    specs = executed.query.operators
    logs = [Log(n, _lag_ns(executed.workload.sources[spec.id])) for n, spec in enumerate(specs) if spec.kind == "source"]
    sinks = {spec.id: n for n, spec in enumerate(specs) if spec.kind == "sink"}
    stages = [*stages_of(executed, sinks), [*sinks.values()]]
    stateful = any(spec.kind in STATEFUL for spec in specs)
    return [MicroBatches(about, logs, stages, executed.workload.scale, stateful)]


def _in_two_parts(spec: OperatorSpec, tasks: int, about: SparkStructuredEngine) -> tuple[OperatorSpec, OperatorSpec]:
    """What puts the records of a task into groups, and the aggregate, to which they then come at no cost."""
    price = PRICE_LISTS[about.price_list].price("aggregate")
    cost = spec.cost or Cost()
    each_us = price.record_ps / 1e6 if cost.record_us is None else cost.record_us
    grouping = cost.model_copy(update={"record_us": each_us, "output_us": 0, "control_us": 0})
    partial = OperatorSpec(
        id=combine_of(spec.id), kind="union", name=spec.name and f"{spec.name}: combine", parallelism=tasks, cost=grouping
    )
    return partial, spec.model_copy(update={"cost": cost.model_copy(update={"record_us": 0})})


def _telling_its_end(source: SourceWorkload) -> SourceWorkload:
    """A source that tells its end, as those with watermarks do."""
    if not isinstance(source.watermarks, NoWatermarks):
        return source
    return source.model_copy(update={"watermarks": BoundedWatermarks(lag_ms=0)})


def _lag_ns(source: SourceWorkload) -> int | None:
    return source.watermarks.lag_ns if isinstance(source.watermarks, PeriodicWatermarks) else None
