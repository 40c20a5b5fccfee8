"""A job as a fluid, second by second: a line of operators with capacities, a topic before it, and rescales that stop it.

It is what the specification's authors had before there was an engine (part 7.2): good enough to see that a policy and its loop do together
what they should, in a fraction of a second, and for nothing else.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Mapping
from itertools import pairwise
from math import exp
from typing import Any, NamedTuple

from engine.autoscaling.limits import Limit
from engine.autoscaling.loop import AutoscalingLoop, limits_of, times_of
from engine.autoscaling.metrics import Graph, Recording

from .policies import policy_of

S = 10**9


class Operator(NamedTuple):
    """capacity_per_s: useful records of an instance. attainable: share of time that it can be busy. per_input: records for each of the
    source. cpu_per_million: beside the busy share."""

    capacity_per_s: float
    attainable: float
    per_input: float
    cpu_per_million: float
    parts: int | None = None


MAP = {
    "source": Operator(440_000, 0.84, 1, 0.40, 70),
    "map": Operator(1_100_000, 0.78, 1, 0.40),
    "sink": Operator(3_500_000, 0.80, 1, 0.10),
}
SESSIONS = {
    "source": Operator(400_000, 0.82, 1, 0.40, 70),
    "window": Operator(225_000, 0.70, 1, 0.60, 128),
    "sink": Operator(3_000_000, 0.80, 1 / 46, 0.10),
}


class FluidJob:
    """Also the loop's `Job`. load: records per second at a time in s. sigma: of each operator's prices."""

    def __init__(self, query: Mapping[str, Operator], p: int, load: Callable[[float], float], sigma: float = 0.0, seed: int = 1):
        self.query, self.load, self.sigma, self.chance = query, load, sigma, random.Random(seed)
        names = tuple(query)
        edges = tuple(pairwise(names))
        self.graph = Graph(names, edges, names[:1], {name: about.parts for name, about in query.items()})
        self.parallelism = dict.fromkeys(names, p)
        self.metrics = Recording(self.graph, self.parallelism, 60 * S)
        self.down_until_s: float | None = None
        self.orders: list[tuple[float, dict[str, int], dict[str, int]]] = []
        self.now_s = 0
        self.queue: deque[list[float]] = deque()  # second of arrival, records
        self.lag = self.written = self.wait_s = self.read = 0.0
        self.waits: list[float] = []  # mean of the records read in each second
        self.workers: list[int] = []
        self.noise = dict.fromkeys(names, 0.0)
        self._restart()

    # The loop's job

    @property
    def open(self) -> Any:
        return self.down_until_s

    def order(self, parallelism: Mapping[str, int], now_ns: int, who: str) -> None:
        before, after = dict(self.parallelism), {**self.parallelism, **parallelism}
        self.orders.append((now_ns / S, before, after))
        self.down_until_s = self.now_s + 30 + (10 if sum(after.values()) > sum(before.values()) else 0)
        for name, p in before.items():
            for k in range(p):
                self.metrics.end(name, k)
        self.parallelism = after
        self.metrics.running = dict(after)

    # The fluid

    def _restart(self) -> None:
        self.counts = {name: [0.0, 0.0] for name in self.query}
        self.past: dict[str, deque[tuple[int, float]]] = {name: deque([(self.now_s, 0.0)]) for name in self.query}
        self.shares = {name: {"busy": 0.0, "blocked": 0.0, "idle": 0.0} for name in self.query}
        self.limit, self.last = -1, dict[str, float]()  # counts at the scrape before
        for name, p in self.parallelism.items():
            for k in range(p):
                self.metrics.start(name, k, self.now_s * S)

    def second(self) -> None:
        """One second passes; a scrape at its end, if one is due."""
        offered = self.load(self.now_s)
        self.written += offered
        self.lag += offered
        self.queue.append([self.now_s, offered])
        self.workers.append(sum(self.parallelism.values()))
        self.now_s += 1
        if self.down_until_s is None:
            self._serve()
        else:
            self.waits.append(self.now_s - self.queue[0][0])
            if self.now_s >= self.down_until_s:
                self.down_until_s = None
                self._restart()
        if self.now_s % 5 == 0:
            self._scrape()

    def _serve(self) -> None:
        for name in self.noise:
            self.noise[name] += -self.noise[name] / 30 + self.sigma * (2 / 30) ** 0.5 * self.chance.gauss(0, 1)
        can = []
        for name, about in self.query.items():
            p = self.parallelism[name]
            worth = p if about.parts is None else about.parts / -(-about.parts // p)
            can.append(worth * about.capacity_per_s * about.attainable * exp(-self.noise[name]) / about.per_input)
        rate = min(self.lag, *can)
        self.limit = can.index(min(can)) if rate < self.lag else -1
        self._read(rate)
        for k, (name, about) in enumerate(self.query.items()):
            spent = rate * about.per_input * exp(self.noise[name]) / about.capacity_per_s
            busy = min(about.attainable, spent / self.parallelism[name])
            blocked = 1 - busy if k < self.limit else 0.0
            for share, value in (("busy", busy), ("blocked", blocked), ("idle", 1 - busy - blocked)):
                self.shares[name][share] += value / 5
            follower = list(self.query.values())[k + 1].per_input if k + 1 < len(self.query) else 0.0
            self.counts[name][0] += rate * about.per_input
            self.counts[name][1] += rate * follower

    def _read(self, rate: float) -> None:
        self.lag, left, waited = self.lag - rate, rate, 0.0
        while left > 1e-6 and self.queue:
            at_s, records = self.queue[0]
            taken = min(records, left)
            waited += taken * (self.now_s - 1 - at_s)
            left -= taken
            self.queue[0][1] -= taken
            if self.queue[0][1] <= 1e-6:
                self.queue.popleft()
        self.wait_s += waited
        self.read += rate
        self.waits.append(waited / rate if rate else 0.0)

    def _scrape(self) -> None:
        rows: dict[tuple[str, int], list[int]] = {}
        if self.down_until_s is None:
            for k, (name, about) in enumerate(self.query.items()):
                p, (taken, put), share = self.parallelism[name], self.counts[name], self.shares[name]
                past = self.past[name]
                past.append((self.now_s, put))
                while past[0][0] < self.now_s - 60:
                    past.popleft()
                in_per_s, out_per_s = (taken - self.last.get(name, 0.0)) / 5 / p, (put - past[0][1]) / 60 / p
                self.last[name] = taken
                cpu = min(1, 0.05 + share["busy"] + about.cpu_per_million * (in_per_s + out_per_s) / 10**6)
                full, floor = k <= self.limit, self.lag < 0.25 * self.load(self.now_s)
                row = [
                    *(round(S * share[which]) for which in ("busy", "idle", "blocked")),
                    int(k < self.limit),
                    *(round(taken / p), round(put / p), round(out_per_s * 10**6)),
                    *(10**6 * full, round(cpu * 10**6), 0 if k or floor else round(self.lag / p)),
                ]
                rows |= {(name, j): row for j in range(p)}
                share.update(dict.fromkeys(share, 0.0))
        self.metrics.scrape(self.now_s * S, rows, {name: round(self.written) for name in self.graph.sources})

    def run(self, about: Any, until_s: int) -> AutoscalingLoop:
        """Under a policy of the document."""
        bounds = {name: Limit(1, operator.parts or 70) for name, operator in self.query.items()}
        vertices = {name: (name,) for name in self.query}
        policy = policy_of(about)
        loop = AutoscalingLoop(policy, self.metrics, self, times_of(about, until_s * S), limits_of(about, bounds, vertices))
        while self.now_s < until_s:
            self.second()
            while loop.next_ns <= self.now_s * S:
                loop.act(None, loop.next_ns)
        return loop
