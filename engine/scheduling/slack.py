"""Expected ingestion of sweeping watermarks, and the slack of queries (Farhat 2020, Eqs. 3.1 to 3.10, Algorithms 2 and 3)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.core.layout import FAR
from engine.core.mathematics import normal_cdf, normal_quantile

from .statistics import InputStatistics, Statistics

Floats = NDArray[np.float64]
US_NS = 1000.0


def deviations(confidence: float) -> float:
    """Half the width of an interval of this confidence, in standard deviations. The source takes 2 for 95 %."""
    return 2.0 if confidence == 0.95 else float(normal_quantile(np.array([(1.0 + confidence) / 2.0]))[0])


class Expected(NamedTuple):
    """When the next sweeping watermark is expected to be taken in: mean and standard deviation, ns."""

    mean_ns: float
    sd_ns: float


def expected(about: InputStatistics, variance: str) -> Expected:
    """Eqs. 3.2 to 3.6. The mean counts from the making of the last sweeping watermark. A source that is behind its log takes it in as much
    later. variance: `event`, that of a single delay, or `printed`, that of the mean of the kept epochs, as in Eq. 3.6."""
    if about.epochs == 0:
        made_ns = about.deadline_ns + about.lag_ns + about.behind_ns
        return Expected(made_ns + about.first_us * US_NS, about.first_sd_us * US_NS)
    past = about.history
    squared_us2 = past.mean_variance_us2 if variance == "printed" else past.squares_us2 - past.mean_us * past.mean_us
    return Expected(past.made_ns + past.period_ns + about.behind_ns + past.mean_us * US_NS, math.sqrt(max(squared_us2, 0.0)) * US_NS)


def expected_slack(
    now: float, mean: Floats, sd: Floats, cost: Floats, cycle: float, z: float, normalise: bool = False
) -> tuple[Floats, int]:
    """Eqs. 3.7 to 3.10: what is left of the time until the watermark, less the cost of what waits, averaged over the cycles in which it may
    come. Times in any one unit. Returns the slack, and the number of bins computed.

    A watermark later than the end of its interval is taken as due in this cycle.
    """
    late = now > mean + z * sd
    fixed = ~late & (sd == 0)
    slack = np.where(late, cycle - cost, mean + cycle - now - cost)
    spread = np.flatnonzero(~late & ~fixed)
    bins = int(fixed.sum())
    if not len(spread):
        return slack, bins
    m, s, c = mean[spread], sd[spread], cost[spread]
    left = 1.0 - normal_cdf((now - m) / s)
    first = np.maximum(now, m - z * s)
    count = np.maximum(np.floor((m + z * s - first) / cycle).astype(np.int64) + 1, 1)
    row = np.repeat(np.arange(len(spread)), count)
    x = first[row] + cycle * (np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count))
    share = normal_cdf((x + cycle - m[row]) / s[row]) - normal_cdf((x - m[row]) / s[row])
    share = share / np.where(left > 0, left, 1.0)[row]
    total: Floats = np.bincount(row, weights=share * (x + cycle - now - c[row]), minlength=len(spread)).astype(np.float64)
    if normalise:
        total = total / np.bincount(row, weights=share, minlength=len(spread))
    slack[spread] = np.where(left > 0, total, cycle - c)
    return slack, bins + len(row)


def costs_ns(statistics: Statistics) -> Floats:
    """By query, the time in which what waits can be served to its end on this host, and the next firing (3.6 of the specification).

    The work is spread over as many cores as the query can use: no task is quicker than its own share on its instances.
    """
    tasks = statistics.tasks
    waiting = np.where(statistics.open, statistics.queued, 0).astype(np.float64)
    firing = np.where(tasks.fires, statistics.firing_ns, 0.0)
    fired = np.where(tasks.fires, statistics.fired, 0.0)
    arriving = statistics.arriving(waiting, statistics.streaming)
    behind = np.bincount(tasks.received, weights=fired[tasks.sent], minlength=tasks.count).astype(np.float64)
    rows = statistics.arriving(behind, statistics.streaming)  # of the next firing
    work = (arriving + rows) * statistics.cost_ns + firing
    return spread_over_cores(statistics, work)


def spread_over_cores(statistics: Statistics, work_ns: Floats) -> Floats:
    """By query, the shortest time for work by task: bounded by the host's cores and by the instances of each task."""
    tasks = statistics.tasks
    longest = np.zeros(len(tasks.names))
    np.maximum.at(longest, tasks.query, work_ns / tasks.parallelism)
    return np.maximum(longest, statistics.by_query(work_ns) / tasks.cores)


def ahead_ns(statistics: Statistics, query: int, watermark_ns: int) -> float:
    """The time for what waits ahead of a watermark of the query: at the tasks that it has not passed."""
    tasks = statistics.tasks
    ahead = (tasks.query == query) & statistics.open & (statistics.watermark_ns < watermark_ns)
    waiting = np.where(ahead, statistics.queued, 0).astype(np.float64)
    work = np.where(ahead, statistics.arriving(waiting, statistics.streaming) * statistics.cost_ns, 0.0)
    return float(spread_over_cores(statistics, work)[query])


class Slacks(NamedTuple):
    """By query: slack, cost, next deadline and expected watermark of the input that decides, ns. expected: by input. bins: computed."""

    slack_ns: Floats
    cost_ns: Floats
    deadline_ns: Floats
    mean_ns: Floats
    sd_ns: Floats
    expected: Sequence[Expected]
    bins: int


def slacks(
    statistics: Statistics, confidence: float, variance: str, normalise: bool, estimates: Mapping[int, Expected] | None = None
) -> Slacks:
    """The least slack over the inputs of each query; infinite for queries of whose sources this host knows nothing. estimates: by number of
    input, in place of those from its history."""
    now = float(statistics.now_ns)
    queries, inputs = len(statistics.tasks.names), statistics.inputs
    cost = costs_ns(statistics) + statistics.elsewhere_ns
    found = [(estimates or {}).get(k) or expected(about, variance) for k, about in enumerate(inputs)]
    mean, sd = (np.array([getattr(each, name) for each in found], np.float64) for name in ("mean_ns", "sd_ns"))
    query = np.array([about.query for about in inputs], np.int64)
    of_input, bins = expected_slack(now, mean, sd, cost[query], float(statistics.cycle_ns), deviations(confidence), normalise)
    for k, about in enumerate(inputs):
        if about.oldest_ns >= 0:
            ahead = ahead_ns(statistics, about.query, about.oldest_watermark_ns) + statistics.elsewhere_ns[about.query]
            of_input[k] = about.oldest_ns - now - ahead
    slack, deadline, means, sds = (np.full(queries, np.inf) for _ in range(4))
    for k in np.argsort(-of_input, kind="stable").tolist():  # the input with the least slack comes last, and stays
        q = inputs[k].query
        if inputs[k].deadline_ns < FAR or inputs[k].oldest_ns >= 0:
            slack[q], deadline[q], means[q], sds[q] = of_input[k], inputs[k].deadline_ns, mean[k], sd[k]
    return Slacks(slack, cost, deadline, means, sds, found, bins)
