"""The experiment as it is laid out: with so many instances as each operator may ever have (docs/autoscaling.md, section 2)."""

from __future__ import annotations

from collections.abc import Mapping

from .cluster import Explicit
from .experiment import Experiment
from .validation import placement_of


def greatest(experiment: Experiment) -> dict[str, int]:
    """The most instances that an operator may have in this run, by the id of each whose parallelism may change."""
    return {}  # nothing in a document changes it yet


def partitions(experiment: Experiment, source_id: str) -> int:
    """How many logs the records of a source are spread over."""
    written = experiment.workload.sources[source_id].partitions
    return experiment.operator(source_id).parallelism if written is None else written


def laid_out(experiment: Experiment, most: Mapping[str, int]) -> Experiment:
    """A sound experiment with the parallelisms `most`, by operator; those that are not named stay.

    Each operator's first instances stand where the experiment has them, the others where the placement puts so many. Partitions stay as
    many as they were. With nothing named it is the experiment itself. What it is called by, its hash, is still the experiment's.
    """
    if not most:
        return experiment
    operators = tuple(spec.model_copy(update={"parallelism": most.get(spec.id, spec.parallelism)}) for spec in experiment.query.operators)
    sources = {
        id: source.model_copy(update={"partitions": partitions(experiment, id)}) for id, source in experiment.workload.sources.items()
    }
    larger = experiment.model_copy(
        update={
            "query": experiment.query.model_copy(update={"operators": operators}),
            "workload": experiment.workload.model_copy(update={"sources": sources}),
        }
    )
    names = [host.name for host in experiment.expanded_hosts()]
    before, after = placement_of(experiment), placement_of(larger)
    hosts = {id: tuple(names[h] for h in [*first, *after[id][len(first) :]]) for id, first in before.items()}
    return larger.model_copy(update={"placement": Explicit(hosts=hosts)})
