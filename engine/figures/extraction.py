"""Extract the values of a figure from the runs of its studies. Pure: the same runs give the same values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from statistics import median
from typing import Any

import numpy as np

from engine.assertions.evaluation import NotEvaluated, evaluate
from engine.assertions.series import AtLeast, Missing, Number, RunKeys, Series, Value
from engine.spec.base.pointers import found
from engine.spec.base.problems import suggestion
from engine.spec.experiment.experiment import Experiment
from engine.spec.figure.evaluations import Scored, Scores
from engine.spec.figure.figure import (
    AtPoints,
    Computed,
    Figure,
    FromRuns,
    OfFrames,
    OfMetric,
    OfRecords,
    OfScore,
    OfSearch,
    OfSetting,
    OfVerdict,
)
from engine.spec.study.study import Study, SustainableLoad, Sustained, Values
from engine.studies import interval, judge
from engine.studies.plan import Row

from .execution import Carried, Made


@dataclass(frozen=True)
class _Runs:
    """A completed study."""

    study: Study
    carried: Carried

    def point(self, value: FromRuns) -> int:
        """Return the number of the value's point."""
        points = self.points(value)
        if len(points) != 1:
            if not points:
                raise NotEvaluated(f"no run of the study with {_said(value.at)} at this scale")
            which = f" with {_said(value.at)}" if value.at else ""
            raise NotEvaluated(f"the study has {len(points)} points{which} at this scale, but the value needs exactly one")
        return points[0]

    def points(self, value: FromRuns) -> list[int]:
        return [n for n, values in enumerate(self.study.points()) if all(values.get(axis) == at for axis, at in value.at.items())]

    def rows(self, value: FromRuns, point: int) -> list[tuple[str, Row]]:
        """Return the results at a point, by seed, with the keys of the runs."""
        rows = [row for row in self.carried.answer.rows if (row.point, row.share) == (point, value.share)]
        if len(rows) != len(self.study.seeds):
            wanted = len(self.study.seeds)
            raise NotEvaluated("its run is missing" if wanted == 1 else f"{wanted - len(rows)} of {wanted} runs are missing")
        for row in rows:
            if row.failure:
                raise NotEvaluated(row.failure)
        return [(_key(self.study, row.values, row.seed, len(row.trial) > 3), row) for row in rows]

    def sustained(self, point: int) -> RunKeys:
        """Return the keys of the runs at the loads found, by seed."""
        search = self.study.search
        assert isinstance(search, SustainableLoad)
        at = [
            (found.values | {search.load.name: found.bracket.sustained}, found.seed)
            for found in self.carried.answer.found
            if found.point == point
        ]
        return tuple(_key(self.study, values, seed) for values, seed in at)

    def made(self, value: FromRuns, point: int) -> list[tuple[str, Made]]:
        """Return the runs of a point, by seed, with their keys."""
        return [(key, self.carried.runs[key]) for key, _ in self.rows(value, point)]


def _key(study: Study, values: Values, seed: int, at_share: bool = False) -> str:
    return Experiment.model_validate(study.document(values, seed, at_share)).hash


Studies = Mapping[str, tuple[Study, Carried]]


def of_seed(studies: Studies, seed: int) -> Studies:
    """Restrict studies to one seed; studies without it are left out."""
    return {name: _of_seed(study, carried, seed) for name, (study, carried) in studies.items() if seed in study.seeds}


def _of_seed(study: Study, carried: Carried, seed: int) -> tuple[Study, Carried]:
    answer = carried.answer
    rows = tuple(row for row in answer.rows if row.seed == seed)
    found = tuple(one for one in answer.found if one.seed == seed)
    return study.model_copy(update={"seeds": (seed,)}), replace(carried, answer=replace(answer, rows=rows, found=found))


def extract(figure: Figure, studies: Studies, evaluations: Mapping[str, Scores] | None = None) -> dict[str, Value]:
    """Return all values of a figure, by name. Values that cannot be extracted are `Missing`, with the reason."""
    scores = evaluations or {}
    computed, values = figure.computed, dict[str, Value]()
    for name, value in figure.values.items():
        try:
            if isinstance(value, Computed):
                drawn = evaluate(computed[name].tree, values)
                values[name] = Number(drawn) if isinstance(drawn, float) else drawn
                assert not isinstance(values[name], bool)
            elif isinstance(value, OfScore):
                if value.evaluation not in scores:
                    raise NotEvaluated(f"evaluation '{value.evaluation}' has not been made")
                values[name] = _of_score(value, scores[value.evaluation])
            elif value.study not in studies:
                values[name] = Missing(f"study '{value.study}' has not been run")
            else:
                values[name] = _drawn(value, _Runs(*studies[value.study]))
        except NotEvaluated as reason:
            values[name] = Missing(str(reason))
    return values


def _drawn(value: FromRuns, runs: _Runs) -> Value:
    match value:
        case OfMetric() | OfSearch() | OfVerdict():
            return _at_points(value, runs)
        case OfFrames():
            return _of_frames(value, runs)
        case OfRecords():
            return _of_records(value, runs)
        case OfSetting():
            return _of_setting(value, runs)
    raise AssertionError(value)


def _of_setting(value: OfSetting, runs: _Runs) -> Value:
    def number(at: Mapping[str, Any]) -> float:
        return float(found(runs.study.document(dict(at), runs.study.seeds[0], value.share is not None), value.field))

    if value.over is None:
        return Number(number(value.at))
    design = runs.study.points()
    points = [design[point] for point in runs.points(value)]
    return Series(tuple(float(at[value.over]) for at in points), tuple(map(number, points)))


def _at_points(value: AtPoints, runs: _Runs) -> Value:
    """Return a number at a point, or a series over an axis."""
    if value.over is None:
        point = runs.point(value)
        if isinstance(value, OfMetric) and value.seeds == "each":
            numbers, keys = _metrics(value, value.metric, point, runs)
            return Series(tuple(runs.study.seeds), tuple(numbers), runs=tuple((key,) for key in keys))
        return _number(value, point, runs)
    design = runs.study.points()
    xs: list[float | str] = []
    numbers_at: list[Number] = []
    for point in runs.points(value):
        x = design[point][value.over]
        if isinstance(value, OfMetric) and value.x is not None:
            x = float(np.mean(_metrics(value, value.x, point, runs)[0]))
        xs.append(_place(x))
        numbers_at.append(_number(value, point, runs))
    if not xs:
        raise NotEvaluated(f"no point of the study with {_said(value.at)}")
    return Series(
        tuple(xs),
        tuple(number.value for number in numbers_at),
        tuple(number.low for number in numbers_at),
        tuple(number.high for number in numbers_at),
        tuple(number.runs for number in numbers_at),
    )


def _number(value: AtPoints, point: int, runs: _Runs) -> Number:
    if isinstance(value, OfSearch):
        loads = runs.carried.answer.sustained(point)
        if loads is None:
            failures = [found.failure for found in runs.carried.answer.found if found.point == point and found.failure]
            raise NotEvaluated(failures[0] if failures else "not every seed has a sustained load")
        return Number(loads[0] if value.seeds == "least" else loads[1], runs=runs.sustained(point))
    if isinstance(value, OfVerdict):
        made = runs.made(value, point)
        numbers = [_of_verdict(value, run) for _, run in made]
        keys = [key for key, _ in made]
    else:
        assert isinstance(value, OfMetric)
        numbers, keys = _metrics(value, value.metric, point, runs)
    return _over_seeds(value.seeds, numbers, tuple(keys))


def _of_verdict(value: OfVerdict, made: Made) -> float:
    verdict = judge(made.frames, made.summary, Sustained())
    figures = {"sustained": float(verdict.sustained), **verdict.figures}
    if value.figure not in figures:
        raise NotEvaluated(f"the verdict has no figure '{value.figure}'; {suggestion(value.figure, figures)}")
    return figures[value.figure]


def _metrics(value: OfMetric, metric: str, point: int, runs: _Runs) -> tuple[list[float], list[str]]:
    """Return the metric of each seed's run, and the keys of the runs."""
    rows = runs.rows(value, point)

    def of(row: Row) -> float:
        if metric in row.metrics:
            return row.metrics[metric]
        if metric == value.metric and value.at_least is not None:
            return AtLeast(value.at_least, f"a run ended before it had '{metric}', which is therefore {value.at_least:g} or more")
        raise NotEvaluated(f"a run has no '{metric}'; {suggestion(metric, row.metrics)}")

    return [of(row) for _, row in rows], [key for key, _ in rows]


def _over_seeds(how: str, numbers: Sequence[float], keys: tuple[str, ...] = ()) -> Number:
    """A number over seeds. If one is only known from below, so is the result: what follows from the least that each can be."""
    if open_ends := [number for number in numbers if isinstance(number, AtLeast)]:
        exact = _over_seeds(how, [float(number) for number in numbers])
        return Number(AtLeast(exact.value, open_ends[0].why), runs=keys)
    if how == "mean":
        over = interval(numbers)
        return Number(over.mean, over.low, over.high, keys)
    of: dict[str, Callable[[Sequence[float]], float]] = {"median": median, "least": min, "most": max}
    return Number(float(of[how](numbers)), runs=keys)


def _of_frames(value: OfFrames, runs: _Runs) -> Series:
    made = runs.made(value, runs.point(value))
    by_seed = [run.frames for _, run in made]
    xs: list[float | str] = []
    ys: list[float] = []
    for frames in zip(*by_seed, strict=False):  # until the shortest run ends
        x, here = _field(frames[0], value.x), [_field(frame, value.y) for frame in frames]
        known = [y for y in here if y is not None]
        if x is not None and known:
            xs.append(x)
            ys.append(_over_seeds(value.seeds, known).value if len(known) > 1 else known[0])
    return Series(tuple(xs), tuple(ys), runs=(tuple(key for key, _ in made),))


def _field(frame: Mapping[str, Any], path: str) -> float | None:
    here: Any = frame
    for part in path.split("."):
        if not isinstance(here, Mapping) or part not in here:
            known = here if isinstance(here, Mapping) else ()
            raise NotEvaluated(f"frames have no '{path}'; {suggestion(part, known)}".rstrip("; "))
        here = here[part]
    if here is None:
        return None
    if isinstance(here, bool) or not isinstance(here, int | float):
        raise NotEvaluated(f"'{path}' of frames is not a number")
    return float(here)


def _of_records(value: OfRecords, runs: _Runs) -> Series:
    key, made = runs.made(value, runs.point(value))[0]
    if value.sink not in made.records:
        raise NotEvaluated(f"the query has no sink '{value.sink}'; {suggestion(value.sink, made.records)}".rstrip("; "))
    columns = made.records[value.sink]
    if value.column not in columns:
        raise NotEvaluated(f"'{value.sink}' delivers no '{value.column}'; {suggestion(value.column, columns)}")
    numbers = columns[value.column]
    if not all(isinstance(number, int | float) for number in numbers):
        raise NotEvaluated(f"'{value.column}' does not contain only numbers")
    return Series(tuple(float(n) for n in range(1, len(numbers) + 1)), tuple(map(float, numbers)), runs=((key,),))


def _of_score(value: OfScore, scores: Scores) -> Value:
    """A number, or a series over a column in the order of the table."""
    wanted = {"group": "all"} | value.at
    if value.over is not None:
        wanted.pop(value.over, None)
        if value.over == "bin" and "group" not in value.at:
            raise NotEvaluated("a series over bins needs a group; give it under at")
    rows = [row for row in scores.rows if all(row.at.get(column, at) == at for column, at in wanted.items())]
    if not rows:
        raise NotEvaluated(f"the evaluation has no row with {_said(wanted)}")
    if value.over is None:
        if len(rows) > 1:
            raise NotEvaluated(f"the evaluation has {len(rows)} rows with {_said(value.at) or 'nothing fixed'}; fix more columns under at")
        return _number_of(value, rows[0])
    xs = [row.at[value.over] for row in rows]
    if len(set(xs)) < len(xs):
        raise NotEvaluated(f"several rows have one {value.over}; fix more columns under at")
    if value.x is not None:
        drawn = sorted(((x, row) for row in rows if (x := row.scores.get(value.x)) is not None), key=itemgetter(0))
        xs, rows = [x for x, _ in drawn], [row for _, row in drawn]
    known = [(x, row) for x, row in zip(xs, rows, strict=True) if row.scores.get(value.score) is not None]
    if not known:
        raise NotEvaluated(f"no row has a {value.score}")
    numbers = [_number_of(value, row) for _, row in known]
    return Series(
        tuple(x for x, _ in known),
        tuple(number.value for number in numbers),
        tuple(number.low for number in numbers),
        tuple(number.high for number in numbers),
    )


def _number_of(value: OfScore, row: Scored) -> Number:
    score = row.scores.get(value.score)
    if score is None:
        raise NotEvaluated(f"there is no {value.score} with {_said(row.at)}")
    return Number(score, row.low.get(value.score), row.high.get(value.score))


def _place(x: Any) -> float | str:
    """Where a point of an axis is drawn: at its number, or under its name."""
    if isinstance(x, bool):
        return "yes" if x else "no"
    return float(x) if isinstance(x, int | float) else str(x)


def _said(at: Mapping[str, Any]) -> str:
    return " and ".join(f"{axis} {value!r}" for axis, value in at.items())


def as_json(values: Mapping[str, Value]) -> dict[str, Any]:
    """Return values as stored and served, without empty fields. at_least: whether a number, or which of a series', is known from below."""
    return {name: {k: v for k, v in _lists(_parts(value)) if v not in (None, [])} for name, value in values.items()}


def _parts(value: Value) -> Iterable[tuple[str, Any]]:
    yield from vars(value).items()
    if isinstance(value, Number) and isinstance(value.value, AtLeast):
        yield "at_least", True
    elif isinstance(value, Series) and value.is_open:
        yield "at_least", tuple(isinstance(y, AtLeast) for y in value.y)


def _lists(items: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, Any]]:
    for name, value in items:
        if isinstance(value, tuple):
            value = [list(each) if isinstance(each, tuple) else each for each in value]
            if all(each is None for each in value):
                value = None
        yield name, value
