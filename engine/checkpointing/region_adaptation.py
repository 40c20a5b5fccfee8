"""When a region of hybrid checkpoints switches from rounds to independent checkpoints, and back (the idea of choosing by load is from
Siachamis 2024, 5.3.3; the rule is ours)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

STAYS, PARTS, JOINS = range(3)
"""Effect of a round on its region. STAYS: no change. PARTS: from their checkpoint on, instances log the records they exchange, and take
independent checkpoints once the round is confirmed. JOINS: they stop doing so once the round is confirmed."""


class Reason(NamedTuple):
    """Why a region switches: `skipped` (a round was due while one was open: 1, of 0), `wait` (mean wait of its instances for barriers in a
    round over the interval) or `load` (load of an operator's busiest instance over the mean), as measured, and the limit."""

    why: str
    measured: float
    limit: float


@dataclass(frozen=True)
class Rule:
    """Switch to independent checkpoints when the mean wait for barriers over `rounds` rounds exceeds `wait_share` of the interval, or when
    a round is skipped. Switch back when no operator's busiest instance has had `load_ratio` times the mean load for `intervals`
    intervals."""

    wait_share: float
    rounds: int
    load_ratio: float
    intervals: int


@dataclass
class Mood:
    """Adaptation state of a region since its last switch.

    apart: number of the round after which its instances take independent checkpoints; 0 while it has rounds. waits_ns: wait in each
    confirmed round. seen: by instance, time and number of records served at its last two checkpoints, at most.
    """

    apart: int = 0
    waits_ns: list[float] = field(default_factory=list)
    skipped: bool = False
    balanced: int = 0
    seen: dict[int, list[list[int]]] = field(default_factory=dict)

    def see(self, instance: int, captured_ns: int, records: int) -> None:
        self.seen[instance] = [*self.seen.get(instance, [])[-1:], [captured_ns, records]]

    def next_turn(self, rule: Rule, interval_ns: int, operators: Sequence[Sequence[int]]) -> Reason | None:
        """At the end of an interval, return why the region should switch now, or None. operators: the instances of each operator."""
        if not self.apart:
            lately = self.waits_ns[-rule.rounds :]
            share = sum(lately) / len(lately) / interval_ns if len(lately) == rule.rounds else 0.0
            return Reason("skipped", 1, 0) if self.skipped else Reason("wait", share, rule.wait_share) if share > rule.wait_share else None
        ratio = self.load_ratio(operators)
        self.balanced = self.balanced + 1 if ratio is not None and ratio < rule.load_ratio else 0
        return Reason("load", ratio, rule.load_ratio) if ratio is not None and self.balanced >= rule.intervals else None

    def load_ratio(self, operators: Sequence[Sequence[int]]) -> float | None:
        """Return the largest load ratio over all operators; 1 if nothing was served, None if the load of an instance is not known yet."""
        ratios = [1.0]
        for instances in operators:
            marks = [self.seen.get(i, []) for i in instances]
            if any(len(own) < 2 for own in marks):
                return None
            loads = [(to - begin) / (to_ns - from_ns) for (from_ns, begin), (to_ns, to) in marks]
            if any(loads):
                ratios.append(max(loads) * len(loads) / sum(loads))
        return max(ratios)
