"""The local search: move or exchange worksets of the busiest worker as long as the imbalance falls."""

from __future__ import annotations

from engine.spec.experiment.balancings.local_search import LocalSearchBalancing

from .loads import Loads, Workset

CANDIDATES = 64
"""Worksets of a worker that are looked at, the largest ones."""


def plan(about: LocalSearchBalancing, loads: Loads) -> None:
    """Change `loads` step by step. Each step lowers the imbalance, so it ends."""
    for _ in range(about.steps_max):
        mean = loads.mean
        source = max(range(len(loads.by_worker)), key=lambda n: (loads.by_worker[n], -n))
        best: tuple[float, int, Workset, Workset | None] | None = None
        for target in range(len(loads.by_worker)):
            if target == source:
                continue
            for given in _candidates(loads, source):
                for taken in (None, *_candidates(loads, target)):
                    shift = given.load - (taken.load if taken is not None else 0.0)
                    gain = _deviation(loads, source, target, 0.0, mean) - _deviation(loads, source, target, shift, mean)
                    if gain > 1e-9 * mean and (best is None or gain > best[0]):
                        best = gain, target, given, taken
        if best is None:
            return
        gain, target, given, taken = best
        loads.move(given, source, target, gain)
        if taken is not None:
            loads.move(taken, target, source, 0.0)


def _candidates(loads: Loads, worker: int) -> list[Workset]:
    return sorted(loads.worksets[worker].values(), key=lambda workset: (-workset.load, workset.id))[:CANDIDATES]


def _deviation(loads: Loads, source: int, target: int, shift: float, mean: float) -> float:
    return abs(loads.by_worker[source] - shift - mean) + abs(loads.by_worker[target] + shift - mean)
