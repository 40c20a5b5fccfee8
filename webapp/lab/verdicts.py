"""Verdicts on the assertions of runs, as stored and served. Workers judge runs that reach their end (`engine.assertions`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine import spec
from engine.spec.experiment.assertion import Assertion, State, not_judged

from .models import Run, RunState

UNJUDGED: State = "cannot be judged"


def before_its_end(experiment: spec.Experiment) -> str:
    """What `Run.judged` is until a worker has judged the run. It stays so if the run never reaches its end."""
    return UNJUDGED if experiment.assertions else ""


def assertions_in(document: dict[str, Any]) -> tuple[Assertion, ...]:
    return tuple(Assertion.model_validate(one) for one in document.get("assertions", ()))


def verdicts_of(run: Run) -> list[dict[str, Any]]:
    """Return the verdicts on a run that has ended; empty without assertions, and before its end."""
    if run.active or not run.judged:
        return []
    if run.verdicts is not None:
        verdicts: list[dict[str, Any]] = run.verdicts
        return verdicts
    reason = "the run was cancelled" if run.state == RunState.CANCELLED else f"the run failed: {run.error}"
    return [verdict.as_dict() for verdict in not_judged(assertions_in(run.document), reason)]


def counted(names: Iterable[str], runs: Iterable[list[dict[str, Any]] | None]) -> list[dict[str, Any]]:
    """Count, for each assertion, the runs in which it holds, fails and cannot be judged. runs: their verdicts, None for a run without."""
    states = [{verdict["name"]: verdict["state"] for verdict in verdicts or ()} for verdicts in runs]
    return [
        {
            "name": name,
            "holds": sum(one.get(name) == "holds" for one in states),
            "fails": sum(one.get(name) == "fails" for one in states),
            "not_judged": sum(one.get(name, UNJUDGED) == UNJUDGED for one in states),
        }
        for name in names
    ]
