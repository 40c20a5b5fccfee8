"""Which placements of a query are considered (after Governor, Chaudhary et al. 2020, as in Heinrich et al. 2024, section V).

A placement gives each operator one host. Several operators may share a host (rule 1). Data flows to hosts of the same bin or a stronger one
(rule 2), and never returns to a host that it has left (rule 3): with operators contracted by host, the graph of flow has no cycle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from engine.core.random import Chance
from engine.spec.experiment.cluster import ExpandedHost
from engine.spec.experiment.query import Query

Placed = tuple[int, ...]
"""Numbers of hosts, by operator."""

TRIES = 50
"""Draws for each candidate that is asked for."""

BINS = {"cpu_percent": (300.0, 600.0), "memory_mb": (4000.0, 16000.0), "mbit_per_s": (200.0, 1600.0), "latency_ms": (-40.0, -10.0)}
"""By feature, the largest value of bins 1 and 2 in the training grid (weakest first; latencies count negative)."""


def bin_of(host: ExpandedHost) -> int:
    """1 (weak), 2 or 3 (strong): the bin of most of its features, of several the lowest."""
    values = {
        "cpu_percent": cpu_percent(host),
        "memory_mb": host.memory_bytes / 1e6,
        "mbit_per_s": float(host.egress_mbit_per_s),
        "latency_ms": -host.egress_latency_ns / 1e6,
    }
    counts = Counter(1 + sum(value > most for most in BINS[name]) for name, value in values.items())
    return min(counts, key=lambda bin: (-counts[bin], bin))


def cpu_percent(host: ExpandedHost) -> float:
    """100 is one reference core. A quota counts in place of the cores."""
    quota = getattr(host.processor, "quota_cores", None)
    cores = host.cores_milli / 1000 if quota is None else quota
    return float(cores * host.speed_milli / 10)


@dataclass(frozen=True)
class Broken:
    """What is wrong with a placement. rule: 2 or 3. edge: from one operator to another, numbers; for rule 3 the one that closes a cycle."""

    rule: int
    edge: tuple[int, int]


@dataclass(frozen=True)
class Space:
    """All placements of the operators of a query that obey the rules.

    edges: pairs of operators' numbers, without cycles. bins: by host; equal ones make rule 2 empty. hosts: by operator, those it may run
    on, None for all: pinned operators have one, and forbidden hosts occur nowhere.
    """

    operators: int
    edges: tuple[tuple[int, int], ...]
    bins: tuple[int, ...]
    hosts: tuple[tuple[int, ...] | None, ...] | None = None

    @cached_property
    def senders(self) -> list[list[int]]:
        """By operator."""
        found: list[list[int]] = [[] for _ in range(self.operators)]
        for sender, receiver in self.edges:
            found[receiver].append(sender)
        return found

    @cached_property
    def order(self) -> list[int]:
        """Senders before receivers. Raises CycleError."""
        return list(TopologicalSorter(dict(enumerate(self.senders))).static_order())

    def _may_run_on(self, operator: int) -> Sequence[int]:
        chosen = None if self.hosts is None else self.hosts[operator]
        return range(len(self.bins)) if chosen is None else chosen

    def allowed(self, operator: int, placed: Sequence[int], reach: Sequence[int]) -> list[int]:
        """Hosts for an operator whose senders are all placed. placed: by operator. reach: by host, the hosts that its data reaches, as
        bits."""
        from_hosts = {placed[sender] for sender in self.senders[operator]}
        bin_min = max((self.bins[host] for host in from_hosts), default=0)
        return [
            host
            for host in self._may_run_on(operator)
            if self.bins[host] >= bin_min and not any(reach[host] >> sender & 1 for sender in from_hosts if sender != host)
        ]

    def _reached(self, operator: int, host: int, placed: Sequence[int], reach: Sequence[int]) -> list[int]:
        """`reach` with the operator on the host."""
        further, new = list(reach), reach[host] | 1 << host
        for sender in {placed[sender] for sender in self.senders[operator]} - {host}:
            for at, hosts in enumerate(further):
                if at == sender or hosts >> sender & 1:
                    further[at] |= new
        return further

    def __iter__(self) -> Iterator[Placed]:
        """Every placement, in the order of hosts, operator after operator."""
        return self._from(0, [-1] * self.operators, [0] * len(self.bins))

    def _from(self, n: int, placed: list[int], reach: Sequence[int]) -> Iterator[Placed]:
        if n == self.operators:
            yield tuple(placed)
            return
        operator = self.order[n]
        for host in self.allowed(operator, placed, reach):
            placed[operator] = host
            yield from self._from(n + 1, placed, self._reached(operator, host, placed, reach))

    def draw(self, chance: Chance) -> Placed | None:
        """One placement, host after host at random in a random order of operators; None if an operator finds no host."""
        placed, reach = [-1] * self.operators, [0] * len(self.bins)
        waiting = [len(of) for of in self.senders]
        ready = [operator for operator, count in enumerate(waiting) if not count]
        receivers: list[list[int]] = [[] for _ in range(self.operators)]
        for sender, receiver in self.edges:
            receivers[sender].append(receiver)
        while ready:
            operator = ready.pop(chance.below(len(ready)))
            allowed = self.allowed(operator, placed, reach)
            if not allowed:
                return None
            host = placed[operator] = chance.choice(allowed)
            reach = self._reached(operator, host, placed, reach)
            for receiver in receivers[operator]:
                waiting[receiver] -= 1
                if not waiting[receiver]:
                    ready.append(receiver)
        return tuple(placed)

    def first(self, chance: Chance) -> Placed:
        """The first draw in which every operator finds a host. There must be a placement that obeys the rules."""
        while (placed := self.draw(chance)) is None:
            pass
        return placed

    def candidates(self, count: int, chance: Chance) -> list[Placed]:
        """Different placements at random, or all there are, if not more. Fewer than `count` where they are hard to find."""
        every = [placed for placed, _ in zip(self, range(count + 1), strict=False)]
        if len(every) <= count:
            return every
        found: dict[Placed, None] = {}
        for _ in range(TRIES * count):
            if len(found) == count:
                break
            if (placed := self.draw(chance)) is not None:
                found[placed] = None
        return list(found)

    def broken(self, placed: Sequence[int]) -> Broken | None:
        """The first rule that a placement breaks; None if it obeys them."""
        for sender, receiver in self.edges:
            if self.bins[placed[receiver]] < self.bins[placed[sender]]:
                return Broken(2, (sender, receiver))
        flow: dict[int, set[int]] = {}
        for sender, receiver in self.edges:
            if placed[sender] != placed[receiver]:
                flow.setdefault(placed[receiver], set()).add(placed[sender])
        try:
            list(TopologicalSorter(flow).static_order())
        except CycleError as error:
            a, b = error.args[1][:2]  # a -> b, each a predecessor of the next
            edge = next(edge for edge in self.edges if (placed[edge[0]], placed[edge[1]]) in ((a, b), (b, a)))
            return Broken(3, edge)
        return None


def space_of(
    query: Query, hosts: Sequence[ExpandedHost], pinned: Mapping[str, str] | None = None, forbidden: Collection[str] = ()
) -> Space:
    """The placements of a query on these hosts. pinned: host names by operator id. forbidden: names of hosts that nothing runs on, but what
    is pinned there. Feedback edges do not count as flow."""
    number = {operator.id: n for n, operator in enumerate(query.operators)}
    edges = {(number[edge.source], number[edge.target]): None for edge in query.edges if not edge.feedback}
    index = {host.name: host.index for host in hosts}
    free = tuple(host.index for host in hosts if host.name not in forbidden)
    chosen = {operator: (index[name],) for operator, name in (pinned or {}).items()}
    allowed = tuple(chosen.get(operator.id, free) for operator in query.operators)
    return Space(len(query.operators), tuple(edges), tuple(bin_of(host) for host in hosts), allowed)
