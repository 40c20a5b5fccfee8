"""Where the operators of a run keep their state besides memory: the control that keeps it, and what frames say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engine.core.world import World
from engine.spec import Experiment, RecordSchema
from engine.spec.experiment.states.active_standby import ActiveStandby
from engine.spec.experiment.states.base import Changelog
from engine.spec.experiment.states.replayed import ReplayedState

from .output_log_telemetry import OutputLogWatch
from .output_logs import OutputLogs
from .standbys import Standbys, StandbyWatch
from .stores import Stores
from .telemetry import StateWatch

Kept = Stores | OutputLogs | Standbys
KeptWatch = StateWatch | OutputLogWatch | StandbyWatch


def kept_state(experiment: Experiment, world: World, schemas: Mapping[str, RecordSchema], texts: Callable[[], list[str]]) -> Kept | None:
    """What keeps the state of a run, None if operators have it in memory alone. schemas: by "operator.port". texts: of the codes of string
    keys."""
    state = experiment.policies.state
    if isinstance(state, Changelog):
        return Stores(experiment, world, schemas, texts)
    if isinstance(state, ActiveStandby):
        return Standbys(experiment, world)
    return OutputLogs(experiment, world, schemas) if isinstance(state, ReplayedState) else None


def watch_of(kept: Kept | None, world: World, hosts: Sequence[str]) -> KeptWatch | None:
    """hosts: names of all."""
    if kept is None:
        return None
    if isinstance(kept, Standbys):
        return StandbyWatch(kept, hosts)
    return StateWatch(kept, world, hosts) if isinstance(kept, Stores) else OutputLogWatch(kept, hosts)


def features(experiment: Experiment) -> Sequence[str]:
    """Features of the loop that the document's state needs."""
    state = experiment.policies.state
    if isinstance(state, Changelog):
        return ("changes", "background", "counting")
    if isinstance(state, ReplayedState):
        replays = any(fault.loses_host for fault in experiment.faults)
        return ("changes", "background", "counting", *(("logging",) if replays else ()))
    if isinstance(state, ActiveStandby):
        return ("counting", "holding", "logging", "losses")
    return ()
