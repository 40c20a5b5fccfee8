"""What balancers see, and what they return."""

from __future__ import annotations

from collections.abc import Iterable
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


@dataclass
class Loads:
    """All worksets by worker, and the loads of the workers. Changed by `move`. measured_mean: what loads are set against, if that is not
    their mean."""

    worksets: list[dict[int, Workset]]
    measured_mean: float | None = None
    by_worker: list[float] = field(init=False)
    moves: list[Move] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.by_worker = [sum(workset.load for workset in here.values()) for here in self.worksets]

    @classmethod
    def of(cls, owned: Iterable[tuple[int, Workset]], workers: int, measured_mean: float | None = None) -> Loads:
        """owned: worker and workset."""
        worksets: list[dict[int, Workset]] = [{} for _ in range(workers)]
        for worker, workset in owned:
            worksets[worker][workset.id] = workset
        return cls(worksets, measured_mean)

    @property
    def mean(self) -> float:
        return sum(self.by_worker) / len(self.by_worker) if self.measured_mean is None else self.measured_mean

    @property
    def imbalance(self) -> float:
        """The sum of the deviations from the mean. Source: Siachamis 2024, equation 2.5."""
        mean = self.mean
        return sum(abs(load - mean) for load in self.by_worker)

    def move(self, workset: Workset, source: int, target: int, benefit: float) -> None:
        del self.worksets[source][workset.id]
        self.worksets[target][workset.id] = workset
        self.by_worker[source] -= workset.load
        self.by_worker[target] += workset.load
        self.moves.append(Move(workset.id, source, target, workset.load, workset.bytes, benefit))
