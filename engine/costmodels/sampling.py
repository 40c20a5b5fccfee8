"""Selectivities estimated before a run, from a sample of each stream (Heinrich et al. 2024, section III; specification 2.4).

A measured one would tell whether anything flowed, and with it whether the query succeeds.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.random import RandomStream

from .description import Aggregate, Filter, Join, Operator, Query, Sink, Source, WindowedAggregate

SAMPLE = 1000
"""Records of each stream, and of each intermediate result at most."""

LEAST = 1e-6
"""Of a join: a sample in which nothing meets does not say that nothing ever does."""

Values = NDArray[Any]
Table = dict[str, Values]
"""Values by field, as many of each: numbers, or texts."""

COMPARISONS: Mapping[str, Callable[[Values, Any], Values]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
    "startswith": lambda values, text: np.char.startswith(values, text),
    "endswith": lambda values, text: np.char.endswith(values, text),
    "contains": lambda values, text: np.char.find(values, text) >= 0,
    "not startswith": lambda values, text: ~np.char.startswith(values, text),
    "not endswith": lambda values, text: ~np.char.endswith(values, text),
    "not contains": lambda values, text: np.char.find(values, text) < 0,
}

FUNCTIONS: Mapping[str, Callable[[Values], float]] = {"min": np.min, "max": np.max, "mean": np.mean, "sum": np.sum, "count": len}


@dataclass(frozen=True)
class Fields:
    """Names of the fields that an operator uses. tested: by a filter. keys: of the inputs of a join. group, value: of an aggregate;
    its result is the field `result`."""

    tested: str = ""
    keys: tuple[str, str] = ("", "")
    group: str | None = None
    value: str | None = None
    result: str = "value"


def estimated(query: Query, samples: Mapping[int, Table], fields: Sequence[Fields], random: RandomStream) -> tuple[float, ...]:
    """By operator, from 0 to 1; 1 for sources and the sink.

    Of a filter the share that passes. Of a join the share of pairs that meet. Of an aggregate groups over records, with as many records as
    a window holds at the sources' rates. samples: by number of the source. fields: by operator. random: which pairs of a join go on.
    """
    rates: list[float] = []  # records per second that leave, by operator
    firings: list[float] = []  # results of one firing of a join, by operator
    tables: list[Table] = []
    found: list[float] = []
    for n, (of, used) in enumerate(zip(query.operators, fields, strict=True)):
        inputs = query.senders[n]
        share, fired, rate = 1.0, 0.0, sum(rates[sender] for sender in inputs)
        table = tables[inputs[0]] if inputs else samples[n]
        match of:
            case Source():
                rate = float(of.rate_per_s)
            case Filter():
                passing = COMPARISONS[of.function](table[used.tested], of.literal)
                share = float(np.mean(passing))
                if share > 0:  # else what follows is estimated as if some had passed
                    table = {name: values[passing] for name, values in table.items()}
                rate, fired = rate * share, firings[inputs[0]] * share
            case Join():
                sides = (table, tables[inputs[1]])
                share, table = _joined(sides, used.keys, random, n)
                left, right = (_in_window(of, rates[sender], rate) for sender in inputs)
                fired = left * right * share
                rate = fired * _firings_per_s(of, rate)
            case WindowedAggregate():
                held = _in_window(of, rate, rate)
                groups, table = _aggregated(of.function, table, used, held)
                share, rate = min(1.0, groups / max(held, 1.0)), groups * _firings_per_s(of, rate)
            case Aggregate():
                held = firings[inputs[0]]
                groups, table = _aggregated(of.function, table, used, held)
                share = min(1.0, groups / max(held, 1.0))
                rate *= share
        rates.append(rate)
        firings.append(fired)
        tables.append(table)
        found.append(share)
    return tuple(found)


def counted(query: Query, sent_per_s: Sequence[float]) -> tuple[float, ...]:
    """By operator, from 0 to 1, as `estimated`, from how many records each operator sent in a run; 0 where none came. What its senders sent
    counts as tried, also what still waits, so the share of an operator that is behind is too small."""
    return tuple(_counted(of, sent_per_s[n], [sent_per_s[sender] for sender in query.senders[n]]) for n, of in enumerate(query.operators))


def _counted(of: Operator, sent_per_s: float, received_per_s: Sequence[float]) -> float:
    """received_per_s: by input."""
    whole = sum(received_per_s)
    tried = whole
    match of:
        case Source() | Sink():
            return 1.0
        case Join():
            left, right = (_in_window(of, rate, whole) for rate in received_per_s)
            tried = left * right * _firings_per_s(of, whole)
        case WindowedAggregate():
            tried = _in_window(of, whole, whole) * _firings_per_s(of, whole)
    return min(1.0, sent_per_s / tried) if tried else 0.0


def _joined(sides: tuple[Table, Table], keys: tuple[str, str], random: RandomStream, number: int) -> tuple[float, Table]:
    """The share of all pairs that meet, and some of those that do. Fields of the right side that the left one has get a prefix."""
    left, right = (side[key] for side, key in zip(sides, keys, strict=True))
    order = np.argsort(right, kind="stable")
    first, last = (np.searchsorted(right[order], left, side=side) for side in ("left", "right"))
    meeting = last - first
    share = max(float(meeting.sum()) / (len(left) * len(right)), LEAST)
    counters = np.arange(SAMPLE) + SAMPLE * number
    if meeting.any():
        ends = np.cumsum(meeting)
        pair = random.below(counters, int(ends[-1]))
        row = np.searchsorted(ends, pair, side="right")
        other = order[first[row] + pair - (ends[row] - meeting[row])]
    else:
        row, other = random.below(counters, len(left)), random.below(counters, len(right))
    table = {name: values[row] for name, values in sides[0].items()}
    for name, values in sides[1].items():
        while name in table:
            name = f"right_{name}"
        table[name] = values[other]
    return share, table


def _aggregated(function: str, table: Table, used: Fields, held: float) -> tuple[float, Table]:
    """Groups among so many records, in the mean over the sample, and results of as many windows as the sample fills."""
    count = len(next(iter(table.values())))
    size = max(1, min(round(held), count))
    factor = max(held, 1.0) / size if function in ("sum", "count") else 1.0  # of windows that hold more than the sample
    names: Values = np.zeros(count, np.int64) if used.group is None else table[used.group]
    kinds, numbers, counts = np.unique(names, return_inverse=True, return_counts=True)
    groups = float(np.sum(1.0 - _to_the(1.0 - counts / count, round(held))))
    values = table[used.value] if used.value is not None else np.ones(count)
    compute = FUNCTIONS[function]
    results: list[tuple[int, float]] = []
    for start in range(0, count - size + 1, size):
        of_window, window = numbers[start : start + size], values[start : start + size]
        results += [(int(group), factor * float(compute(window[of_window == group]))) for group in np.unique(of_window)]
        if len(results) >= SAMPLE:
            break
    made: Table = {used.result: np.array([value for _, value in results])}
    if used.group is not None:
        made[used.group] = kinds[[group for group, _ in results]]
    return groups, made


def _in_window(of: Join | WindowedAggregate, rate: float, of_all: float) -> float:
    """Records of one input in a window. Windows by count hold records of all inputs together."""
    if of.window.policy == "time":
        return rate * of.window.size / 1000
    return of.window.size * rate / of_all if of_all else 0.0


def _firings_per_s(of: Join | WindowedAggregate, rate: float) -> float:
    return 1000 / of.window.slide if of.window.policy == "time" else rate / of.window.slide


def _to_the(base: NDArray[np.float64], exponent: int) -> NDArray[np.float64]:
    """By multiplication alone, which gives the same on every machine."""
    found = np.ones_like(base)
    while exponent:
        if exponent & 1:
            found *= base
        base, exponent = base * base, exponent >> 1
    return found
