"""Several models of one cost, which differ in their seed alone: the mean of numbers, the majority of classes (specification 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Vote:
    """How many members say that something good holds, such as success. A tie counts as bad."""

    good: int
    members: int

    @property
    def passes(self) -> bool:
        return 2 * self.good > self.members

    @classmethod
    def of(cls, members: Sequence[bool]) -> Vote:
        return cls(sum(members), len(members))


@dataclass(frozen=True)
class Predicted:
    """What an ensemble says of one placement. members: the cost that is to be optimised, as each predicts it. success, flows: that the
    query gives any result, and that it keeps up with its input."""

    members: tuple[float, ...]
    success: Vote
    flows: Vote

    @property
    def mean(self) -> float:
        return sum(self.members) / len(self.members)

    @property
    def spread(self) -> float:
        return max(self.members) - min(self.members)
