"""What becomes of a wish: over-provisioning, limits of a step, of operators and of all workers (Siachamis 2024, 4.4; its artifact)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple


class Limit(NamedTuple):
    """How far a vertex may be scaled. workers: for each parallelism, the operators that are scaled as one."""

    least: int = 1
    most: int = 2**32 - 1
    workers: int = 1


class Step(NamedTuple):
    """What a rule made of the wish before it: new parallelisms, of what it has changed."""

    rule: str
    parallelism: dict[str, int]


def limited(
    current: Mapping[str, int],
    wanted: Mapping[str, int],
    over_provisioning: Fraction,
    step_max: int | None,
    bounds: Mapping[str, Limit],
    workers_max: int,
) -> tuple[dict[str, int], list[Step]]:
    """What is to be ordered, and by which rules it came about. A step is limited upwards only."""
    steps: list[Step] = []
    wish = dict(wanted)

    def apply(rule: str, parallelism: dict[str, int]) -> None:
        changed = {vertex: p for vertex, p in parallelism.items() if p != wish[vertex]}
        if changed:
            steps.append(Step(rule, changed))
            wish.update(changed)

    apply("over_provisioning", {vertex: math.ceil(p * over_provisioning) for vertex, p in wish.items()})
    if step_max is not None:
        apply("step_max", {vertex: min(p, current[vertex] + step_max) for vertex, p in wish.items()})
    apply("bounds", {vertex: min(max(p, bounds[vertex].least), bounds[vertex].most) for vertex, p in wish.items()})
    if workers(wish, bounds) > workers_max:
        apply("workers_max", fit(wish, workers_max, bounds))
    return wish, steps


def workers(parallelism: Mapping[str, int], bounds: Mapping[str, Limit]) -> int:
    """So many instances are active with it."""
    return sum(p * bounds[vertex].workers for vertex, p in parallelism.items())


def fit(wanted: Mapping[str, int], workers_max: int, bounds: Mapping[str, Limit] | None = None) -> dict[str, int]:
    """A wish for more workers than there are, scaled down to about as many, never more.

    What each wants beyond its least is multiplied by one factor and rounded, half to even. What is then too much is taken, one by one, from
    the vertex with the largest wish; of what is left over, one is given to it. So one inflated wish squeezes all others.
    """
    bounds = bounds or dict.fromkeys(wanted, Limit())
    least = {vertex: bounds[vertex].least for vertex in wanted}
    if workers(least, bounds) > workers_max:
        raise ValueError(f"workers_max is {workers_max}, less than the sum of the least parallelisms, {workers(least, bounds)}")
    beyond = workers(wanted, bounds) - workers(least, bounds)
    factor = Fraction(workers_max - workers(least, bounds), beyond)
    fitted = {vertex: least[vertex] + round(factor * (p - least[vertex])) for vertex, p in wanted.items()}
    by_size = sorted(wanted, key=lambda vertex: -wanted[vertex])
    missing = workers_max - workers(fitted, bounds)
    while workers(fitted, bounds) > workers_max:
        fitted[next(vertex for vertex in by_size if fitted[vertex] > least[vertex])] -= 1
    if missing > 0:
        wants = [vertex for vertex in by_size if fitted[vertex] < wanted[vertex] and bounds[vertex].workers <= missing]
        if wants:
            fitted[wants[0]] += 1
    return fitted
