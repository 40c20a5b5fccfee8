"""Search for the largest sustained load (docs/studies.md, "The search"). Source: Karimov 2020, section 3.4.3; the order from the bottom
and the bisection are ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

from engine.spec.study.study import SustainableLoad, rounded

STEP_UP = 2.0
"""Largest factor by which a sustained load is raised. Twice a sustained load is the dearest load that is tried."""


@dataclass(frozen=True)
class Bracket:
    """sustained: largest load sustained so far, or None. failed: smallest load above it that was not sustained, or None. wanted: load to
    try next, None when the search is over."""

    sustained: float | None
    failed: float | None
    wanted: float | None = None


def narrow(search: SustainableLoad, verdicts: Mapping[float, bool]) -> Bracket:
    """Return the state of the search. verdicts: whether each load was sustained; loads that the search did not request are ignored."""
    rungs = list(search.rungs())[::-1] if search.start == "bottom" else []
    bracket = (_up(rungs, verdicts) if rungs else None) or _down(search, verdicts)
    if bracket.wanted is not None or bracket.sustained is None or bracket.failed is None:
        return bracket
    load, failed = bracket.sustained, bracket.failed
    while (middle := _between(search, rungs, load, failed)) is not None:
        if middle not in verdicts:
            return Bracket(load, failed, middle)
        load, failed = (middle, failed) if verdicts[middle] else (load, middle)
    return Bracket(load, failed)


def _up(rungs: list[float], verdicts: Mapping[float, bool]) -> Bracket | None:
    """Raise the load, about doubling it, until it is not sustained. rungs: ascending. None if no load on the way is sustained: at low loads
    a run may fail because it has too few results, so the search then goes down."""
    sustained = failed = None
    for load in _doublings(rungs):
        if load not in verdicts:
            return Bracket(sustained, failed, load)
        if verdicts[load]:
            sustained, failed = load, None
        elif sustained is not None:
            return Bracket(sustained, load)
        else:
            failed = failed or load
    return None if sustained is None else Bracket(sustained, None)


def _doublings(rungs: list[float]) -> list[float]:
    """Return the lowest rung, then each time the highest that is at most `STEP_UP` times the one before, or else the next."""
    chosen, at = [rungs[0]], 0
    while at + 1 < len(rungs):
        at = max(at + 1, max(n for n, load in enumerate(rungs) if load <= STEP_UP * rungs[at]))
        chosen.append(rungs[at])
    return chosen


def _down(search: SustainableLoad, verdicts: Mapping[float, bool]) -> Bracket:
    """Lower the load from the top until it is sustained."""
    failed = None
    for load in search.rungs():
        if load not in verdicts:
            return Bracket(None, failed, load)
        if verdicts[load]:
            return Bracket(load, failed)
        failed = load
    return Bracket(None, failed)


def _between(search: SustainableLoad, rungs: list[float], load: float, failed: float) -> float | None:
    """Return the load that halves the bracket, a rung if there is one inside: from the bottom, the same two rungs are bracketed as from the
    top. None if the bracket is narrow enough."""
    if inside := [rung for rung in rungs if load < rung < failed]:
        return inside[len(inside) // 2]
    middle = rounded((load + failed) / 2)
    return middle if failed > load * (1 + search.precision) and load < middle < failed else None


def left(search: SustainableLoad, verdicts: Mapping[float, bool]) -> int:
    """Estimate the number of remaining trials. From the bottom, assume a capacity in the middle of what is still possible; from the top,
    that the next load is sustained if none is yet, and that all later ones are not."""
    imagined = dict(verdicts)
    bracket = narrow(search, verdicts)
    least, top = search.ends
    capacity = sqrt((bracket.sustained or least) * (bracket.failed or top))
    count = 0
    while bracket.wanted is not None:
        next_one = bracket.sustained is None and bool(imagined)
        imagined[bracket.wanted] = bracket.wanted <= capacity if search.start == "bottom" else next_one
        bracket = narrow(search, imagined)
        count += 1
    return count
