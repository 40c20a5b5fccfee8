"""Optimisation: evaluation of trials, and choice of the next points.

The choice of trial n is a pure function of the study and of the trials before it: their results up to number n - at_once, and only their
points for the later ones. So `at_once` trials run in parallel, and the choices depend neither on which of them ends first nor on what has
ended in the meantime. After a crash, a choice is repeated from the trials' rows alone, without replaying a sampler. The price is that
each window waits for its slowest trial.

Sources: Bergstra 2011, "Algorithms for hyper-parameter optimization" (TPE); Optuna (Akiba 2019), whose TPESampler chooses. A trial in
progress counts as bad for its neighbourhood ("constant liar"), so that parallel trials spread out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.random import RandomStream
from engine.spec.study.optimisation import Bound, Objective, Optimise
from engine.spec.study.study import Axis, Between, Study, Values, rounded

from .measured import Measured

if TYPE_CHECKING:
    import optuna

WORST = 1e100
"""Bound violation assigned to points without values, so that they rank below all others."""

STARTUP = 10
"""Minimum number of random trials before the sampler learns from them; at least `at_once`."""


@dataclass(frozen=True)
class Tried:
    """A trial over all seeds. objectives, bounds: values in document order; None if a run did not measure it, or while a run is in
    progress.
    ended: all its runs have ended. failure: why it has no valid values."""

    number: int
    values: Values
    ended: bool = False
    objectives: tuple[float | None, ...] = ()
    bounds: tuple[float | None, ...] = ()
    failure: str = ""

    def feasible(self, design: Optimise) -> bool:
        """Return whether the trial has ended, has all values, and satisfies all bounds."""
        complete = self.ended and not self.failure
        return complete and all(bound.misses_by(value or 0.0) <= 0 for bound, value in zip(design.bounds, self.bounds, strict=True))


def tried(study: Study, number: int, values: Values, measured: Mapping[int, Measured]) -> Tried:
    """Return the result of a trial. measured: by seed, for runs that have ended."""
    design = design_of(study)
    if any(seed not in measured for seed in study.seeds):
        return Tried(number, values)
    of_seeds = [measured[seed] for seed in study.seeds]
    unmade = next((f"seed {seed}: {of.failure or of.broken}" for seed, of in measured.items() if of.failure or of.broken), "")

    def over_seeds(sought: Objective | Bound) -> float | None:
        if sought.metric in values:
            return float(values[sought.metric])
        found = [of.metrics[sought.metric] for of in of_seeds if sought.metric in of.metrics]
        if len(found) < len(of_seeds):
            return None
        worst = max(sought.sign * value for value in found) * sought.sign
        return worst if sought.over_seeds == "worst" else math.fsum(found) / len(found)

    objectives = tuple(over_seeds(objective) for objective in design.objectives)
    bounds = tuple(over_seeds(bound) for bound in design.bounds)
    sought = zip((*design.objectives, *design.bounds), (*objectives, *bounds), strict=True)
    lacking = next((f"a run did not measure {one.metric}" for one, value in sought if value is None), "")
    return Tried(number, values, True, objectives, bounds, unmade or lacking)


def best(design: Optimise, trials: Sequence[Tried]) -> list[int]:
    """Return the numbers of the best feasible trials: with one objective the first of the best, with several the Pareto front."""
    costs = {
        trial.number: tuple(o.sign * (value or 0.0) for o, value in zip(design.objectives, trial.objectives, strict=True))
        for trial in trials
        if trial.feasible(design)
    }
    if len(design.objectives) == 1:
        return [min(costs, key=lambda number: (costs[number], number))] if costs else []
    front: dict[tuple[float, ...], None] = {}
    for cost in sorted(set(costs.values())):  # a trial that dominates it comes earlier, and is in the front or dominated by it
        if not any(_beats(other, cost) for other in front):
            front[cost] = None
    return [number for number, cost in costs.items() if cost in front]


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def may_ask(design: Optimise, trials: Sequence[Tried]) -> bool:
    """Return whether the next trial can be chosen: trials are left, and all trials it depends on have ended. trials: all earlier ones."""
    number = len(trials)
    return number < design.trials and all(trial.ended for trial in trials[: max(0, number + 1 - design.at_once)])


def ask(study: Study, trials: Sequence[Tried]) -> Values:
    """Return the point of the next trial. trials: all earlier ones, in order."""
    design, number = design_of(study), len(trials)
    if design.sampler == "random" or number < max(STARTUP, design.at_once):
        return study.drawn_point(number)
    return _by_tpe(study, design, trials, number)


def design_of(study: Study) -> Optimise:
    assert isinstance(study.design, Optimise)
    return study.design


# Calls of Optuna. Imported on first use, since that takes a second and the web process never needs it.


def _by_tpe(study: Study, design: Optimise, trials: Sequence[Tried], number: int) -> Values:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    word = int(RandomStream(design.seed, "study", "optimise").words(np.array([number]))[0])
    sampler = optuna.samplers.TPESampler(n_startup_trials=0, constant_liar=True, seed=word % 2**32)
    told = optuna.create_study(
        directions=["minimize" if objective.sign > 0 else "maximize" for objective in design.objectives], sampler=sampler
    )
    space = {axis.name: _distribution(axis) for axis in study.axes}
    known = number + 1 - design.at_once
    told.add_trials(_told(trial, design, study.axes, space, is_known=trial.number < known) for trial in trials)
    asked = told.ask(space).params
    return {axis.name: _value(axis, asked[axis.name]) for axis in study.axes}


def _told(trial: Tried, design: Optimise, axes: Sequence[Axis], space: dict[str, Any], *, is_known: bool) -> optuna.trial.FrozenTrial:
    from optuna.trial import TrialState, create_trial

    params = {axis.name: _param(axis, trial.values[axis.name]) for axis in axes}
    if not is_known:
        return create_trial(state=TrialState.RUNNING, params=params, distributions=space)
    if trial.failure:
        return create_trial(state=TrialState.PRUNED, params=params, distributions=space, constraints={"value": WORST})
    missed = {
        str(n): bound.misses_by(value or 0.0) / (abs(bound.limit) or 1.0)
        for n, (bound, value) in enumerate(zip(design.bounds, trial.bounds, strict=True))
    }
    return create_trial(values=[value or 0.0 for value in trial.objectives], params=params, distributions=space, constraints=missed)


def _distribution(axis: Axis) -> optuna.distributions.BaseDistribution:
    """Return Optuna's distribution of an axis: numeric for numbers, by position for monotonic lists of numbers, categorical for other
    lists."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    values = axis.values
    if isinstance(values, Between):
        low, high = axis.ends
        log = values.scale == "log" and low > 0
        return IntDistribution(low, high, log=log) if values.whole else FloatDistribution(low, high, log=log)
    listed = values.listed()
    steps = [b - a for a, b in itertools.pairwise(listed)] if axis.is_numeric else []
    if steps and (min(steps) > 0 or max(steps) < 0):
        return IntDistribution(0, len(listed) - 1)
    return CategoricalDistribution(range(len(listed)))


def _param(axis: Axis, value: Any) -> Any:
    """Convert a value of an axis to Optuna's parameter."""
    if isinstance(axis.values, Between):
        return value
    listed = axis.values.listed()
    return next(n for n, one in enumerate(listed) if one == value and isinstance(one, bool) == isinstance(value, bool))


def _value(axis: Axis, param: Any) -> Any:
    if not isinstance(axis.values, Between):
        return axis.values.listed()[param]
    low, high = axis.ends
    return param if axis.values.whole else min(max(rounded(param), low), high)
