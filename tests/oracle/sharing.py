"""Processor sharing, thread by thread (docs/event-core.md, section 3.1): what is left of each service, what each instant takes from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .environment import Phase, StructuralEnvironment
from .plan import integer, milliseconds

UNIT = 1 << 20


class SharedCores:
    """The cores of one host."""

    def __init__(self, environment: StructuralEnvironment, cores: float, processor: Any):
        cores_milli, tax_milli = integer(cores, 1000), integer(processor.tax, 1000)
        self.environment = environment
        self.units = UNIT * cores_milli // 1000
        self.taxed_units = UNIT * cores_milli * (1000 - tax_milli) // 1_000_000
        self.untaxed = -(-cores_milli // 1000)
        self.period_ns = 0
        if processor.quota_cores is not None:
            self.period_ns = milliseconds(processor.quota_period_ms)
            self.quota = UNIT * integer(processor.quota_cores, 1000) * self.period_ns // 1000
        self.quota_left = self.period_end_ns = 0
        self.left: dict[Any, int] = {}  # units, by instance in service
        self.ends: dict[Any, Callable[[], None]] = {}
        self.settled_ns = self.rate = 0
        self.plan = 0  # number of the newest plan; what older ones scheduled is void
        self.stopped = False

    def start(self, instance: Any, service_ns: int, end: Callable[[], None]) -> None:
        """A thread begins a service now; `end` is called when it is done."""
        self.settle()
        self.left[instance], self.ends[instance] = service_ns * UNIT, end
        self.plan_later()

    def settle(self) -> None:
        """Give out what the rate gave since the last instant."""
        span_ns = max(0, self.environment.now - self.settled_ns)
        self.settled_ns = max(self.settled_ns, self.environment.now)
        for instance in self.left:
            self.left[instance] -= self.rate * span_ns
            self.quota_left -= self.rate * span_ns
        if self.period_ns and self.environment.now >= self.period_end_ns:  # a pause is settled up to its end, which a loss may forestall
            self.quota_left = self.quota
            self.period_end_ns = (self.environment.now // self.period_ns + 1) * self.period_ns

    def pause(self, until_ns: int) -> None:
        """Nothing is given out before then."""
        self.settle()
        self.settled_ns = max(self.settled_ns, until_ns)
        self.plan += 1
        self.replan(self.plan)

    def stop(self) -> None:
        """Nothing is given out ever again."""
        self.settle()
        self.stopped, self.rate = True, 0

    def left_ns(self, instance: Any) -> int:
        """What is left of the work of a service."""
        self.settle()
        return -(-self.left[instance] // UNIT)

    def empty(self) -> None:
        """All services are gone."""
        self.settle()
        self.left.clear()
        self.ends.clear()
        self.settled_ns, self.rate = self.environment.now, 0
        self.plan += 1

    def plan_later(self) -> None:
        self.plan += 1
        plan = self.plan
        self.environment.at(self.environment.now, Phase.SHARE, (plan,), lambda: self.replan(plan))

    def replan(self, plan: int) -> None:
        """At the end of an instant: the rate from now on, and when to look again."""
        if plan != self.plan or self.stopped:
            return
        k = len(self.left)
        self.rate = 0
        if k and not (self.period_ns and self.quota_left <= 0):
            self.rate = max(1, min(UNIT, (self.units if k <= self.untaxed else self.taxed_units) // k))
        looks = []
        if self.rate:
            looks += [-(-units // self.rate) for units in self.left.values()]
            if self.period_ns:
                looks.append(-(-self.quota_left // (k * self.rate)))
        if k and self.period_ns:
            looks.append(max(0, self.period_end_ns - self.settled_ns))
        if looks:
            self.environment.at(
                max(self.environment.now, self.settled_ns + min(looks)),
                Phase.COMPLETION,
                (-1,),
                lambda: self.look(plan),
                lambda: plan == self.plan,
            )

    def look(self, plan: int) -> None:
        """Something may be due: services that are done end, least left first, then by instance."""
        if plan != self.plan:
            return
        self.settle()
        done = sorted((units, instance.number, instance) for instance, units in self.left.items() if units <= 0)
        for _, _, instance in done:
            del self.left[instance]
            self.ends.pop(instance)()
        self.plan_later()
