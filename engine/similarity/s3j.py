"""Algorithm 1 of S3J, repaired: see docs/similarity.md for what the listing has wrong."""

from __future__ import annotations

from engine.spec.experiment.balancings.s3j import S3JBalancing

from .loads import Loads, Workset


def plan(about: S3JBalancing, loads: Loads) -> None:
    """Move worksets in `loads`, as long as one is worth it. Source: Siachamis 2024, Algorithm 1."""
    mean = loads.mean
    workers = range(len(loads.by_worker))
    over = [n for n in workers if loads.by_worker[n] >= mean]
    under = [n for n in workers if loads.by_worker[n] < mean]
    fixed = {largest.id for n in over if (largest := _largest(loads, n)) is not None and largest.load > mean}
    while True:
        found = _best(about, loads, over, fixed, mean)
        if found is None:
            return
        benefit, source, workset = found
        gains = [
            (abs(loads.by_worker[n] - mean) - abs(loads.by_worker[n] + workset.load - mean), -loads.by_worker[n], -n)
            for n in under
            if loads.by_worker[n] < mean
        ]
        accepted = [gain for gain in gains if _accepts(about, benefit, gain[0])]
        if not accepted:
            fixed.add(workset.id)
            continue
        gain, _, target = max(accepted)
        loads.move(workset, source, -target, benefit + gain)


def _largest(loads: Loads, worker: int) -> Workset | None:
    return max(loads.worksets[worker].values(), key=lambda workset: (workset.load, -workset.id), default=None)


def _best(about: S3JBalancing, loads: Loads, over: list[int], fixed: set[int], mean: float) -> tuple[float, int, Workset] | None:
    """The workset whose removal helps its worker most, with the benefit and the worker; the lowest number of several."""
    best: tuple[float, int, Workset] | None = None
    for worker in over:
        load = loads.by_worker[worker]
        for workset in loads.worksets[worker].values():
            benefit = abs(load - mean) - abs(load - workset.load - mean) - about.per_byte * workset.bytes
            if benefit <= 0 or workset.id in fixed:
                continue
            if best is None or (benefit, -workset.id) > (best[0], -best[2].id):
                best = benefit, worker, workset
    return best


def _accepts(about: S3JBalancing, benefit: float, gain: float) -> bool:
    if about.accept == "listing":
        return True
    return gain > 0 if about.accept == "text" else benefit + gain > 0
