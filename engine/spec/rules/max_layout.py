"""The experiment laid out with each operator at its highest possible parallelism (docs/autoscaling.md, section 2)."""

from __future__ import annotations

from collections.abc import Mapping

from ..experiment import registry
from ..experiment.experiment import Experiment
from ..experiment.partitionings.rebalance import Rebalance
from ..experiment.placement.explicit import Explicit
from ..experiment.scaling.base import Scaling
from ..experiment.scaling.moving import Moving
from .scaling_limits import ScalingLimit, partitions_of, reach, scaling_limits
from .validation import placement_of


def scaling_limits_of(experiment: Experiment) -> list[ScalingLimit]:
    """Scaling limits of each vertex of a valid experiment, in document order."""
    kinds = {spec.id: registry.operator(spec.kind) for spec in experiment.query.operators}
    return scaling_limits(experiment.policies.scaling, experiment.query, kinds, experiment.workload)


def greatest(experiment: Experiment) -> dict[str, int]:
    """Number of instances to lay out, by id of each operator whose active instances may change: the highest possible parallelism, or one
    instance for each host where operators move."""
    scaling = experiment.policies.scaling
    if isinstance(scaling, Moving):
        return {spec.id: len(experiment.expanded_hosts()) for spec in experiment.query.operators}
    return reach(scaling, scaling_limits_of(experiment)) if isinstance(scaling, Scaling) else {}


def begins(experiment: Experiment) -> dict[str, int]:
    """Index of the only active instance of each operator at the start of a run in which operators move: the number of its host. Empty for
    other runs, whose first instances are active."""
    if not isinstance(experiment.policies.scaling, Moving):
        return {}
    return {id: hosts[0] for id, hosts in placement_of(experiment).items()}


def partitions(experiment: Experiment, source_id: str) -> int:
    """Number of log partitions of a source."""
    scaling, written = experiment.policies.scaling, experiment.workload.sources[source_id].partitions
    stays = not isinstance(scaling, Scaling) or any(limit.stays for limit in scaling_limits_of(experiment) if source_id in limit.operators)
    return partitions_of(scaling, written, experiment.operator(source_id).parallelism, stays)


def begun_with(experiment: Experiment, parallelism: Mapping[str, int]) -> Experiment:
    """The experiment with these parallelisms by operator; other operators keep theirs. The numbers of partitions stay the same."""
    operators = tuple(
        spec.model_copy(update={"parallelism": parallelism.get(spec.id, spec.parallelism)}) for spec in experiment.query.operators
    )
    sources = {
        id: source.model_copy(update={"partitions": partitions(experiment, id)}) for id, source in experiment.workload.sources.items()
    }
    return experiment.model_copy(
        update={
            "query": experiment.query.model_copy(update={"operators": operators}),
            "workload": experiment.workload.model_copy(update={"sources": sources}),
        }
    )


def laid_out(experiment: Experiment, most: Mapping[str, int]) -> Experiment:
    """A valid experiment with the parallelisms `most` by operator; other operators keep theirs.

    Each operator's original instances keep their hosts; the others are placed as for the higher parallelism. The numbers of partitions stay
    the same. With an empty `most`, the experiment itself is returned. The result is still identified by the original experiment's hash.
    """
    if not most:
        return experiment
    larger = begun_with(experiment, most)
    names = [host.name for host in experiment.expanded_hosts()]
    if isinstance(experiment.policies.scaling, Moving):
        return _on_every_host(larger, tuple(names))
    before, after = placement_of(experiment), placement_of(larger)
    hosts = {id: tuple(names[h] for h in [*first, *after[id][len(first) :]]) for id, first in before.items()}
    return larger.model_copy(update={"placement": Explicit(hosts=hosts)})


def _on_every_host(larger: Experiment, names: tuple[str, ...]) -> Experiment:
    """The instance with index k of each operator is on host k. Only one is active, so forward edges may lead to another index."""
    edges = tuple(
        edge.model_copy(update={"partitioning": Rebalance()}) if edge.partitioning.one_to_one else edge for edge in larger.query.edges
    )
    placement = Explicit(hosts={spec.id: names for spec in larger.query.operators})
    return larger.model_copy(update={"query": larger.query.model_copy(update={"edges": edges}), "placement": placement})
