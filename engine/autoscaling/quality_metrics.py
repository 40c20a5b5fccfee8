"""How well a job was scaled: figures over what a run has recorded (docs/autoscaling.md, 7; Siachamis 2024, 4.4, defines them in words).

A *staircase* is what holds from each of its times until the next one, the last for ever: workers, rates. *Samples* are readings at moments.
Both are (time in ns, value), times ascending. Nothing here looks at a run.
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
    """The sum of value x ns from one moment until another. Nothing counts before the first point. Exact for whole numbers."""
    pieces = pairwise([*staircase, (max(from_ns, to_ns), 0)])
    overlaps = ((value, min(end_ns, to_ns) - max(at_ns, from_ns)) for (at_ns, value), (end_ns, _) in pieces)
    parts = [value * lasts_ns for value, lasts_ns in overlaps if lasts_ns > 0]
    return sum(parts) if all(isinstance(part, int) for part in parts) else math.fsum(parts)


def mean_between(staircase: Points, from_ns: int, to_ns: int) -> float:
    return area(staircase, from_ns, to_ns) / (to_ns - from_ns)


def worker_hours(workers: Points, until_ns: int) -> float:
    """The integral of active workers from the start of the run."""
    return area(workers, 0, until_ns) / HOUR_NS


class Spread(NamedTuple):
    mean: float
    p50: float
    p95: float
    max: float


def spread(values: Sequence[float], weights: Sequence[int] | None = None) -> Spread | None:
    """None without values. Percentiles are values: the least which so large a share does not exceed. weights: how often each counts."""
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
    """The share of samples below the bound; None without samples."""
    return sum(value < bound for _, value in samples) / len(samples) if samples else None


def violation_ns(samples: Points, bound: float, start_ns: int = 0) -> int:
    """How long values were above the bound: a sample stands for the time since the one before it, the first for the time since start_ns."""
    since = [start_ns, *(at_ns for at_ns, _ in samples)]
    return sum(at_ns - before_ns for (at_ns, value), before_ns in zip(samples, since, strict=False) if value > bound)


def follows(workers: Points, load: Points, until_ns: int, behind_max_ns: int = 5 * MINUTE_NS, every_ns: int = MINUTE_NS) -> float | None:
    """How closely workers follow the load: Pearson's correlation of the two, minute by minute (means), the largest over all delays of
    whole minutes up to behind_max_ns. None where one of them does not change, or there are fewer than three minutes."""
    minutes = range(0, until_ns - every_ns + 1, every_ns)
    had, came = ([mean_between(each, at_ns, at_ns + every_ns) for at_ns in minutes] for each in (workers, load))
    found = []
    for behind in range(behind_max_ns // every_ns + 1):
        later, earlier = had[behind:], came[: len(came) - behind]
        if len(later) >= 3 and len(set(later)) > 1 and len(set(earlier)) > 1:
            found.append(correlation(later, earlier))
    return max(found, default=None)


class Action(NamedTuple):
    """A rescale that has ended. before, after: parallelism by operator as it ran then; equal where it was aborted."""

    ended_ns: int
    before: Mapping[str, int]
    after: Mapping[str, int]


def up_and_down(actions: Sequence[Action]) -> tuple[int, int]:
    """How many actions have raised the sum of workers, and how many have lowered it."""
    changes = [sum(action.after.values()) - sum(action.before.values()) for action in actions]
    return sum(change > 0 for change in changes), sum(change < 0 for change in changes)


class Phase(NamedTuple):
    """What became of a stretch of constant load. actions: that ended in it. settled_ns, settled_steps: from its start, how long it took and
    how many actions, until the sum of workers and each operator's stayed within one of what they were then; the last action at the latest.
    converged: 1 if it has settled for long enough without growing lag, else 0: the specification's definition, but for `least_lag`
    (`phase`), which is ours."""

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
    """initial: parallelism at the start of the run. actions: all of the run. lag: samples, records.

    Lag grows if the mean of the second half of the last lag_ns is above that of the first by more than least_lag. The halves and the least
    growth are ours: the specification says that lag "does not grow", and not by how much. Runs give a quarter of a second of input, which
    policies do not see either. Where there are no samples nobody knows, and it has not converged. A phase in which nothing has to be done
    settles at once, after no step.
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
    """The stretches of constant load of a staircase of rates: from, to. Points that change nothing begin none."""
    starts = [at_ns for n, (at_ns, rate) in enumerate(rates) if (n == 0 or rate != rates[n - 1][1]) and at_ns < until_ns]
    return list(pairwise([*starts, until_ns]))
