"""Selectivities of a drawn query, estimated from samples of its synthetic streams (Heinrich et al. 2024, section III; specification 2.4).

Streams hold whole numbers from -10 to 10, decimals from -0.05 to 0.05 in steps of 0.01 (the ends half as often), and hexadecimal digits.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.random import RandomStream
from engine.costmodels.description import Aggregate, Dtype, Filter, Join, Query, Source, WindowedAggregate

SAMPLE = 1000
"""Records of each stream."""

LEAST = 1e-6
"""Of a join: a sample in which nothing meets does not say that nothing ever does."""

Values = NDArray[Any]

COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    # a string is one digit, so it starts with, ends with and contains the same
    "startswith": operator.eq,
    "endswith": operator.eq,
    "contains": operator.eq,
    "not startswith": operator.ne,
    "not endswith": operator.ne,
}


def sampled(dtype: Dtype, stream: RandomStream) -> Values:
    """An attribute of so many records. Strings are given by their digit, decimals in hundredths."""
    counters = np.arange(SAMPLE)
    if dtype == "int":
        return stream.below(counters, 21) - 10
    return stream.below(counters, 16) if dtype == "string" else (stream.below(counters, 20) + 1) // 2 - 5


def estimated(query: Query, seed: int, *names: str | int) -> tuple[float, ...]:
    """By operator, from 0 to 1; 1 for sources and the sink.

    Of a filter the share that passes. Of a join the share of pairs that meet. Of an aggregate groups over records, with as many records as
    a window holds at the sources' rates. seed, names: of the streams' samples.
    """
    rates: list[float] = []  # records per second that leave, by operator
    firings: list[float] = []  # results of one firing, by operator; those of a join count
    found: list[float] = []
    for n, of in enumerate(query.operators):
        inputs = query.senders[n]
        stream = RandomStream(seed, *names, n)
        share, fired, rate = 1.0, 0.0, sum(rates[sender] for sender in inputs)
        match of:
            case Source():
                rate = float(of.rate_per_s)
            case Filter():
                share = float(np.mean(COMPARISONS[of.function](sampled(of.dtype, stream), _number(of))))
                rate, fired = rate * share, firings[inputs[0]] * share
            case Join():
                share = max(_meeting(sampled(of.key, stream), sampled(of.key, RandomStream(seed, *names, n, "right"))), LEAST)
                left, right = (_in_window(of, rates[sender], rate) for sender in inputs)
                fired = left * right * share
                rate = fired * _firings_per_s(of, rate)
            case WindowedAggregate():
                held = _in_window(of, rate, rate)
                groups = _groups(of.group_by, held, stream)
                share = min(1.0, groups / max(held, 1.0))
                rate = groups * _firings_per_s(of, rate)
            case Aggregate():
                held = firings[inputs[0]]
                groups = _groups(of.group_by, held, stream)
                share = min(1.0, groups / max(held, 1.0))
                rate *= share
        rates.append(rate)
        firings.append(fired)
        found.append(share)
    return tuple(found)


def _number(of: Filter) -> int:
    if of.dtype == "string":
        return int(str(of.literal), 16)
    return round(100 * float(of.literal)) if of.dtype == "double" else int(of.literal)


def _meeting(left: Values, right: Values) -> float:
    """The share of all pairs whose keys are equal."""
    values, counts = np.unique(left, return_counts=True)
    others, more = np.unique(right, return_counts=True)
    _, at, of = np.intersect1d(values, others, return_indices=True)
    return float(counts[at] @ more[of]) / (len(left) * len(right))


def _in_window(of: Join | WindowedAggregate, rate: float, of_all: float) -> float:
    """Records of one input in a window. Windows by count hold records of all inputs together."""
    if of.window.policy == "time":
        return rate * of.window.size / 1000
    return of.window.size * rate / of_all if of_all else 0.0


def _firings_per_s(of: Join | WindowedAggregate, rate: float) -> float:
    return 1000 / of.window.slide if of.window.policy == "time" else rate / of.window.slide


def _groups(group_by: Dtype | None, held: float, stream: RandomStream) -> float:
    """How many groups so many records have, in the mean over the sample."""
    if group_by is None:
        return min(1.0, held)
    values = sampled(group_by, stream)
    _, counts = np.unique(values, return_counts=True)
    return float(np.sum(1.0 - _to_the(1.0 - counts / len(values), round(held))))


def _to_the(base: NDArray[np.float64], exponent: int) -> NDArray[np.float64]:
    """By multiplication alone, which gives the same on every machine."""
    found = np.ones_like(base)
    while exponent:
        if exponent & 1:
            found *= base
        base, exponent = base * base, exponent >> 1
    return found
