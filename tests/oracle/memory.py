"""What a host holds, counted anew from all its queues whenever it is looked at (docs/event-core.md, section 13)."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .plan import Edge, Instance, integer
from .records import CONTROL_BYTES, Item, ItemClass, Kind

ONE = 1 << 16


def exactly(value: float) -> Fraction:
    return Fraction(Decimal(repr(value)))


@dataclass(eq=False)
class Memory:
    """model: the document's, None where there is none. guard: the ingress policy, None where nothing is guarded."""

    model: Any
    guard: Any
    memory_mb: float
    instances: list[Instance] = field(default_factory=list)
    used: int = 0
    peak: int = 0
    pressure: int = ONE
    full: bool = False
    died_ns: int = -1

    def __post_init__(self) -> None:
        if self.model is not None:
            self.memory_bytes = integer(self.memory_mb, 10**6)
            self.budget = self.model.budget_bytes(self.memory_bytes)
            self.limit = self.model.limit_bytes(self.memory_bytes)
            self.used = self.peak = integer(self.model.base_mb, 10**6)
            self.points = [
                (share * self.budget // 1, (factor * ONE + Fraction(1, 2)) // 1)
                for share, factor in self.model.slow_down.through(self.budget, self.memory_bytes)
            ]
            self.pressure = self.pressure_at(self.used)

    def of_record(self, edge: Edge) -> int:
        law = self.model
        return law.per_record_bytes + law.per_value_bytes * edge.fields + edge.bytes * integer(law.per_byte, 1000) // 1000

    def of_item(self, item: Item) -> int:
        if item.kind is Kind.CONTROL_MESSAGE:
            return item.control[1].size_bytes
        if item.channel is None:
            return 0
        return self.of_record(item.channel.edge) if item.kind is Kind.RECORD else CONTROL_BYTES

    def count(self) -> int:
        """The bytes that are used now."""
        if self.model is None:
            return 0
        held = sum(self.of_item(item) for instance in self.instances for item in instance.queue)
        for instance in self.instances:
            held += sum(what if isinstance(what, int) else self.of_record(what) for _, what in instance.unsent)
        state = sum(instance.state_bytes for instance in self.instances)
        return integer(self.model.base_mb, 10**6) + held + state * integer(self.model.state_factor, 1000) // 1000

    def pressure_at(self, used: int) -> int:
        before = [point for point in self.points if point[0] <= used]
        after = [point for point in self.points if point[0] > used]
        if not before or not after:
            return (before[-1:] + after[:1] or [(0, ONE)])[0][1]
        (x1, f1), (x2, f2) = before[-1], after[0]
        return f1 + (f2 - f1) * ((used - x1) * ONE // (x2 - x1)) // ONE

    def items(self) -> int:
        """What waits in queues; what stands in a log does not."""
        return sum(item.order[1] != ItemClass.LOG for instance in self.instances for item in instance.queue)

    def look(self, now_ns: int) -> None:
        """At the end of an instant."""
        self.used = self.count()
        self.peak = max(self.peak, self.used)
        if self.model is not None:
            self.pressure = self.pressure_at(self.used)
            if self.limit is not None and self.used > self.limit:
                self.died_ns = now_ns
        if self.guard is not None:
            if self.above(1000):
                self.full = True
            elif not self.above(integer(self.guard.resume, 1000)):
                self.full = False

    def above(self, milli: int) -> bool:
        """Whether one of the marks, times so many thousandths, is exceeded."""
        most = self.guard.queued_max
        if most is not None and self.items() > most * milli // 1000:
            return True
        share = self.guard.memory_max
        if share is None or self.model is None:
            return False
        return self.used > self.budget * integer(share, 1000) // 1000 * milli // 1000
