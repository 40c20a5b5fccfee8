"""Sets up the scaling of a run from its document: metric service, decision loop and reports, and the true load for the oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from engine.autoscaling.known_load import Truth, by_minute, mean_rate
from engine.autoscaling.loop import AutoscalingLoop, limits_of, times_of
from engine.autoscaling.parts import graph_of, limits, parts_of
from engine.autoscaling.policy import exact
from engine.autoscaling.schedule import Schedule
from engine.autoscaling.scrapes import Scraped, Scrapes
from engine.autoscaling.telemetry import Samples, Topics, Watch, retention_of
from engine.core.control.policy import Control
from engine.lowering.prices import record_ns
from engine.operators import OPERATORS
from engine.prices import DEGREE, PRICE_LISTS
from engine.relocation.loop import MonitorLoop
from engine.spec import Experiment, RecordSchema
from engine.spec.base.family import implementation
from engine.spec.base.units import seconds_ns
from engine.spec.experiment.scaling.base import Rearranging, Scaling
from engine.spec.experiment.scaling.looped import Looped
from engine.spec.experiment.scaling.online_monitor import OnlineMonitor
from engine.spec.rules.max_layout import begun_with, greatest, laid_out, scaling_limits_of
from engine.spec.rules.scale import weights
from engine.spec.rules.validation import Context, placement_of, schemas
from engine.workloads.rates import curve_of

Plan = list[tuple[int, dict[str, int]]]
"""Orders known in advance: (time, parallelism by operator)."""


def beginning(experiment: Experiment, datasets: Any) -> tuple[Experiment, Plan]:
    """The experiment with its initial parallelisms, and the orders known before the run. datasets: lookup by name, for rates from files."""
    about = experiment.policies.scaling
    if not (isinstance(about, Scaling) and about.plans_ahead):
        return experiment, []
    first, orders = implementation(type(about), "engine.autoscaling", "plan")(about, truth_of(experiment, about, datasets))
    whole = {limit.operators[0]: limit.operators for limit in scaling_limits_of(experiment)}

    def by_operator(parallelism: Mapping[str, int]) -> dict[str, int]:
        return {id: p for vertex, p in parallelism.items() for id in whole[vertex]}

    return begun_with(experiment, by_operator(first)), [(at_ns, by_operator(wanted)) for at_ns, wanted in orders]


def truth_of(experiment: Experiment, about: Scaling, datasets: Any) -> Truth:
    """The future load and the capacity of instances: prices on the slowest of their hosts, with stolen time, without cost variation."""
    scaling_limits, horizon_ns = scaling_limits_of(experiment), experiment.workload.horizon_ns
    curves = [curve_of(source.rate, horizon_ns, datasets) for source in experiment.workload.sources.values()]
    shares = {id: exact(share) for id, share in (about.known_shares or {}).items()}
    service_ns = _service_ns(experiment, shares, schemas(experiment, Context(datasets=datasets)))
    spare = exact(about.spare_capacity)
    slowest = {
        limit.operators[0]: max(limit.operators, key=lambda id: (service_ns[id] * shares[id], shares[id])) for limit in scaling_limits
    }
    return Truth(
        rates_per_s=by_minute(curves, horizon_ns),
        mean_per_s=mean_rate(curves, horizon_ns),
        horizon_ns=horizon_ns,
        capacity_per_s={vertex: 10**9 / service_ns[id] / spare for vertex, id in slowest.items()},
        per_input={vertex: shares[id] for vertex, id in slowest.items()},
        parts={limit.operators[0]: limit.parts for limit in scaling_limits},
        bounds={vertex: limit._replace(most=min(limit.most, about.workers_max)) for vertex, limit in limits(scaling_limits).items()},
        workers_max=about.workers_max,
    )


def _service_ns(experiment: Experiment, shares: Mapping[str, Fraction], full: Mapping[str, RecordSchema]) -> dict[str, Fraction]:
    """Service time of a real record by operator, in ns. The number of outputs is derived from the receivers' shares, where known."""
    query, hosts = experiment.query, experiment.expanded_hosts()
    weight_of = weights(
        experiment.workload.scale, query.operators, {spec.id: OPERATORS[spec.kind] for spec in query.operators}, query.edges
    )
    larger = placement_of(laid_out(experiment, greatest(experiment)))
    found = {}
    for spec in query.operators:
        speed_milli = min(hosts[h].speed_milli for h in larger[spec.id])
        weight, weight_out = weight_of[spec.id]
        ns = Fraction(record_ns(experiment, spec, full, weight, speed_milli), weight)
        price, own = PRICE_LISTS[experiment.prices].price(spec.kind, OPERATORS[spec.kind].priced_as), spec.cost
        output_ps = price.output_ps if own is None or own.output_ps is None else own.output_ps
        alone = [edge.target for edge in query.edges if edge.source == spec.id and sum(e.target == edge.target for e in query.edges) == 1]
        outputs = sum((shares[id] for id in alone), Fraction(0)) / shares[spec.id] if shares[spec.id] else Fraction(0)
        attainable = Fraction(1) if own is None else exact(own.attainable)
        of_one_ps = output_ps * weight_out ** DEGREE["output_ps"] / Fraction(weight_out)
        found[spec.id] = max(ns + outputs * of_one_ps / speed_milli / attainable, Fraction(1, 10**6))
    return found


@dataclass
class Scaled:
    """The parts that scale a run. controls: in the order in which they act. watch: source of the scaling reports in frames and summary."""

    controls: list[Control]
    watch: Watch


def scaled_by(experiment: Experiment, begun: Experiment, plan: Plan, job: Any, worker: Any, others: Sequence[Control]) -> Scaled:
    """The scaling of a run with job manager `job` and `worker` on its machines. begun: the experiment with its initial parallelisms.
    others: the run's other controls."""
    about, scaling_limits = begun.policies.scaling, scaling_limits_of(begun)
    assert isinstance(about, Rearranging)
    horizon_ns, end_ns = experiment.workload.horizon_ns, experiment.workload.end_ns
    numbers = {spec.id: n for n, spec in enumerate(experiment.query.operators) if spec.id in experiment.workload.sources}
    topics = Topics(numbers, retention_of(others))
    worker.topics = topics
    samples = Samples(topics, job, end_ns)
    controls: list[Control] = []
    loop: AutoscalingLoop | MonitorLoop | None = None
    if isinstance(about, OnlineMonitor):
        loop = MonitorLoop(experiment, about, job)
        controls.append(loop)
    if isinstance(about, Looped):
        metrics = Scraped(graph_of(experiment, scaling_limits), job, seconds_ns(about.history_s))
        vertices = {limit.operators[0]: limit.operators for limit in scaling_limits}
        policy = implementation(type(about), "engine.autoscaling", "policy")(about)
        loop = AutoscalingLoop(policy, metrics, job, times_of(about, horizon_ns), limits_of(about, limits(scaling_limits), vertices))
        controls += [Scrapes(metrics, job, parts_of(experiment, scaling_limits), about.metrics, horizon_ns), loop]
    if plan:
        controls.append(Schedule(plan, job))
    started_with = {spec.id: spec.parallelism for spec in begun.query.operators}
    at_s = [order.at_s for order in (about.orders if isinstance(about, Scaling) else getattr(about, "moves", ()))]
    orders_ns = [*map(seconds_ns, at_s), *(at_ns for at_ns, _ in plan)]
    return Scaled([*controls, samples], Watch(experiment, job, worker, loop, samples, topics, started_with, orders_ns))
