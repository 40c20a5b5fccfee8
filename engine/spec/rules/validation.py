"""Whether a document is an experiment that can run. Complete: it never stops at the first problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..base.problems import InvalidExperiment, Problem, pointer
from ..base.records import RecordSchema
from ..base.structure import check, shortened
from ..experiment import registry
from ..experiment.document import outline_problems, read_document, upgrade
from ..experiment.experiment import Experiment
from ..experiment.workload import SourceWorkload, Workload
from .draft import Draft, attempt, items, section
from .flow import Datasets, Flow
from .graph import graph_problems
from .memory import memory_problems
from .resources import Budgets, Placing, placed, resource_problems
from .scaling import scaling_problems

PROBLEMS_MAX = 1000
"""More are cut off; nobody reads them, and a megabyte can hold fifty thousand."""


def _no_datasets(name: str) -> None:
    return None


@dataclass(frozen=True)
class Context:
    """What validation must know besides the document.

    datasets: what is known of an uploaded data set, by name, or None. budgets: what a run may ask for.
    """

    datasets: Datasets = _no_datasets
    budgets: Budgets = field(default_factory=Budgets)


@dataclass(frozen=True)
class Findings:
    """Everything that validation finds out.

    problems: errors and warnings. experiment: None if there is an error. schemas: by "operator id.port", as far as they are known.
    placement: host names by operator id, one per instance, if it can be found. event_zero_ns: what 0 of event time is on the calendar, in
    ns since 1970, where sources read data sets.
    """

    problems: list[Problem]
    experiment: Experiment | None = None
    schemas: dict[str, RecordSchema] = field(default_factory=dict)
    placement: dict[str, list[str]] = field(default_factory=dict)
    event_zero_ns: int | None = None


def examine(document: Any, context: Context | None = None) -> Findings:
    """All problems of a document, and what is known of it nevertheless. Pointers lead into the document as given (after upgrades)."""
    registry.load_packages()  # documents may name their kinds
    context = context or Context()
    budgets = context.budgets
    for list_name, most in (("operators", budgets.operators_max), ("edges", budgets.edges_max)):
        count = len(items(section(document, "query", list_name)))
        if count > most:
            message = f"{list_name} has {count:,} entries, {count - most:,} above the budget; use at most {most:,}"
            return Findings([Problem(pointer("query", list_name), "budget", message, count)])
    problems = outline_problems(document)
    if any(problem.code in ("too_large", "too_deep") or not problem.pointer for problem in problems):
        return Findings(_cut(problems))
    try:
        document = upgrade(document)
    except InvalidExperiment as invalid:
        return Findings(invalid.problems)
    experiment, found = check(Experiment, document)
    reported = {problem.pointer for problem in problems}
    problems += [problem for problem in found if problem.pointer not in reported]
    draft = Draft(document, budgets.hosts_max)
    flow = Flow(draft, context.datasets)
    placing = Placing(draft, budgets)
    reported = {problem.pointer for problem in problems}
    rest = [*graph_problems(draft), *flow.problems, *placing.problems, *resource_problems(draft, context.datasets, budgets)]
    rest += draft.checkpointing.problems(draft) if draft.checkpointing is not None else ()
    rest += scaling_problems(draft)
    rest += memory_problems(draft, flow.schemas, placing.laid_out)
    problems += [problem for problem in rest if problem.pointer not in reported]
    names = [host.name for host in draft.hosts or ()]
    return Findings(
        problems=_cut(problems),
        experiment=None if any(problem.severity == "error" for problem in problems) else experiment,
        schemas=flow.schemas,
        placement={id: [names[index] for index in indices] for id, indices in (placing.indices or {}).items()},
        event_zero_ns=flow.event_zero_ns,
    )


def validate(document: Any, context: Context | None = None) -> list[Problem]:
    """All problems of a document; empty if it is sound."""
    return examine(document, context).problems


def load(document: Mapping[str, Any] | str | bytes | Path, context: Context | None = None) -> Experiment:
    """The experiment of a document (a mapping, a file, or a text). Raises InvalidExperiment with all problems."""
    findings = examine(document if isinstance(document, Mapping) else read_document(document), context)
    if findings.experiment is None:
        raise InvalidExperiment(findings.problems)
    return findings.experiment


def schemas(experiment: Experiment, context: Context | None = None) -> dict[str, RecordSchema]:
    """The records on every port of a sound experiment, by "operator id.port"."""
    context = context or Context()
    draft = Draft(experiment.model_dump(mode="json", by_alias=True), context.budgets.hosts_max)
    return Flow(draft, context.datasets).schemas


def sound_sources(document: Any) -> tuple[Workload | None, dict[str, SourceWorkload]]:
    """The workload without its sources, and the sources by id, as far as they are sound, whatever else is wrong with the document."""
    if outline_problems(document):
        return None, {}
    try:
        draft = Draft(upgrade(document), hosts_max=0)
    except InvalidExperiment:
        return None, {}
    written = section(draft.document, "workload")
    workload: Workload | None = attempt(Workload, {**written, "sources": {}}) if isinstance(written, dict) else None
    return workload, draft.sources


def placement_of(experiment: Experiment) -> dict[str, list[int]]:
    """Host indices by operator id, one per instance."""
    return placed(experiment.placement, experiment.query.operators, experiment.expanded_hosts())


def _cut(problems: list[Problem]) -> list[Problem]:
    """The problems as they are shown: not too many, and none too long."""
    shown = [shortened(problem) for problem in problems[:PROBLEMS_MAX]]
    more = len(problems) - len(shown)
    if more:
        shown.append(Problem("", "more", f"the document has {more:,} more problems; correct the first {PROBLEMS_MAX:,}", more))
    return shown
