"""Engines as profiles: what a streaming engine adds to a drawn query and changes in it (docs/engines.md). Each has a file of its name.

The module of a kind has `profile(about, experiment)`, which returns the experiment as that engine executes it. If the kind `acts`, it also
has `controls(about, executed)`, which returns what acts while a run executes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from pydantic import ValidationError

from engine.core.control.policy import Control
from engine.core.world import World
from engine.spec.base.family import implementation
from engine.spec.experiment.engines.none import NoEngine
from engine.spec.experiment.experiment import Experiment


class EngineControl(Control, Protocol):
    """What an engine does while a run executes. Live frames and summaries show it under `engine`."""

    def holds(self, world: World) -> bool:
        """Whether something is held back that it will release, so that the run has not ended."""
        ...

    def frame(self, since_ns: int, now_ns: int) -> dict[str, Any]:
        """By name, as JSON values, for the live frame of this time."""
        ...

    def summary(self, since_ns: int, now_ns: int) -> dict[str, Any]: ...


def under_engine(experiment: Experiment) -> Experiment:
    """A valid experiment as its engine executes it, with the engine's own operators and hosts. It has another hash. Without an engine it is
    the experiment itself."""
    about = experiment.policies.engine
    if isinstance(about, NoEngine):
        return experiment
    priced = experiment.model_copy(update={"prices": experiment.price_list})
    executed: Experiment = implementation(type(about), __name__, "profile")(about, priced)
    return executed


def controls(executed: Experiment) -> list[EngineControl]:
    """The engine's own. executed: the experiment with all operators of the run, in their order."""
    about = executed.policies.engine
    return list(implementation(type(about), __name__, "controls")(about, executed)) if about.acts else []


def executed(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """A document as its engine executes it; None without an engine, or if the document is not valid any more."""
    written = (document.get("policies") or {}).get("engine") or {}
    if written.get("kind", "none") == "none":
        return None
    try:
        return under_engine(Experiment.model_validate(document)).model_dump(mode="json", by_alias=True)
    except (ValidationError, LookupError):
        return None
