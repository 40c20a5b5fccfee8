"""When a region of hybrid checkpoints goes over from rounds to checkpoints of its instances' own, and back (Siachamis 2024, 5.3.3, has the
idea of choosing by load; the rule is ours)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

STAYS, PARTS, JOINS = range(3)
"""What a round is for its region's instances: it goes on as before; from their cut on they log what they send one another, and take
checkpoints by themselves once it is confirmed; they do so no more once it is confirmed."""


class Reason(NamedTuple):
    """Why a region is to change: `skipped` (a round was due while one was open: 1, of 0), `wait` (mean wait of its instances for barriers
    in a round, over the interval) or `load` (that of the busiest instance of an operator, over their mean), as measured, and the limit."""

    why: str
    measured: float
    limit: float


@dataclass(frozen=True)
class Rule:
    """Apart: when barriers are waited for longer than so great a share of the interval, mean of so many rounds, or when a round is
    skipped. Together: when no operator's busiest instance has had so many times the mean load, for so many intervals."""

    wait_share: float
    rounds: int
    load_ratio: float
    intervals: int


@dataclass
class Mood:
    """What a region goes by since its last change.

    apart: number of the round behind which its instances take checkpoints by themselves; 0: it has rounds. waits_ns: of each confirmed
    round. seen: by instance, of its last checkpoints, two at most, when each was taken and how many records it had served by then.
    """

    apart: int = 0
    waits_ns: list[float] = field(default_factory=list)
    skipped: bool = False
    balanced: int = 0
    seen: dict[int, list[list[int]]] = field(default_factory=dict)

    def see(self, instance: int, captured_ns: int, records: int) -> None:
        self.seen[instance] = [*self.seen.get(instance, [])[-1:], [captured_ns, records]]

    def next_turn(self, rule: Rule, interval_ns: int, operators: Sequence[Sequence[int]]) -> Reason | None:
        """An interval is over: why the region should change now, if it should. operators: the instances of each."""
        if not self.apart:
            lately = self.waits_ns[-rule.rounds :]
            share = sum(lately) / len(lately) / interval_ns if len(lately) == rule.rounds else 0.0
            return Reason("skipped", 1, 0) if self.skipped else Reason("wait", share, rule.wait_share) if share > rule.wait_share else None
        ratio = self.load_ratio(operators)
        self.balanced = self.balanced + 1 if ratio is not None and ratio < rule.load_ratio else 0
        return Reason("load", ratio, rule.load_ratio) if ratio is not None and self.balanced >= rule.intervals else None

    def load_ratio(self, operators: Sequence[Sequence[int]]) -> float | None:
        """Of the operator of which it is largest; 1 if nothing was served, None if somebody's load is not known yet."""
        ratios = [1.0]
        for instances in operators:
            marks = [self.seen.get(i, []) for i in instances]
            if any(len(own) < 2 for own in marks):
                return None
            loads = [(to - begin) / (to_ns - from_ns) for (from_ns, begin), (to_ns, to) in marks]
            if any(loads):
                ratios.append(max(loads) * len(loads) / sum(loads))
        return max(ratios)
