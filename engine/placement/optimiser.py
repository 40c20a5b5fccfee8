"""The choice among candidates by what is predicted of them (Heinrich et al. 2024, section V; specification 3.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from .space import Placed

Filter = Literal["fails", "falls behind", "members differ"]


class Vote(Protocol):
    @property
    def passes(self) -> bool: ...


class Predicted(Protocol):
    """What is predicted of a candidate (`engine.costmodels.ensembles.Predicted`)."""

    @property
    def mean(self) -> float: ...

    @property
    def spread(self) -> float: ...

    @property
    def success(self) -> Vote: ...

    @property
    def flows(self) -> Vote: ...


@dataclass(frozen=True)
class Choice:
    """order: candidates from the best on, by their numbers, those that were filtered last. filtered: why, by number. relaxed: filters that
    were dropped because nothing would have been left."""

    order: tuple[int, ...]
    filtered: dict[int, Filter]
    relaxed: tuple[Filter, ...]

    @property
    def best(self) -> int:
        return self.order[0]


def choose(
    candidates: Sequence[Placed],
    predicted: Sequence[Predicted],
    highest: bool = False,
    spread_max: float | None = None,
    quantile: float = 0,
) -> Choice:
    """The candidate with the lowest predicted cost, or the highest, such as throughput, among those that succeed and keep up.

    If none does, the filters are dropped one after another: that of members that differ, then of falling behind, then of failing. Equal
    ones go by fewer hosts, then by the numbers of hosts. spread_max: candidates whose members differ by more are filtered. quantile: the
    candidate at this share of the order comes first in place of the first one, against predictions that are far too good; the authors take
    0.1. Raises ValueError without candidates.
    """
    if not candidates:
        raise ValueError("there is no candidate to choose from")
    reasons = {n: reason for n, one in enumerate(predicted) if (reason := _filter(one, spread_max)) is not None}
    relaxed: list[Filter] = []
    for dropped in ("members differ", "falls behind", "fails"):
        if len(reasons) < len(candidates):
            break
        if dropped in reasons.values():
            relaxed.append(dropped)
            reasons = {n: reason for n, reason in reasons.items() if reason != dropped}

    def place(n: int) -> tuple[bool, float, int, Placed]:
        cost = predicted[n].mean
        return n in reasons, -cost if highest else cost, len(set(candidates[n])), candidates[n]

    order = sorted(range(len(candidates)), key=place)
    first = order.pop(int(quantile * (len(candidates) - len(reasons) - 1)))
    return Choice((first, *order), reasons, tuple(relaxed))


def _filter(of: Predicted, spread_max: float | None) -> Filter | None:
    if not of.success.passes:
        return "fails"
    if not of.flows.passes:
        return "falls behind"
    return "members differ" if spread_max is not None and of.spread > spread_max else None
