"""How much faster placements are that somebody chose than the first one, both measured (Heinrich et al. 2024, experiment 2a).

Everybody chooses from the same candidates, and the first placement is there before any prediction. A speed-up is a ratio of two measured
costs; predictions have no part in it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.core.random import Chance
from engine.corpus.experiments import Document
from engine.corpus.grid import TRAINING
from engine.corpus.labels import Labels, horizon_s, measured
from engine.corpus.queries import DrawnQuery, Template, of_template
from engine.corpus.selectivities import estimated
from engine.corpus.traces import DrawnHost, Trace, host_of
from engine.costmodels.description import Aggregate, WindowedAggregate
from engine.costmodels.ensembles import Predicted, Vote
from engine.costmodels.features import JointGraph, joint_graph
from engine.costmodels.metrics import METRICS
from engine.placement.heuristics import HEURISTICS, bottom_up
from engine.placement.optimiser import Choice, choose
from engine.placement.space import Placed, Space
from engine.spec.figure.evaluations import Metric, Monitoring, Scored, Scores, Speedups

from ..examples import examples, target
from ..lessons import SPLIT_SEED, Lesson
from ..predictors import Predictor, predictor
from ..queueing import demands
from ..stock import Stock

BINS = (1, 1, 2, 2, 3)
"""Of the hosts of a problem: two at the edge, two between, one in the cloud."""

TEMPLATES: tuple[Template, ...] = ("linear", "two_way", "three_way")
TITLES: Mapping[Template, str] = {"linear": "linear", "two_way": "two-way join", "three_way": "three-way join"}
NAMESPACE = "speedups"
LEARNED = ("costream", "flat paper", "flat strong", "queueing")
ONE, RANDOM, BEST = "first", "random", "best of all"


@dataclass(frozen=True)
class Problem:
    """A query, hosts, and where it may run. candidates: the first placement, those of heuristics, and random ones. heuristics: numbers of
    their candidates, by name."""

    title: str
    query: DrawnQuery
    hosts: tuple[DrawnHost, ...]
    candidates: tuple[Placed, ...]
    heuristics: Mapping[str, int]
    seed: int
    selectivities: tuple[float, ...]

    def documents(self) -> list[Document]:
        """A run of each candidate, all with the same streams."""
        length_s = horizon_s(self.query)
        return [measured(Trace(self.query, self.hosts, placed), self.seed, length_s) for placed in self.candidates]

    def graphs(self) -> list[JointGraph]:
        return [joint_graph(self.query, self.hosts, placed, self.selectivities) for placed in self.candidates]


@dataclass(frozen=True)
class Pick:
    """What somebody chose for a problem. predicted: its cost, if there was a prediction. relaxed: whether filters had to be dropped."""

    candidate: int
    predicted: float | None = None
    relaxed: bool = False


def speedups(evaluation: Speedups, stock: Stock) -> Scores:
    assert evaluation.traces
    assert evaluation.queries
    predictors = _predictors(evaluation, stock)
    highest = METRICS[evaluation.goal].highest
    rows, runs = [], evaluation.traces
    for template in TEMPLATES:
        for aggregated in (False, True):
            problems = [problem(template, aggregated, number, evaluation.candidates) for number in range(evaluation.queries)]
            documents = [document for one in problems for document in one.documents()]
            runs += len(documents)
            labels = iter(stock.measured(documents, problems[0].title))
            found = [[next(labels) for _ in one.candidates] for one in problems]
            picks = _picks(problems, found, predictors, evaluation)
            for chooser, of in picks.items():
                at: dict[str, str | float] = {"query": problems[0].title, "chooser": chooser}
                rows.append(Scored(at, _scores(evaluation.goal, highest, found, of)))
    return Scores(tuple(rows), runs)


def problem(template: Template, aggregated: bool, number: int, candidates: int) -> Problem:
    chance = Chance(number, NAMESPACE, template, str(aggregated))
    query = of_template(template, chance)
    while any(isinstance(of, Aggregate | WindowedAggregate) for of in query.operators) != aggregated:
        query = of_template(template, chance)
    hosts = tuple(host_of(bin, TRAINING, chance) for bin in BINS)
    space = Space(len(query.operators), query.edges, BINS)
    first = space.first(chance)
    strength = [host.cpu_percent for host in hosts]
    fixed = {name: of(space, strength) for name, of in HEURISTICS.items()}
    selectivities = estimated(query, number, NAMESPACE, template, str(aggregated))
    needed = [100 * cores for cores in demands(joint_graph(query, hosts, first, selectivities))]
    fixed["bottom up"] = bottom_up(space, strength, needed)
    heuristics = {name: placed for name, placed in fixed.items() if placed is not None}
    all_of_them = list(dict.fromkeys([first, *space.candidates(candidates, chance), *heuristics.values()]))
    return Problem(
        f"{TITLES[template]}{', aggregated' if aggregated else ''}",
        query,
        hosts,
        tuple(all_of_them),
        {name: all_of_them.index(placed) for name, placed in heuristics.items()},
        chance.below(1 << 31),
        selectivities,
    )


Trio = Mapping[str, Sequence[Predictor]]
"""Members for the goal, for success, and for keeping up."""


def networks(evaluation: Speedups | Monitoring, goal: Metric, stock: Stock) -> tuple[Lesson, Trio]:
    """What was learned, and from what."""
    assert evaluation.traces
    lesson = Lesson((stock.corpus("training", evaluation.seed, evaluation.traces),))
    return lesson, dict(stock.models(lesson, (goal, "flows", "success"), evaluation.models))


def _predictors(evaluation: Speedups, stock: Stock) -> dict[str, Trio]:
    metrics = (evaluation.goal, "flows", "success")
    lesson, trained = networks(evaluation, evaluation.goal, stock)
    parts = lesson.parts()
    found: dict[str, dict[str, Sequence[Predictor]]] = {"costream": dict(trained)}
    for metric in metrics:
        training, validation = (examples(METRICS[metric], rows, SPLIT_SEED) for rows in parts[:2])
        for name in LEARNED[1:]:
            stock.told(f"{METRICS[metric].title.lower()} by {name}")
            found.setdefault(name, {})[metric] = [predictor(name, METRICS[metric], (), training, validation)]
    return {name: dict(trio) for name, trio in found.items()}


def _picks(
    problems: Sequence[Problem], labels: Sequence[Sequence[Labels]], predictors: Mapping[str, Trio], evaluation: Speedups
) -> dict[str, list[Pick]]:
    highest = METRICS[evaluation.goal].highest
    picks: dict[str, list[Pick]] = {}
    for of, measured_labels in zip(problems, labels, strict=True):
        graphs = of.graphs()
        for name, trio in predictors.items():
            picks.setdefault(name, []).append(picked(of.candidates, graphs, trio, evaluation.goal, evaluation.filtered))
        for name, candidate in of.heuristics.items():
            picks.setdefault(name, []).append(Pick(candidate))
        picks.setdefault(RANDOM, []).append(Pick(min(1, len(of.candidates) - 1)))
        picks.setdefault(BEST, []).append(Pick(_best(evaluation.goal, highest, measured_labels)))
        picks.setdefault(ONE, []).append(Pick(0))
    return picks


def picked(candidates: Sequence[Placed], graphs: Sequence[JointGraph], trio: Trio, goal: Metric, filtered: bool = True) -> Pick:
    """The candidate with the best predicted cost. filtered: of those that are predicted to deliver and to keep up."""
    costs, flows, success = (np.array([member.predict(graphs) for member in trio[metric]]) for metric in (goal, "flows", "success"))
    predicted = [
        Predicted(
            tuple(costs[:, n].tolist()),
            Vote.of((success[:, n] > 0.5).tolist()) if filtered else ALWAYS,
            Vote.of((flows[:, n] > 0.5).tolist()) if filtered else ALWAYS,
        )
        for n in range(len(graphs))
    ]
    choice: Choice = choose(candidates, predicted, METRICS[goal].highest)
    return Pick(choice.best, predicted[choice.best].mean, bool(choice.relaxed))


ALWAYS = Vote(1, 1)


def _best(goal: str, highest: bool, labels: Sequence[Labels]) -> int:
    """Of what was measured: the best that keeps up, or that delivers anything."""

    def place(n: int) -> tuple[bool, bool, float]:
        value = target(METRICS[goal], labels[n])
        cost = math.inf if value is None else -value if highest else value
        return not labels[n].success, bool(labels[n].backpressured), cost

    return min(range(len(labels)), key=place)


def _scores(goal: str, highest: bool, labels: Sequence[Sequence[Labels]], picks: Sequence[Pick]) -> dict[str, float | None]:
    """speedup: the median over all queries whose first placement delivers; a pick that fails or newly falls behind has none, 0.
    speedup_of_kept: as the source counts, without picks that fail, and without queries for which the predicted cost is no better than the
    first placement's measured one; 1 if that leaves none, since all stay where they are. speedup_mixed: of processing latency as the
    source's code measures it, whatever the goal, where both deliver. failed: share of picks that fail or fall behind, among queries of
    which any candidate delivers. kept: share of picks that are the first placement. regret: median of the pick's cost over that of the best
    candidate."""
    metric = METRICS[goal]
    honest, of_kept, regret, mixed = [], [], [], []
    failed = usable = gaining = 0
    for of, pick in zip(labels, picks, strict=True):
        if not any(one.success for one in of):
            continue  # the query gives nothing anywhere
        usable += 1
        chosen, first = of[pick.candidate], of[0]
        failed += not chosen.success or bool(chosen.backpressured)
        cost, best = target(metric, chosen), target(metric, of[_best(goal, highest, of)])
        assert best is not None
        if cost is not None:
            regret.append(_ratio(cost, best, highest))  # both are measured
        base = target(metric, first)
        if base is None:
            continue
        if pick.candidate == 0:
            honest.append(1.0)
        elif cost is None or (chosen.backpressured and not first.backpressured):
            honest.append(0.0)
        else:
            honest.append(_ratio(base, cost, highest))
        if chosen.mixed_ms is not None and first.mixed_ms is not None:
            mixed.append(_ratio(first.mixed_ms, chosen.mixed_ms, highest=False))
        gains = pick.predicted is None or (pick.predicted > base if highest else pick.predicted < base)
        gaining += gains
        if cost is not None and gains:
            of_kept.append(_ratio(base, cost, highest))
    return {
        "speedup": _median(honest),
        "q25": _quantile(honest, 25),
        "q75": _quantile(honest, 75),
        "speedup_of_kept": _median(of_kept) if gaining else 1.0,
        "speedup_mixed": _median(mixed),
        "failed": failed / usable if usable else None,
        "kept": sum(pick.candidate == 0 for pick in picks) / len(picks),
        "relaxed": sum(pick.relaxed for pick in picks) / len(picks),
        "regret": _median(regret),
        "count": float(len(honest)),
    }


def _ratio(base: float, cost: float, highest: bool) -> float:
    """How many times as good cost is as base."""
    base, cost = max(base, 1e-9), max(cost, 1e-9)
    return cost / base if highest else base / cost


def _median(values: Sequence[float]) -> float | None:
    return _quantile(values, 50)


def _quantile(values: Sequence[float], percent: float) -> float | None:
    return float(np.percentile(values, percent)) if values else None
