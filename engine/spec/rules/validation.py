"""Validation of experiment documents. It reports all problems, not only the first."""

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
from ..experiment.engines.base import Engine
from ..experiment.experiment import Experiment
from ..experiment.workload import SourceWorkload, Workload
from .assertions import assertion_problems
from .balancing import balancing_problems
from .draft import Draft, attempt, items, section
from .flow import Datasets, Flow
from .graph import graph_problems
from .memory import memory_problems
from .moving import moving_problems
from .nexmark import nexmark_warnings
from .queries import query_problems
from .resources import Budgets, Placing, placed, resource_problems
from .scaling import scaling_problems
from .scheduling import scheduling_problems
from .similarity import similarity_problems
from .states import commit_problems, state_problems
from .watermarks import watermark_warnings

PROBLEMS_MAX = 1000
"""Problems beyond this number are cut off; a document of one megabyte can have fifty thousand."""


def _no_datasets(name: str) -> None:
    return None


@dataclass(frozen=True)
class Context:
    """Information that validation needs beyond the document.

    datasets: facts about an uploaded data set by name, or None. budgets: limits of a run.
    """

    datasets: Datasets = _no_datasets
    budgets: Budgets = field(default_factory=Budgets)


@dataclass(frozen=True)
class Findings:
    """The result of validation.

    problems: errors and warnings. experiment: None if there is an error. schemas: by "operator id.port", as far as known.
    placement: host names by operator id, one per instance, if known. event_zero_ns: calendar time of event time 0, in ns since 1970, if
    sources read data sets.
    """

    problems: list[Problem]
    experiment: Experiment | None = None
    schemas: dict[str, RecordSchema] = field(default_factory=dict)
    placement: dict[str, list[str]] = field(default_factory=dict)
    event_zero_ns: int | None = None


def examine(document: Any, context: Context | None = None) -> Findings:
    """Validate a document. Returns all problems, and everything known in spite of them. Pointers refer to the upgraded document."""
    registry.load_packages()  # documents may use kinds of other packages
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
    rest = [
        *graph_problems(draft),
        *query_problems(draft),
        *flow.problems,
        *placing.problems,
        *resource_problems(draft, context.datasets, budgets),
    ]
    rest += draft.checkpointing.problems(draft) if draft.checkpointing is not None else ()
    rest += draft.engine.problems(draft) if isinstance(draft.engine, Engine) else ()
    rest += similarity_problems(draft, flow.params)
    rest += balancing_problems(draft, flow.params)
    rest += scaling_problems(draft)
    rest += moving_problems(draft)
    rest += scheduling_problems(draft, flow.params, placing.indices, budgets.scheduling_cycles_max)
    rest += state_problems(draft, flow.params, placing.indices)
    rest += commit_problems(draft)
    rest += memory_problems(draft, flow.schemas, placing.laid_out)
    problems += [problem for problem in rest if problem.pointer not in reported]
    if not problems:  # as long as something is wrong or missing, nobody expects output
        problems += watermark_warnings(draft, flow.params)
        problems += nexmark_warnings(draft, context.datasets)
    problems += assertion_problems(experiment) if experiment is not None else ()
    names = [host.name for host in draft.hosts or ()]
    return Findings(
        problems=_cut(problems),
        experiment=None if any(problem.severity == "error" for problem in problems) else experiment,
        schemas=flow.schemas,
        placement={id: [names[index] for index in indices] for id, indices in (placing.indices or {}).items()},
        event_zero_ns=flow.event_zero_ns,
    )


def validate(document: Any, context: Context | None = None) -> list[Problem]:
    """All problems of a document; empty if it is valid."""
    return examine(document, context).problems


def load(document: Mapping[str, Any] | str | bytes | Path, context: Context | None = None) -> Experiment:
    """Load an experiment from a mapping, a file or a text. Raises InvalidExperiment with all problems."""
    findings = examine(document if isinstance(document, Mapping) else read_document(document), context)
    if findings.experiment is None:
        raise InvalidExperiment(findings.problems)
    return findings.experiment


def schemas(experiment: Experiment, context: Context | None = None) -> dict[str, RecordSchema]:
    """Record schemas on every port of a valid experiment, by "operator id.port"."""
    context = context or Context()
    draft = Draft(experiment.model_dump(mode="json", by_alias=True), context.budgets.hosts_max)
    return Flow(draft, context.datasets).schemas


def sound_sources(document: Any) -> tuple[Workload | None, dict[str, SourceWorkload]]:
    """The workload without its sources, and the valid sources by id, even if other parts of the document are invalid."""
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
    """Limit the number of problems and the length of each."""
    shown = [shortened(problem) for problem in problems[:PROBLEMS_MAX]]
    more = len(problems) - len(shown)
    if more:
        shown.append(Problem("", "more", f"the document has {more:,} more problems; correct the first {PROBLEMS_MAX:,}", more))
    return shown
