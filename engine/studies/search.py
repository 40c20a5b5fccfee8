"""The search for the largest load that is sustained. Source: Karimov 2020, section 3.4.3; the bisection is ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.spec.study.study import SustainableLoad, rounded


@dataclass(frozen=True)
class Bracket:
    """sustained: the largest load that was seen to be sustained, None if none was; failed: the smallest above it that was not, None if
    none was. wanted: the load to be tried next, None when the search is over."""

    sustained: float | None
    failed: float | None
    wanted: float | None = None


def narrow(search: SustainableLoad, verdicts: Mapping[float, bool]) -> Bracket:
    """Where the search stands. verdicts: whether a load was sustained, by load; loads that the search did not ask for do not matter."""
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
    """About how many more trials the search makes: as if the next load were sustained while none is, and every one after that were not."""
    imagined = dict(verdicts)
    count = 0
    while (bracket := narrow(search, imagined)).wanted is not None:
        imagined[bracket.wanted] = bracket.sustained is None and bool(imagined)
        count += 1
    return count
