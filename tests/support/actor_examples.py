"""Actors and agents for tests: a coordinator that counts, a server with a queue, instances that answer and talk with one another."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core import layout as L
from engine.core.control.actors import ActorHost, Directory, Message, Post
from engine.core.kernels.messages import new_control_message
from engine.core.layout import FAR, M_PAYLOAD, X_COUNT, X_WORDS

ASK, ANSWER, REQUEST, REPLY, GOSSIP = range(5)


class Coordinator:
    """Asks every instance in rounds and adds up what they answer; each answer is acknowledged by a request to the server."""

    def __init__(self, period_ns: int, rounds: int, size_bytes: int = 40, host: ActorHost | None = None):
        self.host = host or ActorHost("coordinator", 100, 300_000)
        self.period_ns, self.rounds, self.size_bytes = period_ns, rounds, size_bytes
        self.next_ns = period_ns
        self.round = 0
        self.answers: list[list[int]] = []  # time, round, sender, value, bytes of the parcel
        self.replies: list[list[int]] = []

    def start(self, directory: Directory) -> None:
        self.asked = range(len(directory.instances))
        self.server = directory.actors.get("server")

    def wake(self, now_ns: int, post: Post) -> None:
        self.round += 1
        self.next_ns = now_ns + self.period_ns if self.round < self.rounds else FAR
        for instance in self.asked:
            post.send(instance, (ASK, self.round), self.size_bytes)

    def receive(self, message: Message, now_ns: int, post: Post) -> None:
        verb, *words = message.words
        if verb == ANSWER:
            self.answers.append([now_ns, *words, len(message.parcel)])
            if self.server is not None:
                post.send(self.server, (REQUEST, len(self.answers)), 1000, parcel=message.parcel)
        else:
            self.replies.append([now_ns, *words])

    def state(self) -> Any:
        return [self.next_ns, self.round, self.answers, self.replies]

    def restore(self, state: Any) -> None:
        self.next_ns, self.round, self.answers, self.replies = state


class Server:
    """Serves one request after another, each for a time that grows with its parcel, and answers then."""

    def __init__(self, service_ns: int, host: ActorHost | None = None):
        self.host = host or ActorHost("server", 1000, 50_000)
        self.next_ns = FAR
        self.service_ns = service_ns
        self.free_ns = 0
        self.seen: list[bytes] = []

    def start(self, directory: Directory) -> None: ...

    def wake(self, now_ns: int, post: Post) -> None: ...

    def receive(self, message: Message, now_ns: int, post: Post) -> None:
        self.seen.append(message.parcel)
        self.free_ns = max(self.free_ns, now_ns) + self.service_ns * (1 + len(message.parcel) % 3)
        post.send(message.sender, (REPLY, *message.words[1:]), 64, after_ns=self.free_ns - now_ns)

    def state(self) -> Any:
        return [self.free_ns, self.seen]

    def restore(self, state: Any) -> None:
        self.free_ns, self.seen = state


class Answering:
    """Instances answer with how often they were asked, and pass a word on to the next instance, which costs them work."""

    def __init__(self, work_ps: int = 2_000_000):
        self.work_ps = work_ps
        self.asked: dict[int, int] = {}

    def start(self, directory: Directory) -> None:
        self.coordinator = directory.actors["coordinator"]
        self.instances = len(directory.instances)

    def serve(self, world: Any, instance: int, message: Message, now_ns: int, post: Post) -> int:
        if message.words[0] == ASK:
            self.asked[instance] = self.asked.get(instance, 0) + 1
            parcel = struct.pack("<qq", instance, now_ns)[: instance % 4]
            post.send(self.coordinator, (ANSWER, message.words[1], instance, self.asked[instance]), 200 + instance, parcel=parcel)
            if self.instances > 1:
                post.send((instance + 1) % self.instances, (GOSSIP, instance), 300)
            return self.work_ps
        return self.work_ps * 3

    def state(self) -> Any:
        return sorted([list(item) for item in self.asked.items()])

    def restore(self, state: Any) -> None:
        self.asked = dict(state)


REPORT_BYTES = 72


class Meter:
    """Notes what is reported, and when it hears of it."""

    def __init__(self) -> None:
        self.host = ActorHost("meter")
        self.next_ns = FAR
        self.heard: list[list[int]] = []

    def start(self, directory: Directory) -> None:
        self.instances = directory.instances

    def wake(self, now_ns: int, post: Post) -> None: ...

    def receive(self, message: Message, now_ns: int, post: Post) -> None:
        assert (message.size_bytes, message.parcel) == (REPORT_BYTES, b"")
        self.heard.append([now_ns, message.words[0], message.sender, message.words[1]])

    def state(self) -> Any:
        return self.heard

    def restore(self, state: Any) -> None:
        self.heard = state


def reporting_on_receive(hook, msg, box, i, t, inst_count):  # type: ignore[no-untyped-def]
    """Every third record of an instance is reported: when its service began, and how many there were."""
    hook[i] += 1
    if hook[i] % 3 == 0:
        made = new_control_message(msg, box, i, inst_count, REPORT_BYTES)
        msg[made, M_PAYLOAD + X_COUNT] = 2
        msg[made, M_PAYLOAD + X_WORDS] = t
        msg[made, M_PAYLOAD + X_WORDS + 1] = hook[i]
    return 0


class Reporting:
    """A protocol whose hook sends control messages to the first actor."""

    messages_max = 1
    on_receive = staticmethod(reporting_on_receive)

    @staticmethod
    def state(inst: Any, chan: Any) -> Any:
        return np.zeros(len(inst), np.int64)


def cast(period_ns: int = 700_000, rounds: int = 6) -> dict[str, Any]:
    """Fresh actors and an agent, as options of a simulation."""
    actors: Sequence[Any] = (Coordinator(period_ns, rounds), Server(90_000))
    return {"actors": actors, "agent": Answering()}


def undrained(document: dict[str, Any]) -> dict[str, Any]:
    """Actors' timers keep the oracle going, but not a draining run."""
    return document | {"workload": document["workload"] | {"drain": False}}


class Throttle:
    """A control that remembers what it saw and acts on it: the longer the queues, the slower the first host."""

    def __init__(self) -> None:
        self.next_ns = 1_234_567
        self.seen: list[int] = []

    def act(self, world: Any, now_ns: int) -> None:
        w = world.arrays
        self.seen.append(int(w.inst[:, L.I_QUEUE_COUNT].sum()))
        w.host[0, L.H_SPEED] = 30 + self.seen[-1] % 40
        w.inst[w.inst[:, L.I_HOST] == 0, L.I_COST] = -1  # the duration of the last cost holds for the old speed
        self.next_ns = now_ns + 1_234_567

    def state(self) -> Any:
        return [self.next_ns, self.seen]

    def restore(self, state: Any) -> None:
        self.next_ns, self.seen = state[0], list(state[1])
