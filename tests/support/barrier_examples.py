"""An actor and an agent for tests: rounds of barriers through all instances, one after the other."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from engine.core import layout as L
from engine.core.control.actors import ActorHost, Directory, Message, Post

from .actor_examples import undrained
from .agreement import template
from .counting_protocol import PER_CHANNEL

TRIGGER, DONE = range(2)
ALIGNED_PS = 3_000_000


class Rounds:
    """Lets the sources send barriers every period, once the round before has reached all instances."""

    def __init__(self, period_ns: int, sources: list[int]):
        self.host = ActorHost("rounds", 100, 300_000)
        self.period_ns = self.next_ns = period_ns
        self.sources = sources
        self.round, self.open = 0, 0
        self.complete: list[list[int]] = []  # round, when everybody had said so

    def start(self, directory: Directory) -> None:
        self.instances = len(directory.instances)

    def wake(self, now_ns: int, post: Post) -> None:
        self.next_ns = now_ns + self.period_ns
        if self.open == 0:
            self.round += 1
            self.open = self.instances
            for instance in self.sources:
                post.send(instance, (TRIGGER, self.round), 40)

    def receive(self, message: Message, now_ns: int, post: Post) -> None:
        assert message.words == (DONE, self.round)
        self.open -= 1
        if self.open == 0:
            self.complete.append([self.round, now_ns])

    def state(self) -> Any:
        return [self.next_ns, self.round, self.open, self.complete]

    def restore(self, state: Any) -> None:
        self.next_ns, self.round, self.open, self.complete = state


class Passing:
    """Sources send the barrier that they are asked for; every instance says when it is aligned, which costs it work."""

    def __init__(self) -> None:
        self.cuts: dict[int, list[list[int]]] = {}  # by instance: round, when

    def start(self, directory: Directory) -> None:
        self.rounds = directory.actors["rounds"]

    def serve(self, world: Any, instance: int, message: Message, now_ns: int, post: Post) -> int:
        _, number = message.words
        post.send_barrier(number)
        return self.aligned(world, instance, number, now_ns, post)

    def aligned(self, world: Any, instance: int, number: int, now_ns: int, post: Post) -> int:
        self.cuts.setdefault(instance, []).append([number, now_ns])
        self.look(world, instance, number)
        post.send(self.rounds, (DONE, number), 50)
        return ALIGNED_PS

    def look(self, world: Any, instance: int, number: int) -> None:
        """For tests that want to know more."""

    def state(self) -> Any:
        return sorted([instance, list(cuts)] for instance, cuts in self.cuts.items())

    def restore(self, state: Any) -> None:
        self.cuts = dict(state)


def source_numbers(document: dict[str, Any]) -> list[int]:
    """The instances of sources, in the run's order."""
    numbers, first = [], 0
    for operator in document["query"]["operators"]:
        parallelism = operator.get("parallelism", 1)
        if operator["kind"] == "source":
            numbers += range(first, first + parallelism)
        first += parallelism
    return numbers


def cast(document: dict[str, Any], period_ns: int, agent: Passing | None = None) -> dict[str, Any]:
    """Fresh ones, as options of a simulation."""
    return {"actors": [Rounds(period_ns, source_numbers(document))], "agent": agent or Passing()}


def one_late_barrier(latency_ms: float, per_s: float, record_us: float = 10, **policies: Any) -> dict[str, Any]:
    """Two sources and a union, each on a host of its own; what the second source sends is long under way, barriers too. record_us: what
    the union takes for each."""
    operators = [{"id": id, "kind": "source", "cost": {"record_us": 10, "output_us": 0, "control_us": 5}} for id in ("near", "far")]
    operators += [
        {"id": id, "kind": kind, "cost": {"record_us": us}} for id, kind, us in (("both", "union", record_us), ("sink", "sink", 10))
    ]
    names = ("near", "far", "both")
    return {
        "format": 1,
        "query": {
            "operators": operators,
            "edges": [*({"source": id, "target": "both"} for id in ("near", "far")), {"source": "both", "target": "sink"}],
        },
        "cluster": {"hosts": [{"name": id, "egress_latency_ms": latency_ms if id == "far" else 0.5, "cores": 2} for id in names]},
        "placement": {"kind": "explicit", "hosts": {"near": ["near"], "far": ["far"], "both": ["both"], "sink": ["both"]}},
        "workload": {
            "horizon_s": latency_ms / 250,
            "sources": {id: {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": per_s}} for id in ("near", "far")},
        },
        "policies": policies,
        "measurement": {"latency": {"from": "append"}},
    }


PERIODS_NS = st.sampled_from((20_000, 150_000, 1_000_000))


class Counts(Passing):
    """Also notes what has gone through every channel when an instance is cut."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: dict[tuple[int, int], int] = {}  # by round and channel
        self.received: dict[tuple[int, int], int] = {}

    def look(self, world: Any, instance: int, number: int) -> None:
        w = world.arrays
        counts = w.hook.reshape(-1, PER_CHANNEL)
        self.sent |= {(number, int(c)): int(counts[c, 0]) for c in (w.chan[:, L.C_SENDER] == instance).nonzero()[0]}
        self.received |= {(number, int(c)): int(counts[c, 2]) for c in (w.chan[:, L.C_RECEIVER] == instance).nonzero()[0]}


def shuffled(**workload: Any) -> dict[str, Any]:
    """Two sources, hashed to a join on three hosts that is often busy."""
    return undrained(template("nexmark_q3", horizon_s=0.2, **workload))
