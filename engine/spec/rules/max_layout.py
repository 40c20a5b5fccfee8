"""The experiment as it is laid out: with so many instances as each operator may ever have (docs/autoscaling.md, section 2)."""

from __future__ import annotations

from collections.abc import Mapping

from ..experiment import registry
from ..experiment.experiment import Experiment
from ..experiment.placement.explicit import Explicit
from ..experiment.scaling.none import NoScaling
from .scaling_limits import ScalingLimit, partitions_of, reach, scaling_limits
from .validation import placement_of


def scaling_limits_of(experiment: Experiment) -> list[ScalingLimit]:
    """How far each vertex of a sound experiment may be scaled, in the document's order."""
    kinds = {spec.id: registry.operator(spec.kind) for spec in experiment.query.operators}
    return scaling_limits(experiment.policies.scaling, experiment.query, kinds, experiment.workload)


def greatest(experiment: Experiment) -> dict[str, int]:
    """The most instances that an operator may have in this run, by the id of each whose parallelism may change."""
    scaling = experiment.policies.scaling
    return {} if isinstance(scaling, NoScaling) else reach(scaling, scaling_limits_of(experiment))


def partitions(experiment: Experiment, source_id: str) -> int:
    """How many logs the records of a source are spread over."""
    scaling, written = experiment.policies.scaling, experiment.workload.sources[source_id].partitions
    stays = isinstance(scaling, NoScaling) or any(limit.stays for limit in scaling_limits_of(experiment) if source_id in limit.operators)
    return partitions_of(scaling, written, experiment.operator(source_id).parallelism, stays)


def begun_with(experiment: Experiment, parallelism: Mapping[str, int]) -> Experiment:
    """The experiment as if it had these parallelisms, by operator; those that are not named stay. Its partitions stay as many."""
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
    """A sound experiment with the parallelisms `most`, by operator; those that are not named stay.

    Each operator's first instances stand where the experiment has them, the others where the placement puts so many. Partitions stay as
    many as they were. With nothing named it is the experiment itself. What it is called by, its hash, is still the experiment's.
    """
    if not most:
        return experiment
    larger = begun_with(experiment, most)
    names = [host.name for host in experiment.expanded_hosts()]
    before, after = placement_of(experiment), placement_of(larger)
    hosts = {id: tuple(names[h] for h in [*first, *after[id][len(first) :]]) for id, first in before.items()}
    return larger.model_copy(update={"placement": Explicit(hosts=hosts)})
