"""Search for the largest sustained load. Source: Karimov 2020, section 3.4.3; the bisection is ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.spec.study.study import SustainableLoad, rounded


@dataclass(frozen=True)
class Bracket:
    """sustained: largest load sustained so far, or None. failed: smallest load above it that was not sustained, or None. wanted: load to
    try next, None when the search is over."""

    sustained: float | None
    failed: float | None
    wanted: float | None = None


def narrow(search: SustainableLoad, verdicts: Mapping[float, bool]) -> Bracket:
    """Return the state of the search. verdicts: whether each load was sustained; loads that the search did not request are ignored."""
    least, load = search.ends
    failed = None
    while not verdicts.get(load, False):
        if load not in verdicts:
            return Bracket(None, failed, load)
        failed = load
        if load <= least:
            return Bracket(None, failed)
        load = max(least, rounded(load * search.step_down))
    while failed is not None and failed > load * (1 + search.precision):
        middle = rounded((load + failed) / 2)
        if not load < middle < failed:
            break
        if middle not in verdicts:
            return Bracket(load, failed, middle)
        load, failed = (middle, failed) if verdicts[middle] else (load, middle)
    return Bracket(load, failed)


def left(search: SustainableLoad, verdicts: Mapping[float, bool]) -> int:
    """Estimate the number of remaining trials: assume that the next load is sustained if none is yet, and that all later ones are not."""
    imagined = dict(verdicts)
    count = 0
    while (bracket := narrow(search, imagined)).wanted is not None:
        imagined[bracket.wanted] = bracket.sustained is None and bool(imagined)
        count += 1
    return count
