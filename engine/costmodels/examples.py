"""What a model learns from, or is tried on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .features import JointGraph


@dataclass(frozen=True)
class Examples:
    """Graphs and what is to be predicted of them: costs, or classes as 1 (good) and 0."""

    graphs: Sequence[JointGraph]
    targets: Sequence[float]

    def __len__(self) -> int:
        return len(self.graphs)
