"""What the schedulers of hosts tell one another: progress of sources downstream, costs upstream (Farhat 2020, 3; docs/scheduling.md).

Each host sends one message to each neighbour in each cycle. Messages take the network, so what a host knows of others is as old as their
way, and up to a cycle older. Nothing is read from another host directly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from engine.core import layout as L
from engine.core.tables import Words
from engine.spec.base.origins import constant

from .statistics import Floats, History, InputStatistics, Statistics
from .tasks import Tasks

HEADER_BYTES = constant(64, "assumed")
COST_BYTES = constant(24, "assumed")  # query, host, and cost


class Progress(NamedTuple):
    """Of a source instance, as its host measured it at `measured_ns`; the other fields are those of `InputStatistics`."""

    measured_ns: int
    epochs: int
    watermark_ns: int
    first_us: float
    first_sd_us: float
    behind_ns: int
    history: History


PROGRESS_BYTES = constant(8 * (len(Progress._fields) + len(History._fields)), "assumed", "a word for each field")


class Cost(NamedTuple):
    """What waits of a query on one host, as that host measured it at `measured_ns`."""

    measured_ns: int
    cost_ns: float


@dataclass(frozen=True)
class Message:
    """From host to host. progress: by source instance. costs: by name of query and host."""

    sender: int
    receiver: int
    sent_ns: int
    arrival_ns: int
    progress: Mapping[int, Progress]
    costs: Mapping[tuple[str, int], Cost]

    @property
    def size_bytes(self) -> int:
        return HEADER_BYTES + PROGRESS_BYTES * len(self.progress) + COST_BYTES * len(self.costs)

    def state(self) -> Any:
        ends = [self.sender, self.receiver, self.sent_ns, self.arrival_ns]
        return [ends, _saved_progress(self.progress), _saved_costs(self.costs)]

    @classmethod
    def restored(cls, state: Any) -> Message:
        (sender, receiver, sent_ns, arrival_ns), progress, costs = state
        return cls(sender, receiver, sent_ns, arrival_ns, _restored_progress(progress), _restored_costs(costs))


class Knowledge:
    """What one host knows of others. transit_ns: of the last message, by sender.

    unserved: sweeping watermarks of sources elsewhere that have not passed this host, by source instance: when they were taken in, value.
    """

    def __init__(self, tasks: Tasks):
        self.tasks = tasks
        self.progress: dict[int, Progress] = {}
        self.costs: dict[tuple[str, int], Cost] = {}
        self.unserved: dict[int, list[tuple[int, int]]] = {}
        self.heard_ns: dict[int, int] = {}
        self.transit_ns: dict[int, int] = {}

    def receive(self, message: Message) -> None:
        """The newest measurement counts, on whatever way it came."""
        self.heard_ns[message.sender] = message.sent_ns
        self.transit_ns[message.sender] = message.arrival_ns - message.sent_ns
        for instance, progress in message.progress.items():
            known = self.progress.get(instance)
            if known is None or known.measured_ns < progress.measured_ns:
                self.progress[instance] = progress
                if progress.epochs > (0 if known is None else known.epochs):
                    self.unserved.setdefault(instance, []).append((progress.history.taken_ns, progress.history.swept_ns))
        for key, cost in message.costs.items():
            if key not in self.costs or self.costs[key].measured_ns < cost.measured_ns:
                self.costs[key] = cost

    def added_to(self, statistics: Statistics, watermarks_ns: Words) -> Statistics:
        """Statistics of this host with what it knows of others. watermarks_ns: the last one by channel."""
        inputs = []
        for about in self.tasks.remote:
            progress = self.progress.get(about.instance)
            if progress is None:
                continue
            passed = int(watermarks_ns[about.channels].min(initial=L.FAR))
            unserved = self.unserved[about.instance] = [each for each in self.unserved.get(about.instance, []) if each[1] > passed]
            oldest = unserved[0] if unserved else (-1, 0)
            measured_ns, epochs, watermark_ns, first_us, first_sd_us, behind_ns, history = progress
            inputs.append(
                InputStatistics(
                    query=about.query,
                    epochs=epochs,
                    watermark_ns=watermark_ns,
                    history=history,
                    first_us=first_us,
                    first_sd_us=first_sd_us,
                    deadline_ns=about.next_deadline_ns(watermark_ns),
                    behind_ns=behind_ns,
                    oldest_ns=oldest[0],
                    oldest_watermark_ns=oldest[1],
                    lag_ns=about.lag_ns,
                    measured_ns=measured_ns,
                )
            )
        return replace(statistics, inputs=[*statistics.inputs, *inputs], elsewhere_ns=self._elsewhere_ns())

    def _elsewhere_ns(self) -> Floats:
        """By query, what waits downstream on other hosts. They may run queries that this one does not."""
        found = np.zeros(len(self.tasks.names))
        number = {name: q for q, name in enumerate(self.tasks.names)}
        for (query, _), cost in sorted(self.costs.items()):
            if query in number:
                found[number[query]] += cost.cost_ns
        return found

    def message(self, to: int, statistics: Statistics, costs_ns: Floats) -> Message:
        """What host `to` is told; when it arrives is for the network to say. statistics, costs_ns: of this host alone. It relays what it
        knows, but not what `to` itself has measured. A query's cost here includes the transit from `to`."""
        now_ns, own, names = statistics.now_ns, self.tasks.host, self.tasks.names
        progress = {}
        down, up = set(self.tasks.downstream.get(to, ())), set(self.tasks.upstream.get(to, ()))
        for about, seen in zip(self.tasks.inputs, statistics.inputs, strict=True):
            if about.query in down:
                progress[about.instance] = Progress(
                    now_ns, seen.epochs, seen.watermark_ns, seen.first_us, seen.first_sd_us, seen.behind_ns, seen.history
                )
        for about in self.tasks.remote:
            if about.query in down and about.host != to and about.instance in self.progress:
                progress[about.instance] = self.progress[about.instance]
        told = {names[q] for q in up}
        costs = {key: cost for key, cost in self.costs.items() if key[0] in told and key[1] != to}
        for q in up:
            costs[names[q], own] = Cost(now_ns, float(costs_ns[q]) + self.transit_ns.get(to, 0))
        return Message(own, to, now_ns, L.FAR, progress, costs)

    def ages_ms(self, now_ns: int) -> dict[int, float]:
        """How old what each neighbour said last is, by its number."""
        return {host: (now_ns - sent_ns) / 1e6 for host, sent_ns in sorted(self.heard_ns.items())}

    def state(self) -> Any:
        return {
            "progress": _saved_progress(self.progress),
            "costs": _saved_costs(self.costs),
            "unserved": [[instance, [list(each) for each in of]] for instance, of in sorted(self.unserved.items())],
            "heard_ns": sorted(map(list, self.heard_ns.items())),
            "transit_ns": sorted(map(list, self.transit_ns.items())),
        }

    def restore(self, state: Any) -> None:
        self.progress, self.costs = _restored_progress(state["progress"]), _restored_costs(state["costs"])
        self.unserved = {instance: [(taken_ns, value) for taken_ns, value in of] for instance, of in state["unserved"]}
        self.heard_ns, self.transit_ns = dict(state["heard_ns"]), dict(state["transit_ns"])


def _saved_progress(progress: Mapping[int, Progress]) -> Any:
    return [[instance, *each[:-1], list(each.history)] for instance, each in sorted(progress.items())]


def _restored_progress(state: Any) -> dict[int, Progress]:
    return {instance: Progress(*[*values, History(*history)]) for instance, *values, history in state}


def _saved_costs(costs: Mapping[tuple[str, int], Cost]) -> Any:
    return [[*key, *cost] for key, cost in sorted(costs.items())]


def _restored_costs(state: Any) -> dict[tuple[str, int], Cost]:
    return {(query, host): Cost(measured_ns, cost_ns) for query, host, measured_ns, cost_ns in state}
