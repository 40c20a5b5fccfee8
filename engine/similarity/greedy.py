"""The greedy balancer: largest first, each to the least loaded worker."""

from __future__ import annotations

from engine.spec.experiment.balancings.greedy import GreedyBalancing

from .loads import Loads


def plan(about: GreedyBalancing, loads: Loads) -> None:
    """Assign all worksets anew. Of several least loaded workers a workset's own comes first, then the lowest number."""
    owners = {workset.id: worker for worker, here in enumerate(loads.worksets) for workset in here.values()}
    worksets = sorted((workset for here in loads.worksets for workset in here.values()), key=lambda workset: (-workset.load, workset.id))
    given = [load - sum(workset.load for workset in here.values()) for load, here in zip(loads.by_worker, loads.worksets, strict=True)]
    targets: dict[int, int] = {}
    for workset in worksets:
        own = owners[workset.id]
        targets[workset.id] = min(range(len(given)), key=lambda n: (given[n], n != own, n))
        given[targets[workset.id]] += workset.load
    for workset in worksets:
        own, target = owners[workset.id], targets[workset.id]
        if own != target and workset.load > 0:
            before = loads.imbalance
            loads.move(workset, own, target, 0.0)
            loads.moves[-1] = loads.moves[-1]._replace(benefit=before - loads.imbalance)
