"""Evaluation of a figure's assertions, computed from its runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from engine.assertions.evaluation import NotEvaluated, Side, evaluate
from engine.assertions.series import Series, Value
from engine.prices import version_of
from engine.spec.expressions.assertions import Expression
from engine.spec.figure.evaluations import Evaluator
from engine.spec.figure.figure import Assertion, Experiments, Figure, OfRecords, Scale, evaluation_at, price_lists, study_at
from engine.spec.rules.validation import Context
from engine.spec.study.study import load_study

from .execution import Executor
from .extraction import as_json, extract, of_seed
from .origins import is_fitted

State = Literal["holds", "fails", "not evaluated"]
Values = Mapping[str, Value]
PLURAL: Mapping[State, str] = {"holds": "hold", "fails": "fail", "not evaluated": "are not evaluated"}
WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
Status = Literal["reproduced", "calibrated", "partly", "not reproduced", "not evaluated", "not run"]


@dataclass(frozen=True)
class Judged:
    """An assertion and its state. sides: the compared values. reason: why it was not evaluated, or the results per seed. consistency: it
    does not count."""

    id: str
    text: str
    check: str
    tolerance: float | None
    state: State
    sides: tuple[Side, ...] = ()
    reason: str = ""
    consistency: bool = False


@dataclass(frozen=True)
class Result:
    """The result of a figure. runs: number of runs it is based on. calibrated: based on prices that were fitted to it."""

    figure: str
    scale: Scale
    engine_version: str
    seeds: tuple[int, ...]
    runs: int
    values: Values = field(repr=False)
    assertions: tuple[Judged, ...]
    calibrated: bool = False

    @property
    def status(self) -> Status:
        return status_of([judged.state for judged in self.assertions if not judged.consistency], self.calibrated)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON values, without the figure's id and scale."""
        return {
            "engine_version": self.engine_version,
            "seeds": list(self.seeds),
            "runs": self.runs,
            "status": self.status,
            "values": as_json(self.values),
            "assertions": [_as_json(judged) for judged in self.assertions],
        }


def _as_json(judged: Judged) -> dict[str, Any]:
    """As stored and served. most of a side: None if its number is only known from below."""
    told = asdict(judged)
    del told["consistency"]  # the figure says so
    sides = [asdict(side) | {"most": side.most if math.isfinite(side.most) else None} for side in judged.sides]
    return told | {"sides": sides}


def status_of(states: Sequence[State], calibrated: bool = False) -> Status:
    """reproduced: all hold; calibrated: all hold, but a price was fitted to the figure. partly: some hold. An assertion that was not
    evaluated does not hold; if none was evaluated, the figure is not evaluated."""
    held = sum(state == "holds" for state in states)
    if held == len(states):
        return "calibrated" if calibrated else "reproduced"
    if held:
        return "partly"
    return "not reproduced" if "fails" in states else "not evaluated"


def reproduce(
    figure: Figure,
    scale: Scale,
    experiments: Experiments,
    executor: Executor,
    context: Context | None = None,
    evaluator: Evaluator | None = None,
) -> Result:
    """Run the figure's studies and evaluations at a scale, and evaluate its assertions. Raises InvalidExperiment, Refusal, and what the
    evaluator raises. Without an evaluator, values of evaluations are missing."""
    scores = {name: evaluator(evaluation_at(figure, name, scale, experiments)) for name in figure.evaluations} if evaluator else {}
    studies = {name: load_study(study_at(figure, name, scale, experiments), context) for name in figure.studies}
    carried = {name: (study, executor(study, sinks_of(figure, name))) for name, study in studies.items()}
    values = extract(figure, carried, scores)
    keys = {key for _, each in carried.values() for key in each.runs}
    seeds = tuple(sorted({seed for study in studies.values() for seed in study.seeds}))
    apart = any(assertion.of_seeds is not None for assertion in figure.assertions)
    by_seed = {seed: extract(figure, of_seed(carried, seed), scores) for seed in seeds} if apart else {}
    verdicts = judged(figure, values, by_seed)
    fitted = figure.calibrated or is_fitted(figure, studies.values())
    runs = len(keys) + max((each.runs for each in scores.values()), default=0)
    return Result(figure.id, scale, version_of(*price_lists(figure, experiments)), seeds, runs, values, verdicts, fitted)


def judged(figure: Figure, values: Values, by_seed: Mapping[int, Values] | None = None) -> tuple[Judged, ...]:
    """Evaluate the assertions of a figure. by_seed: values per seed, for assertions that are evaluated per seed."""
    checks = figure.checks()
    reported = {name: _as_reported(given) for name, given in figure.reported.items()}

    def of(assertion: Assertion) -> Judged:
        check = checks[assertion.id]
        if assertion.of_seeds is None:
            return _judge(assertion, check, values, reported)
        return _over_seeds(assertion, {seed: _judge(assertion, check, each, reported) for seed, each in (by_seed or {}).items()})

    return tuple(of(assertion) for assertion in figure.assertions)


def _over_seeds(assertion: Assertion, each: Mapping[int, Judged]) -> Judged:
    """Evaluate per seed. Holds if it holds for `of_seeds` seeds, or for all if there are fewer; not evaluated if seeds that were not
    evaluated could decide it."""
    assert assertion.of_seeds is not None
    needed = max(1, min(assertion.of_seeds, len(each)))
    states = [one.state for one in each.values()]
    held = states.count("holds")
    state: State = "holds" if held >= needed else "not evaluated" if held + states.count("not evaluated") >= needed else "fails"
    sides: dict[str, Side] = {}
    for side in (side for one in each.values() for side in one.sides):
        so_far = sides.get(side.text, side)
        sides[side.text] = Side(side.text, min(so_far.least, side.least), max(so_far.most, side.most))
    if not each:
        state = "not evaluated"
    reason = _told(needed, held, each)
    return Judged(
        assertion.id, assertion.text, assertion.check, assertion.tolerance, state, tuple(sides.values()), reason, assertion.consistency
    )


def _told(needed: int, held: int, each: Mapping[int, Judged]) -> str:
    """Describe how many seeds are needed and the outcome of each, unless there is only one seed."""
    if len(each) < 2:
        return "".join(one.reason for one in each.values()) if each else "no seed has runs of its own"
    every = "both" if len(each) == 2 else f"all {_word(len(each))}"
    asked = f"needs {every if needed == len(each) else f'{_word(needed)} of {_word(len(each))}'} seeds"
    if held == len(each):
        return f"{asked}, holds for {every}"
    alike: dict[tuple[State, str], list[int]] = {}
    for seed, one in each.items():
        alike.setdefault((one.state, one.reason), []).append(seed)
    became = [_of_seeds(seeds, state) + (f" ({reason})" if reason else "") for (state, reason), seeds in alike.items()]
    return f"{asked}, holds for {_word(held)}: {'; '.join(became)}"


def _of_seeds(seeds: Sequence[int], state: State) -> str:
    *others, last = map(str, seeds)
    if not others:
        return f"seed {last} {'is not evaluated' if state == 'not evaluated' else state}"
    return f"seeds {', '.join(others)} and {last} {PLURAL[state]}"


def _word(count: int) -> str:
    return WORDS[count] if count < len(WORDS) else str(count)


def _judge(assertion: Assertion, check: Expression, values: Values, reported: Mapping[str, float | Series]) -> Judged:
    sides: list[Side] = []
    reason = ""
    try:
        state: State = "holds" if evaluate(check.tree, values, reported, sides) else "fails"
    except NotEvaluated as error:
        state, reason = "not evaluated", str(error)
    return Judged(assertion.id, assertion.text, assertion.check, assertion.tolerance, state, tuple(sides), reason, assertion.consistency)


def _as_reported(given: Any) -> float | Series:
    if isinstance(given, dict):
        xs = tuple(x if isinstance(x, str) else float(x) for x in given["x"])
        return Series(xs, tuple(map(float, given["y"])))
    return float(given)


def sinks_of(figure: Figure, study: str) -> set[str]:
    """Return the sinks of the study whose records the figure uses."""
    return {value.sink for value in figure.values.values() if isinstance(value, OfRecords) and value.study == study}
