"""An online monitor against an initial placement by Costream (Heinrich et al. 2024, experiment 2b, Figure 10).

Both begin with the same candidates. The monitored query starts at the first of them and may move; Costream's starts at its pick and stays.
All numbers are of runs: of what the monitor measured, when it moved operators, and how long their state and the restart took.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from engine.core.random import Chance
from engine.corpus.experiments import Document
from engine.corpus.grid import TRAINING
from engine.corpus.labels import WARM_UP_S, measured
from engine.corpus.queries import DrawnQuery
from engine.corpus.selectivities import estimated
from engine.corpus.timelines import timeline
from engine.corpus.traces import DrawnHost, Trace, host_of
from engine.costmodels.description import Filter, Operator, Sink, Source, Window, WindowedAggregate
from engine.costmodels.features import joint_graph
from engine.placement.space import Placed, Space
from engine.spec.experiment.scaling.online_monitor import OnlineMonitor
from engine.spec.figure.evaluations import Metric, Monitoring, Scored, Scores

from ..stock import Stock
from .speedups import BINS, networks, picked

GOAL: Metric = "processing_latency"
NAMESPACE = "monitoring"
MEAN_S = 10
"""Latency is compared as the mean over so many seconds (specification, section 6)."""

VALUES_MIN, VALUES_MAX = -10, 10
VALUES_OF_EACH = 6
"""Values of each type in a record: the middle of the grid."""


@dataclass(frozen=True)
class Problem:
    """at: where it stands in the table."""

    at: dict[str, str | float]
    query: DrawnQuery
    hosts: tuple[DrawnHost, ...]
    candidates: tuple[Placed, ...]
    selectivities: tuple[float, ...]
    seed: int
    window_s: float

    def document(self, placed: Placed, length_s: float) -> Document:
        return measured(Trace(self.query, self.hosts, placed), self.seed, round(length_s))

    def monitored(self, length_s: float) -> Document:
        """The first candidate, with the monitor."""
        made = self.document(self.candidates[0], length_s)
        monitor = OnlineMonitor(sample_s=min(10.0, self.window_s), window_s=self.window_s, every_s=self.window_s)
        made["policies"]["scaling"] = monitor.model_dump(mode="json")  # with its defaults, which are part of what is kept
        return made


def monitoring(evaluation: Monitoring, stock: Stock) -> Scores:
    assert evaluation.traces
    _, trio = networks(evaluation, GOAL, stock)
    problems = list(_problems(evaluation))
    pairs = []
    for problem in problems:
        graphs = [joint_graph(problem.query, problem.hosts, placed, problem.selectivities) for placed in problem.candidates]
        pick = picked(problem.candidates, graphs, trio, GOAL)
        pairs.append((problem.document(problem.candidates[pick.candidate], evaluation.length_s), problem.monitored(evaluation.length_s)))
    # the pick of a query is the same for all windows of the monitor
    number = {text: n for n, text in enumerate(dict.fromkeys(json.dumps(document) for pair in pairs for document in pair))}
    observed = stock.ran(timeline, [json.loads(text) for text in number], "runs with a monitor")
    rows = []
    for problem, (chosen, moved) in zip(problems, pairs, strict=True):
        rows.append(Scored(problem.at, compared(observed[number[json.dumps(chosen)]], observed[number[json.dumps(moved)]])))
    return Scores(tuple(rows), evaluation.traces + len(number))


def _problems(evaluation: Monitoring) -> Iterator[Problem]:
    grid = product(sorted(evaluation.rates_per_s), range(evaluation.queries), evaluation.selectivities)
    points = enumerate(islice(grid, evaluation.points), 1)
    for (point, (rate_per_s, number, selectivity)), stored_s in product(points, evaluation.stored_s):
        # the same hosts and placements, whatever the monitor's window and the query's
        chance = Chance(number, NAMESPACE, str(selectivity), rate_per_s)
        query = chain(rate_per_s, selectivity, stored_s)
        hosts = tuple(host_of(bin, TRAINING, chance) for bin in BINS)
        candidates = _candidates(query, evaluation.candidates, chance)
        selectivities = estimated(query, number, NAMESPACE, str(selectivity), rate_per_s)
        seed = chance.below(1 << 31)
        for window_s in evaluation.windows_s:
            at: dict[str, str | float] = {
                "stored_s": float(stored_s),
                "window_s": float(window_s),
                "point": float(point),
                "selectivity": float(selectivity),
                "rate_per_s": float(rate_per_s),
            }
            yield Problem(at, query, hosts, candidates, selectivities, seed, window_s)


def chain(rate_per_s: int, selectivity: float, stored_s: float) -> DrawnQuery:
    """A filter on whole numbers from -10 to 10, as near to the selectivity as these allow, and an aggregate behind it if it stores."""
    values = VALUES_MAX - VALUES_MIN + 1
    literal = VALUES_MIN - 1 + min(values, max(1, round(selectivity * values)))
    operators: list[Operator] = [Source(rate_per_s, VALUES_OF_EACH, VALUES_OF_EACH, VALUES_OF_EACH), Filter("<=", "int", literal)]
    if stored_s:
        operators.append(WindowedAggregate("mean", "int", None, Window("tumbling", "time", round(1000 * stored_s), round(1000 * stored_s))))
    operators.append(Sink())
    return DrawnQuery(tuple(operators), tuple((n, n + 1) for n in range(len(operators) - 1)), "linear")


def _candidates(query: DrawnQuery, count: int, chance: Chance) -> tuple[Placed, ...]:
    space = Space(len(query.operators), query.edges, BINS)
    return tuple(dict.fromkeys([space.first(chance), *space.candidates(count, chance)]))


def compared(chosen: dict[str, Any], moved: dict[str, Any]) -> dict[str, float | None]:
    """slowdown: latency of the first placement, until the monitor moves something, over that of Costream's pick; what is not moved has its
    whole run. overhead_s: until the monitored query's mean over 10 s is first at most that of the pick; none if it never is, and then
    overhead_or_length_s is the length of the run. settled_s: until the last move has ended. state_mb: largest savepoint of a move, from
    which all operators restart. pick_failed, start_failed: whether nothing arrived, so that there is no slow-down."""
    first_s = int(moved["moves"][0][0]) if moved["moves"] else len(moved["count"])
    chosen_ms, start_ms = _mean_ms(chosen, WARM_UP_S, len(chosen["count"])), _mean_ms(moved, WARM_UP_S, first_s)
    reached_s = None if chosen_ms is None else _reached_s(moved, chosen_ms)
    return {
        "slowdown": start_ms / chosen_ms if start_ms is not None and chosen_ms else None,
        "overhead_s": reached_s,
        "overhead_or_length_s": float(len(moved["count"])) if reached_s is None else reached_s,
        "settled_s": moved["moves"][-1][1] if moved["moves"] else 0.0,
        "moves": float(len(moved["moves"])),
        "state_mb": max((size for _, _, size in moved["moves"]), default=0) / 1e6,
        "reached": float(reached_s is not None),
        "chosen_ms": chosen_ms,
        "start_ms": start_ms,
        "pick_failed": float(chosen_ms is None),
        "start_failed": float(start_ms is None),
    }


def _mean_ms(run: dict[str, Any], from_s: int, to_s: int) -> float | None:
    counts: Sequence[int] = run["count"][from_s:to_s]
    whole = sum(counts)
    means = run["mean_ms"][from_s:to_s]
    return sum(mean * count for mean, count in zip(means, counts, strict=True) if count) / whole if whole else None


def _reached_s(run: dict[str, Any], chosen_ms: float) -> float | None:
    """0 if it is so from the end of the warm-up on, before which queues are only filling."""
    first_s = WARM_UP_S + MEAN_S
    for end_s in range(first_s, len(run["count"]) + 1):
        mean = _mean_ms(run, end_s - MEAN_S, end_s)
        if mean is not None and mean <= chosen_ms:
            return 0.0 if end_s == first_s else float(end_s)
    return None
