"""Limits on requests: over-provisioning, and limits per step, per operator and on all instances (Siachamis 2024, 4.4; its artifact)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple


class Limit(NamedTuple):
    """Bounds of a vertex. workers: instances per unit of parallelism, which is its number of operators."""

    least: int = 1
    most: int = 2**32 - 1
    workers: int = 1


class Step(NamedTuple):
    """The effect of a rule on a request: new parallelisms of the vertices it changed."""

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
    """Apply the limits. Returns the parallelism to order, and the rules that changed it. Only upward steps are limited."""
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
    """Return the number of active instances."""
    return sum(p * bounds[vertex].workers for vertex, p in parallelism.items())


def fit(wanted: Mapping[str, int], workers_max: int, bounds: Mapping[str, Limit] | None = None) -> dict[str, int]:
    """Scale down a request for too many instances to at most workers_max.

    Each vertex's excess over its minimum is multiplied by one factor and rounded half to even. Surplus instances are then removed one by
    one from the vertex with the largest request; of any remainder, it gets one instance. So one inflated request squeezes all others.
    """
    bounds = bounds or dict.fromkeys(wanted, Limit())
    least = {vertex: bounds[vertex].least for vertex in wanted}
    if workers(least, bounds) > workers_max:
        raise ValueError(f"workers_max is {workers_max}, less than the sum of the minimum parallelisms, {workers(least, bounds)}")
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
