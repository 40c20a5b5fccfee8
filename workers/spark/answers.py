"""Compute answers from summaries, with one function per kind of question.

Every answer has `columns` (in display order), `rows`, `pooled` (percentiles over all samples, by group), `runs` (number of runs) and
`left_out` (runs without numbers, and why).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from engine.spec import Refusal
from engine.studies import difference, interval
from engine.studies.ranks import rank_test
from engine.telemetry.spans import SpanHistogram
from engine.telemetry.summaries import PERCENTILES, histogram_of
from webapp.lab.models import FieldName, Lab, Run, RunParameter
from webapp.lab.studies import metrics_of as metrics_of_runs
from webapp.reports.analysis import (
    CELLS_MAX,
    OF_SPAN,
    ComparisonQuestion,
    StatisticsQuestion,
    SummariesQuestion,
    SurfaceQuestion,
    parameter,
)

LEFT_OUT_MAX = 100
TOGETHER = 500
HISTOGRAM = ("buckets", "whole", "cut", "inside")
UNITS = {"_ms": "ms", "_per_s": "records/s", "_s": "s"}
Values = dict[UUID, dict[str, float]]


@dataclass(frozen=True)
class Sets:
    """The runs of a question, and those they are compared with; rows: summaries of all runs, by id."""

    first: Sequence[Run]
    second: Sequence[Run]
    rows: Mapping[str, Mapping[str, Any]]

    def summarised(self, runs: Iterable[Run]) -> list[Run]:
        return [run for run in runs if not self.rows[str(run.pk)]["failure"]]

    def values(self, runs: Collection[Run], metrics: Collection[str]) -> Values:
        """Return the metrics of runs by id, without runs that have no summary."""
        there = self.summarised(runs)
        found: Values = {run.pk: of_span(self.rows[str(run.pk)], metrics) for run in there}
        others = [name for name in metrics if name not in OF_SPAN]
        ids = list(found)
        for at in range(0, len(ids) if others else 0, TOGETHER):
            for id, numbers in metrics_of_runs(ids[at : at + TOGETHER], others).items():
                found[id] |= numbers  # type: ignore[index]
        return found

    def pooled(self, runs: Iterable[Run]) -> dict[str, Any]:
        """Return percentiles over the samples of all runs."""
        histogram = sum((histogram_of(self.rows[str(run.pk)]) for run in self.summarised(runs)), SpanHistogram.empty())
        found = histogram.percentiles(list(PERCENTILES.values()))
        return {"samples": histogram.samples} | {
            name: None if one is None else {"ms": one.value_ns / 1e6, "low_ms": one.low_ns / 1e6, "high_ms": one.high_ns / 1e6}
            for name, one in zip(PERCENTILES, found, strict=True)
        }

    def common(self) -> dict[str, Any]:
        """Return the fields common to all answers."""
        runs = {run.pk: run for run in (*self.first, *self.second)}
        why = {id: self.rows[str(id)]["failure"] for id in runs}
        out = [{"run": str(id), "number": runs[id].number, "why": failure} for id, failure in why.items() if failure]
        return {"runs": len(runs), "left_out": out[:LEFT_OUT_MAX], "left_out_count": len(out)}


def of_span(row: Mapping[str, Any], metrics: Collection[str]) -> dict[str, float]:
    times = [one["recovery_s"] for one in row["recoveries"] if one["recovery_s"] is not None]
    known = {**row, "recovery_s": max(times, default=None)}
    return {name: float(known[name]) for name in metrics if name in OF_SPAN and known[name] is not None}


def summaries(lab: Lab, question: SummariesQuestion, sets: Sets) -> dict[str, Any]:
    rows = []
    for run in sets.summarised(sets.first):
        row = sets.rows[str(run.pk)]
        about = {"run": str(run.pk), "number": run.number, "name": run.name, "seed": run.seed, **of_span(row, ["recovery_s"])}
        rows.append(about | {name: value for name, value in row.items() if name not in (*HISTOGRAM, "run", "stamp", "failure")})
    return {
        "columns": [column("number"), column("name"), column("seed"), *map(column, OF_SPAN)],
        "rows": rows,
        "pooled": [{"group": "", "runs": len(rows), **sets.pooled(sets.first)}],
        **sets.common(),
    }


def comparison(lab: Lab, question: ComparisonQuestion, sets: Sets) -> dict[str, Any]:
    """Compare the runs with a base. difference: excess of their mean over the base. p: of the t test. rank_p: of the rank test."""
    base, other = (sets.values(runs, question.metrics) for runs in (sets.second, sets.first))
    seeds = {run.pk: run.seed for run in (*sets.first, *sets.second)}
    rows = []
    for metric in question.metrics:
        left, right = (by_seed(side, seeds, metric, mark) for mark, side in enumerate((base, other)))
        row: dict[str, Any] = {"metric": metric, "title": title(metric), "unit": unit(metric), "base_runs": len(left), "runs": len(right)}
        if left and right:
            by, ranks = difference(left, right), rank_test(list(left.values()), list(right.values()))
            means = {"base": interval(list(left.values())), "other": interval(list(right.values()))}
            row |= {**asdict(by), "rank_p": ranks.p, "greater": ranks.greater}
            row |= {f"{side}_{name}": getattr(one, name) for side, one in means.items() for name in ("mean", "low", "high")}
        rows.append(row)
    names = ("title", "base_runs", "base_mean", "runs", "other_mean", "difference", "low", "high", "p", "rank_p", "greater")
    groups = {"base": sets.second, "other": sets.first}
    pooled = [{"group": group, "runs": len(sets.summarised(runs)), **sets.pooled(runs)} for group, runs in groups.items()]
    return {"columns": [column(name) for name in names], "rows": rows, "pooled": pooled, **sets.common()}


def by_seed(values: Values, seeds: Mapping[UUID, int], metric: str, mark: int) -> dict[Any, float]:
    """Return values by seed if each seed has one run. Otherwise return them under keys that the other side (mark) does not have, so that no
    values are paired."""
    known = [(seeds[id], numbers[metric]) for id, numbers in values.items() if metric in numbers]
    if len({seed for seed, _ in known}) == len(known):
        return dict(known)
    return {2 * n + mark + (1 << 63): value for n, (_, value) in enumerate(known)}


def surface(lab: Lab, question: SurfaceQuestion, sets: Sets) -> dict[str, Any]:
    x, y = (parameter(lab, name) for name in (question.x, question.y))
    values = sets.values(sets.first, [question.metric])
    places = parameters_of(values, [x, y])
    cells: defaultdict[tuple[Any, Any], list[float]] = defaultdict(list)
    for id, numbers in values.items():
        if question.metric in numbers and {x, y} <= places[id].keys():
            cells[places[id][x], places[id][y]].append(numbers[question.metric])
    if len(cells) > CELLS_MAX:
        raise Refusal(
            f"the parameters have {len(cells):,} pairs of values; at most {CELLS_MAX:,} can be drawn: choose others, or fewer runs"
        )
    rows = [{"x": at[0], "y": at[1], **asdict(interval(cells[at]))} for at in sorted(cells, key=lambda at: (order(at[1]), order(at[0])))]
    names = dict(FieldName.objects.filter(pk__in=[x, y]).values_list("pk", "name"))
    return {
        "x": names[x], "y": names[y], "metric": question.metric, "title": title(question.metric), "unit": unit(question.metric),
        "columns": [column("x", names[x]), column("y", names[y]), *map(column, ("mean", "low", "high", "count"))],
        "rows": rows,
        "pooled": [],
        **sets.common(),
    }  # fmt: skip


def statistics(lab: Lab, question: StatisticsQuestion, sets: Sets) -> dict[str, Any]:
    values = sets.values(sets.first, question.metrics)
    if question.by == "experiment":
        of: dict[UUID, Any] = {run.pk: run.name for run in sets.first}
    else:
        by = parameter(lab, question.by)
        of = {id: known[by] for id, known in parameters_of(values, [by]).items() if by in known}
    members: defaultdict[Any, list[Run]] = defaultdict(list)
    for run in sets.first:
        if run.pk in of and run.pk in values:
            members[of[run.pk]].append(run)
    rows = []
    for group in sorted(members, key=order):
        for metric in question.metrics:
            known = [values[run.pk][metric] for run in members[group] if metric in values[run.pk]]
            if known:
                about = {"group": group, "metric": metric, "title": title(metric), "unit": unit(metric)}
                rows.append({**about, **asdict(interval(known)), "least": min(known), "most": max(known)})
    pooled = [{"group": group, "runs": len(members[group]), **sets.pooled(members[group])} for group in sorted(members, key=order)]
    names = ("group", "title", "count", "mean", "low", "high", "least", "most")
    return {"by": question.by, "columns": [column(name) for name in names], "rows": rows, "pooled": pooled, **sets.common()}


def parameters_of(ids: Iterable[UUID], names: Sequence[int]) -> defaultdict[UUID, dict[int, Any]]:
    """Return the values of these parameters (ids of their names), by run."""
    found: defaultdict[UUID, dict[int, Any]] = defaultdict(dict)
    all_ids = list(ids)
    for at in range(0, len(all_ids), TOGETHER):
        rows = RunParameter.objects.filter(run__in=all_ids[at : at + TOGETHER], name__in=names)
        for run, name, number, text in rows.values_list("run", "name", "number", "text"):
            found[run][name] = text if number is None else number
    return found


def order(value: Any) -> tuple[bool, Any]:
    """Sort key: numbers before texts."""
    return (isinstance(value, str), value)


TITLES = {
    "number": "Run", "name": "Experiment", "seed": "Seed", "title": "Metric", "group": "Group", "runs": "Runs", "count": "Runs",
    "mean": "Mean", "low": "Low", "high": "High", "least": "Least", "most": "Most",
    "base_runs": "Base runs", "base_mean": "Base mean", "other_mean": "Mean", "difference": "Difference",
    "p": "p (t test)", "greater": "Greater in", "rank_p": "p (ranks)",
}  # fmt: skip


def column(name: str, as_title: str = "") -> dict[str, str]:
    return {"name": name, "title": as_title or TITLES.get(name) or title(name), "unit": unit(name)}


def title(metric: str) -> str:
    return OF_SPAN.get(metric, metric)


def unit(metric: str) -> str:
    if metric.startswith(("latency_ms.", "latencies_ms.")):
        return "ms"
    return next((unit for ending, unit in UNITS.items() if metric.endswith(ending)), "")


ANSWERS: dict[str, Callable[[Lab, Any, Sets], dict[str, Any]]] = {
    "summaries": summaries,
    "comparison": comparison,
    "surface": surface,
    "statistics": statistics,
}
