"""Spark Streaming: micro-batches, jobs of stages, a serial master (Karimov 2020, 2.2; specification of the benchmark, B2)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.control.policy import Control
from engine.prices import PRICE_LISTS
from engine.spec.experiment.drifts.ar1 import AutoregressiveDrift
from engine.spec.experiment.engines.base import receiver_of
from engine.spec.experiment.engines.spark import SparkEngine, combine_of, merge_of, read_of
from engine.spec.experiment.experiment import Experiment
from engine.spec.experiment.partitionings.forward import Forward
from engine.spec.experiment.partitionings.hash import Hash
from engine.spec.experiment.partitionings.rebalance import Rebalance
from engine.spec.experiment.partitionings.rescale import Rescale
from engine.spec.experiment.placement.explicit import Explicit
from engine.spec.experiment.query import Cost, Edge, OperatorSpec
from engine.spec.experiment.workload import BoundedWatermarks, NoWatermarks, SourceWorkload

from .driver import own_of, with_driver
from .jobs import Master, Stage, stages_of

RECEIVED_US = 1.0
"""Time in which the thread of a receiver puts a record into its block."""

BATCH_SIGMA, JOIN_SIGMA = 0.15, 0.25
"""How much work of equal size varies from one batch to the next: standard deviation of the factor's logarithm."""

COMBINED = {"count": "sum", "sum": "sum", "min": "min", "max": "max"}
"""Functions whose partial results are combined before records are repartitioned, and by which these are put together."""

WINDOWED = ("tumbling", "sliding")


def profile(about: SparkEngine, experiment: Experiment) -> Experiment:
    """The experiment with a driver apart, a receiver of batches on each worker, map tasks that read their blocks, and windows of whole
    batches that are read when they end."""
    made = with_driver(experiment, about.driver)
    sources = [spec.id for spec in experiment.query.operators if spec.kind == "source"]
    workers = [host.name for host in experiment.expanded_hosts()]
    operators = {spec.id: spec for spec in made.query.operators}
    edges = list(made.query.edges)
    places = dict(made.placement.hosts) if isinstance(made.placement, Explicit) else {}
    order = [spec.id for spec in made.query.operators]
    queries = made.query.queries

    def put(spec: OperatorSpec, behind: str) -> None:
        """Put an operator on the hosts of the one before it, into the same queries."""
        nonlocal queries
        operators[spec.id], places[spec.id] = spec, places[behind]
        order.insert(order.index(behind) + 1, spec.id)
        queries = tuple(
            named.model_copy(update={"operators": (*named.operators, spec.id)}) if behind in named.operators else named for named in queries
        )

    price = PRICE_LISTS[about.price_list].prices["source"]
    for id in sources:
        receiver = operators[receiver_of(id)]
        cost = receiver.cost or _with_drift(Cost(record_us=price.record_ps / 1e6, fitted_to=price.fitted_to), about)
        each = about.receivers(receiver.parallelism, len(workers))
        tasks = receiver.parallelism if about.blocks is None else each * about.blocks
        put(OperatorSpec(id=read_of(id), kind="union", parallelism=tasks, cost=cost), receiver.id)
        params, pull = {"batch_s": about.batch_s}, Cost(record_us=RECEIVED_US)
        operators[receiver.id] = receiver.model_copy(update={"kind": "block_receiver", "params": params, "cost": pull, "parallelism": each})
        for before in own_of(id, about.driver)[:-1]:
            operators[before] = operators[before].model_copy(update={"parallelism": each})
        edges = [edge.model_copy(update={"source": read_of(id)}) if edge.source == receiver.id else edge for edge in edges]
        edges.append(Edge(source=receiver.id, target=read_of(id), partitioning=Rescale()))
        if about.blocks is not None:
            for part in _stage_from(read_of(id), edges):
                operators[part], places[part] = operators[part].model_copy(update={"parallelism": tasks}), tuple(workers)
    for spec in experiment.query.operators:
        operators[spec.id] = _windowed(operators[spec.id], about)
        into = [edge for edge in edges if edge.target == spec.id]
        if _combines(spec, into, edges):
            (edge,) = into
            partial, operators[spec.id] = _in_two_parts(operators[spec.id], operators[edge.source].parallelism)
            put(partial, edge.source)
            edges[edges.index(edge)] = edge.model_copy(update={"target": partial.id, "partitioning": Forward()})
            last = partial
            for level in range(1, about.levels):
                changes = {"id": merge_of(spec.id, level), "name": "", "parallelism": partial.parallelism}
                merge = operators[spec.id].model_copy(update=changes)
                put(merge, last.id)
                edges.append(Edge(source=last.id, target=merge.id, partitioning=Rebalance()))
                last = merge
            onward = edge.partitioning if isinstance(edge.partitioning, Hash) and spec.parameters.key is not None else Rebalance()
            edges.append(Edge(source=last.id, target=spec.id, partitioning=onward))
    query = made.query.model_copy(update={"operators": tuple(operators[id] for id in order), "edges": tuple(edges), "queries": queries})
    workload = experiment.workload.model_copy(
        update={"sources": {id: _ending(of, about) for id, of in experiment.workload.sources.items()}}
    )
    return made.model_copy(update={"query": query, "placement": Explicit(hosts=places), "workload": workload})


def controls(about: SparkEngine, executed: Experiment) -> list[Control]:
    """The master. executed: the experiment with all operators of the run, in their order."""
    specs = executed.query.operators
    number = {spec.id: n for n, spec in enumerate(specs)}
    pulls = [(number[spec.id], number[receiver_of(spec.id)]) for spec in specs if spec.kind == "source"]
    return [Master(about, pulls, _stages(about, executed), executed.workload.scale)]


def _stages(about: SparkEngine, executed: Experiment) -> list[Stage]:
    """The operators of each stage by number."""
    specs = executed.query.operators
    apart = {own for spec in specs if spec.kind == "source" for own in own_of(spec.id, about.driver)}
    return stages_of(executed, apart | {spec.id for spec in specs if spec.kind == "sink"})


def _stage_from(id: str, edges: Sequence[Edge]) -> list[str]:
    """The operator and those behind it that its tasks execute, too."""
    found = [id]
    for at in found:
        found += [edge.target for edge in edges if edge.source == at and edge.partitioning.one_to_one and edge.target not in found]
    return found


def _ending(source: SourceWorkload, about: SparkEngine) -> SourceWorkload:
    """A source that tells its end, as those with watermarks do. What they say before is not heard."""
    if not isinstance(source.watermarks, NoWatermarks):
        return source
    return source.model_copy(update={"watermarks": BoundedWatermarks(lag_ms=0, period_ms=about.batch_s * 1000)})


def _with_drift(cost: Cost, about: SparkEngine, sigma: float = BATCH_SIGMA) -> Cost:
    """A cost that varies from batch to batch."""
    drift = AutoregressiveDrift(sigma=sigma, time_constant_s=max(0.001, about.batch_s / 10), step_s=about.batch_s)
    return cost.model_copy(update={"drift": drift})


def _windowed(spec: OperatorSpec, about: SparkEngine) -> OperatorSpec:
    """Windows by the time of receipt, which is the event time of the records, and read when they end."""
    window = spec.params.get("window")
    if not isinstance(window, dict) or window.get("kind") not in WINDOWED:
        return spec
    params = spec.params | {"window": {name: value for name, value in window.items() if name != "clock"}}
    if spec.kind == "aggregate":
        if params.get("emit") == "on_close":
            params = {"evaluation": "at_firing"} | params
        params = {name: value for name, value in params.items() if name != "lateness_ms"}
    sigma = JOIN_SIGMA if spec.kind == "window_join" else BATCH_SIGMA
    cost = _with_drift(Cost(), about, sigma) if spec.cost is None else spec.cost
    return spec.model_copy(update={"params": params, "cost": cost})


def _combines(spec: OperatorSpec, into: Sequence[Edge], edges: Sequence[Edge]) -> bool:
    """Whether an aggregate's records are combined before they are repartitioned."""
    if spec.kind != "aggregate" or len(into) != 1 or into[0].partitioning.one_to_one:
        return False
    params = spec.parameters
    by_key = isinstance(into[0].partitioning, Hash) and into[0].partitioning.key == params.key
    return (
        params.window.kind in WINDOWED
        and params.emit == "on_close"
        and params.every is None
        and (by_key or params.key is None)
        and all(aggregate.function in COMBINED for aggregate in params.aggregates)
        and not any(edge.source == spec.id and edge.source_port != "out" for edge in edges)
    )


def _in_two_parts(spec: OperatorSpec, tasks: int) -> tuple[OperatorSpec, OperatorSpec]:
    """What combines the records of a task, and what puts its results together."""
    partial = spec.model_copy(update={"id": combine_of(spec.id), "name": spec.name and f"{spec.name}: combine", "parallelism": tasks})
    aggregates = [
        {"name": aggregate.name, "function": COMBINED[aggregate.function], "field": aggregate.name}
        for aggregate in spec.parameters.aggregates
    ]
    window = {"kind": "until", "field": "window_end", "size_s": spec.params["window"]["size_s"]}
    params = {name: value for name, value in spec.params.items() if name != "evaluation"} | {"window": window, "aggregates": aggregates}
    return partial, spec.model_copy(update={"params": params})
