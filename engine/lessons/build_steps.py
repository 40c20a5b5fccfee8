"""Explain a case of a lesson: play its history and build the steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from engine.spec.base.problems import InvalidExperiment, Problem, Refusal, suggestion
from engine.spec.base.structure import check, refusal_problem

from .alignment import AlignedHistory
from .balancing import explained_balancing
from .balancing_document import BalancingLesson
from .changelog import explained_changelog
from .changelog_document import ChangelogLesson
from .clusters import explained_clusters
from .clusters_document import ClustersLesson
from .document import Alignment, Case, Forcing, Lesson, Lines
from .forcing import ForcedHistory
from .forwarding import explained_forwarding
from .forwarding_document import ForwardingLesson
from .history import History
from .lines import steps_of_lines
from .local_store import explained_store
from .local_store_document import StoreLesson
from .multi_join import explained_multi_join
from .multi_join_document import MultiJoinLesson
from .output_log import explained_output_log
from .output_log_document import OutputLogLesson
from .rollback import steps_of_rollback
from .schedule import explained_schedule
from .schedule_document import ScheduleLesson
from .similarity import explained_similarity
from .similarity_document import SimilarityLesson
from .steps import Explained
from .windows import explained_windows
from .windows_document import WindowsLesson

OfJoins = SimilarityLesson | ClustersLesson | BalancingLesson | MultiJoinLesson
OfChangelogs = ChangelogLesson | StoreLesson | OutputLogLesson
AnyLesson = Lesson | ScheduleLesson | WindowsLesson | ForwardingLesson | OfJoins | OfChangelogs
KINDS: dict[str, type[Any]] = {
    "history": Lesson,
    "schedule": ScheduleLesson,
    "windows": WindowsLesson,
    "forwarding": ForwardingLesson,
    "similarity": SimilarityLesson,
    "clusters": ClustersLesson,
    "balancing": BalancingLesson,
    "changelog": ChangelogLesson,
    "local_store": StoreLesson,
    "output_log": OutputLogLesson,
    "multi_join": MultiJoinLesson,
}
EXPLAINED: dict[type[Any], Callable[..., Explained]] = {
    ScheduleLesson: explained_schedule,
    WindowsLesson: explained_windows,
    ForwardingLesson: explained_forwarding,
    SimilarityLesson: explained_similarity,
    ClustersLesson: explained_clusters,
    BalancingLesson: explained_balancing,
    ChangelogLesson: explained_changelog,
    StoreLesson: explained_store,
    OutputLogLesson: explained_output_log,
    MultiJoinLesson: explained_multi_join,
}
"""What explains a case of a lesson, by its kind; all others are histories."""

Played = TypeVar("Played", bound=History)


def examine_lesson(document: Any) -> tuple[AnyLesson | None, list[Problem]]:
    """Return the lesson (None if invalid) and its problems: in its structure, its names, or an impossible history."""
    kind = document.get("kind", "history") if isinstance(document, Mapping) else "history"
    if kind not in KINDS:
        message = f"kind is '{kind}'; it must be one of {', '.join(KINDS)}"
        return None, [Problem("/kind", "unknown_kind", message, kind, suggestion(str(kind), KINDS))]
    lesson: AnyLesson | None
    lesson, problems = check(KINDS[kind], document)
    if lesson is None:
        return None, problems
    try:
        for case in lesson.cases:
            explained(lesson, case)
    except Refusal as refusal:
        return None, [refusal_problem(refusal, ())]
    return lesson, []


def lesson_of(document: Any) -> AnyLesson:
    """Return the lesson. Raises InvalidExperiment with all problems."""
    lesson, problems = examine_lesson(document)
    if lesson is None:
        raise InvalidExperiment(problems)
    return lesson


def explained(lesson: AnyLesson, case: Any) -> Explained:
    """Explain a case of the lesson. Raises Refusal, with the place in the lesson, for an impossible one."""
    tell = EXPLAINED.get(type(lesson))
    if tell is not None:
        return tell(lesson, case)
    assert isinstance(lesson, Lesson)
    return _explained_history(lesson, case)


def _explained_history(lesson: Lesson, case: Case) -> Explained:
    shows = case.shows
    history: History
    if isinstance(shows, Alignment):
        history = played(AlignedHistory(lesson, case), lesson, case)
        steps = history.finished()
    elif isinstance(shows, Forcing):
        history = played(ForcedHistory(lesson, case, shows), lesson, case)
        steps = history.finished()
    else:
        history = played(History(lesson, case), lesson, case)
        at = ("cases", lesson.cases.index(case))
        steps = steps_of_lines(history, shows, case, at) if isinstance(shows, Lines) else steps_of_rollback(history)
    return Explained(name=case.name, text=case.text, shows=shows.kind, diagram=history.diagram(), steps=tuple(steps))


def played(history: Played, lesson: Lesson, case: Case) -> Played:
    names: set[str] = set()
    for at, act in lesson.acts(case):
        history.play(act, at)
        if act.as_ in names:
            raise Refusal(f"checkpoint '{act.as_}' occurs twice; give each its own name", at=(*at, "as"), code="twice", value=act.as_)
        names |= {act.as_} if act.as_ else set()
    return history
