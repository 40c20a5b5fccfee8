"""What balancers see, and what they return."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Workset(NamedTuple):
    """A workset in a plan. id: its number. load: comparisons in the last window. bytes: of its records in that window."""

    id: int
    load: float
    bytes: int


class Move(NamedTuple):
    """Workset `id` goes from one worker to another. benefit: by how much that lowers the imbalance, less what the move costs."""

    id: int
    source: int
    target: int
    load: float
    bytes: int
    benefit: float


class Split(NamedTuple):
    """Workset `id` is split into parts on as many workers, from this one on."""

    id: int
    worker: int
    parts: int


def parts_by_worker(worker: int, parts: int, workers: int, load: float) -> list[tuple[int, float]]:
    """Workers with parts of a workset, and what each part has of its load."""
    return [((worker + part) % workers, load / parts) for part in range(parts)]


@dataclass
class Loads:
    """All worksets by worker, and the loads of the workers. Changed by `move`. fixed: loads by worker that nothing can
    move. measured_mean: what loads are set against, if that is not their mean."""

    worksets: list[dict[int, Workset]]
    fixed: list[float]
    measured_mean: float | None = None
    by_worker: list[float] = field(init=False)
    moves: list[Move] = field(default_factory=list)
    splits: list[Split] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.by_worker = [
            fixed + sum(workset.load for workset in here.values()) for here, fixed in zip(self.worksets, self.fixed, strict=True)
        ]

    @classmethod
    def of(
        cls, owned: Iterable[tuple[int, Workset]], workers: int, measured_mean: float | None = None, fixed: Sequence[float] = ()
    ) -> Loads:
        """owned: worker and workset."""
        worksets: list[dict[int, Workset]] = [{} for _ in range(workers)]
        for worker, workset in owned:
            worksets[worker][workset.id] = workset
        return cls(worksets, list(fixed) or [0.0] * workers, measured_mean)

    @property
    def mean(self) -> float:
        return sum(self.by_worker) / len(self.by_worker) if self.measured_mean is None else self.measured_mean

    @property
    def imbalance(self) -> float:
        """The sum of the deviations from the mean. Source: Siachamis 2024, equation 2.5."""
        mean = self.mean
        return sum(abs(load - mean) for load in self.by_worker)

    def split_oversized(self) -> None:
        """Split each workset whose load alone exceeds the mean into as many parts as that takes, on workers one after the other. Their
        loads are fixed from then on. Ours: the source names it as future work."""
        mean, workers = self.mean, len(self.by_worker)
        for worker, here in enumerate(self.worksets):
            for workset in [one for one in here.values() if one.load > mean > 0]:
                parts = min(workers, math.ceil(workset.load / mean))
                del here[workset.id]
                self.by_worker[worker] -= workset.load
                for n, share in parts_by_worker(worker, parts, workers, workset.load):
                    self.by_worker[n] += share
                self.splits.append(Split(workset.id, worker, parts))

    def move(self, workset: Workset, source: int, target: int, benefit: float) -> None:
        del self.worksets[source][workset.id]
        self.worksets[target][workset.id] = workset
        self.by_worker[source] -= workset.load
        self.by_worker[target] += workset.load
        self.moves.append(Move(workset.id, source, target, workset.load, workset.bytes, benefit))
