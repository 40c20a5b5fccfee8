"""Sets up the scheduling of a run from its document."""

from __future__ import annotations

from functools import partial

from engine.core.tables import Arrays
from engine.scheduling.cycle import Scheduler, Stretch
from engine.scheduling.tasks import tasks_of_hosts
from engine.spec import Experiment
from engine.spec.base.family import implementation
from engine.spec.base.units import seconds_ns
from engine.spec.base.variant import Variant
from engine.spec.experiment.scheduling.base import Scheduling
from engine.spec.experiment.scheduling.default import FairThreads
from engine.spec.experiment.scheduling.switched import SwitchedScheduling

RANKING = (Scheduling, SwitchedScheduling)
"""Kinds for which a control ranks instances."""


def features(experiment: Experiment) -> tuple[str, ...]:
    """Features of the loop that the document's scheduling needs."""
    return Scheduler.features if isinstance(experiment.policies.scheduling, RANKING) else ()


def epochs_kept(experiment: Experiment) -> int:
    about = experiment.policies.scheduling
    return about.epochs_kept if isinstance(about, RANKING) else 0


def scheduler_of(experiment: Experiment, w: Arrays) -> Scheduler | None:
    """The control that schedules a run, None if its cores serve what has waited longest. experiment: with all copies written out."""
    about = experiment.policies.scheduling
    if not isinstance(about, RANKING):
        return None
    return Scheduler(tasks_of_hosts(experiment, w), _stretches(about), about.epochs_kept, experiment.workload.end_ns)


def _stretches(about: Variant) -> list[Stretch]:
    """The policies, by the time from which they are in force."""
    if isinstance(about, SwitchedScheduling):
        at_ns = seconds_ns(about.at_s)
        before = [stretch for stretch in _stretches(about.before) if stretch.from_ns < at_ns]
        after = _stretches(about.after)
        present = max(k for k, stretch in enumerate(after) if stretch.from_ns <= at_ns)
        return [*before, after[present]._replace(from_ns=at_ns), *after[present + 1 :]]
    if not isinstance(about, Scheduling):
        return [Stretch(0, None, None, isinstance(about, FairThreads))]
    return [Stretch(0, about, partial(implementation(type(about), "engine.scheduling", "policy"), about))]
