"""Quality metrics of autoscaling, over the recorded data of a run (docs/autoscaling.md, 7; Siachamis 2024, 4.4, defines them in words).

A *staircase* is a step function: each value holds from its time until the next one, the last one forever (workers, rates). *Samples* are
readings at points in time. Both are (time in ns, value), times ascending. Nothing here looks at a run.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import correlation
from typing import NamedTuple

MINUTE_NS = 60 * 10**9
HOUR_NS = 60 * MINUTE_NS

Points = Sequence[tuple[int, float]]


def area(staircase: Points, from_ns: int, to_ns: int) -> float:
    """Return the integral, value x ns, between two times. The value before the first point is 0. Exact for integers."""
    pieces = pairwise([*staircase, (max(from_ns, to_ns), 0)])
    overlaps = ((value, min(end_ns, to_ns) - max(at_ns, from_ns)) for (at_ns, value), (end_ns, _) in pieces)
    parts = [value * lasts_ns for value, lasts_ns in overlaps if lasts_ns > 0]
    return sum(parts) if all(isinstance(part, int) for part in parts) else math.fsum(parts)


def mean_between(staircase: Points, from_ns: int, to_ns: int) -> float:
    return area(staircase, from_ns, to_ns) / (to_ns - from_ns)


def worker_hours(workers: Points, until_ns: int) -> float:
    """Return the integral of active instances from the start of the run, in hours."""
    return area(workers, 0, until_ns) / HOUR_NS


class Spread(NamedTuple):
    mean: float
    p50: float
    p95: float
    max: float


def spread(values: Sequence[float], weights: Sequence[int] | None = None) -> Spread | None:
    """Return mean, percentiles and maximum; None without values. A percentile is the smallest value that this share of the values does not
    exceed. weights: how often each value counts."""
    counts = [1] * len(values) if weights is None else weights
    ordered = sorted((value, count) for value, count in zip(values, counts, strict=True) if count)
    if not ordered:
        return None
    ends, total = [], 0
    for _, count in ordered:
        total += count
        ends.append(total)

    def percentile(percent: int) -> float:
        return ordered[bisect_right(ends, -(-percent * total // 100) - 1)][0]

    mean = math.fsum(value * count for value, count in ordered) / total
    return Spread(mean, percentile(50), percentile(95), ordered[-1][0])


def low_share(samples: Points, bound: float) -> float | None:
    """Return the share of samples below the bound; None without samples."""
    return sum(value < bound for _, value in samples) / len(samples) if samples else None


def violation_ns(samples: Points, bound: float, start_ns: int = 0) -> int:
    """Return how long values were above the bound. A sample stands for the time since the previous one, the first for the time since
    start_ns."""
    since = [start_ns, *(at_ns for at_ns, _ in samples)]
    return sum(at_ns - before_ns for (at_ns, value), before_ns in zip(samples, since, strict=False) if value > bound)


def follows(workers: Points, load: Points, until_ns: int, behind_max_ns: int = 5 * MINUTE_NS, every_ns: int = MINUTE_NS) -> float | None:
    """Return how closely instances follow the load: Pearson's correlation of per-minute means, the maximum over all delays of whole minutes
    up to behind_max_ns. None if one of them is constant, or if there are fewer than three minutes."""
    minutes = range(0, until_ns - every_ns + 1, every_ns)
    had, came = ([mean_between(each, at_ns, at_ns + every_ns) for at_ns in minutes] for each in (workers, load))
    found = []
    for behind in range(behind_max_ns // every_ns + 1):
        later, earlier = had[behind:], came[: len(came) - behind]
        if len(later) >= 3 and len(set(later)) > 1 and len(set(earlier)) > 1:
            found.append(correlation(later, earlier))
    return max(found, default=None)


class Action(NamedTuple):
    """A finished rescale. before, after: actual parallelism by operator; equal if it was aborted."""

    ended_ns: int
    before: Mapping[str, int]
    after: Mapping[str, int]


def up_and_down(actions: Sequence[Action]) -> tuple[int, int]:
    """Return the number of actions that raised the total of instances, and the number that lowered it."""
    changes = [sum(action.after.values()) - sum(action.before.values()) for action in actions]
    return sum(change > 0 for change in changes), sum(change < 0 for change in changes)


class Phase(NamedTuple):
    """Result for a phase of constant load. actions: number that ended in it. settled_ns, settled_steps: time and number of actions from its
    start until the total and the parallelism of each operator stayed within one of their values; the last action at the latest.
    converged: 1 if it has settled for long enough without growing lag, otherwise 0. This is the specification's definition, except
    `least_lag` (`phase`), which is ours."""

    actions: int
    settled_ns: int
    settled_steps: int
    converged: int


def phase(
    initial: Mapping[str, int],
    actions: Sequence[Action],
    lag: Points,
    from_ns: int,
    to_ns: int,
    least_lag: float = 0,
    stretch_ns: int = 15 * MINUTE_NS,
    lag_ns: int = 10 * MINUTE_NS,
) -> Phase:
    """Evaluate a phase. initial: parallelism at the start of the run. actions: all actions of the run. lag: samples, in records.

    Lag grows if the mean over the second half of the last lag_ns exceeds that over the first half by more than least_lag. The halves and
    the minimum growth are ours: the specification says that lag "does not grow", but not by how much. Runs use a quarter of a second of
    input, which policies do not see either. Without samples, a phase has not converged. A phase that needs no action settles at once, after
    no step.
    """
    here = [action for action in actions if from_ns <= action.ended_ns < to_ns]
    earlier = [action for action in actions if action.ended_ns < from_ns]
    runs = [earlier[-1].after if earlier else initial, *(action.after for action in here)]
    steps = next(n for n in range(len(runs)) if all(_is_close(runs[n], later) for later in runs[n + 1 :]))
    settled_ns = here[steps - 1].ended_ns if steps else from_ns
    converged = to_ns - settled_ns >= stretch_ns and not _grows(lag, to_ns - lag_ns, to_ns, least_lag)
    return Phase(len(here), settled_ns - from_ns, steps, int(converged))


def _is_close(one: Mapping[str, int], other: Mapping[str, int]) -> bool:
    return abs(sum(one.values()) - sum(other.values())) <= 1 and all(abs(p - other[operator]) <= 1 for operator, p in one.items())


def _grows(lag: Points, from_ns: int, to_ns: int, least: float) -> bool:
    half_ns = (from_ns + to_ns) // 2
    first = [value for at_ns, value in lag if from_ns < at_ns <= half_ns]
    second = [value for at_ns, value in lag if half_ns < at_ns <= to_ns]
    if not first or not second:
        return True
    return math.fsum(second) / len(second) > math.fsum(first) / len(first) + least


def phases(rates: Points, until_ns: int) -> list[tuple[int, int]]:
    """Return the phases of constant load of a staircase of rates: from, to. Points that change nothing start no phase."""
    starts = [at_ns for n, (at_ns, rate) in enumerate(rates) if (n == 0 or rate != rates[n - 1][1]) and at_ns < until_ns]
    return list(pairwise([*starts, until_ns]))
