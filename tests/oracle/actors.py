"""Actors and agents in the oracle (docs/event-core.md, section 12): the same objects as in the engine, over the oracle's own network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.core.control.actors import Directory, Message

from .environment import Phase
from .plan import Fifo, Host, Instance, Link, milliseconds
from .records import Barrier

FIRST_HOST = 1_000_000  # numbers of the actors' hosts; nothing is ordered by them


@dataclass(frozen=True)
class Control:
    """A control message under way."""

    words: tuple[int, ...]
    size_bytes: int
    parcel: bytes


@dataclass(eq=False)
class Party:
    """An actor as a sender and receiver."""

    number: int
    actor: Any
    host: Host
    messages_sent: int = 0
    put_off: int = 0


@dataclass(frozen=True)
class Wire:
    """The way of a control message; looks like a channel to the network."""

    sender: Instance | Party
    receiver: Instance | Party

    @property
    def local(self) -> bool:
        return self.sender.host is self.receiver.host


class Actors:
    """The actors of one run of the model."""

    def __init__(self, model: Any, actors: Sequence[Any], agent: Any):
        self.model, self.agent = model, agent
        instances, hosts = model.network.instances, model.network.hosts
        self.parties = [Party(len(instances) + k, actor, self.host_of(actor, k)) for k, actor in enumerate(actors)]
        own_ns = [
            milliseconds(template.egress_latency_ms)
            for template in model.experiment.cluster.hosts
            for _ in range(template.count or 1)
        ]  # fmt: skip
        for party in self.parties:
            for host, latency_ns in zip(hosts, own_ns, strict=True):
                host.links[party.host.number] = Link(host.number, party.host.number, latency_ns, host.egress)
            for host in [*hosts, *(other.host for other in self.parties if other is not party)]:
                latency_ns = party.actor.host.egress_latency_ns
                party.host.links[host.number] = Link(party.host.number, host.number, latency_ns, party.host.egress)
        rows = tuple((instance.operator.id, instance.index, instance.host.number) for instance in instances)
        directory = Directory(rows, {party.actor.host.name: party.number for party in self.parties})
        for part in [*(party.actor for party in self.parties), *([agent] if agent is not None else [])]:
            part.start(directory)

    @staticmethod
    def host_of(actor: Any, k: int) -> Host:
        return Host(FIRST_HOST + k, actor.host.name, 1000, Fifo(actor.host.egress_mbit_per_s))

    def start(self) -> None:
        for party in self.parties:
            self.set_timer(party)

    def set_timer(self, party: Party) -> None:
        """A timer that was moved is told by its time: the one that comes at another time is an old one."""
        due_ns = party.actor.next_ns

        def wake() -> None:
            if party.actor.next_ns == due_ns:
                party.actor.wake(due_ns, ActorPost(self, party))
                self.set_timer(party)

        if due_ns < 1 << 62:
            self.model.environment.at(due_ns, Phase.TICK, (party.number,), wake, lambda: False)

    def receive(self, party: Party, sender: int, control: Control) -> None:
        message = Message(sender, control.words, control.size_bytes, control.parcel)
        before_ns = party.actor.next_ns
        party.actor.receive(message, self.model.environment.now, ActorPost(self, party))
        if party.actor.next_ns != before_ns:
            self.set_timer(party)

    def serve(self, instance: Instance, sender: int, control: Control) -> tuple[int, list[Any]]:
        """What an instance makes of a control message: work in ps, and what it sends at the end of the service, all copies of each."""
        post = AgentPost(self, instance)
        if self.agent is None:
            return 0, []
        message = Message(sender, control.words, control.size_bytes, control.parcel)
        return self.agent.serve(None, instance.number, message, self.model.environment.now, post), post.sent

    def aligned(self, instance: Instance, number: int) -> tuple[int, list[Any]]:
        """The same of a barrier that has come by all channels."""
        post = AgentPost(self, instance)
        if self.agent is None:
            return 0, []
        return self.agent.aligned(None, instance.number, number, self.model.environment.now, post), post.sent

    def party(self, address: int) -> Instance | Party:
        instances = self.model.network.instances
        return instances[address] if address < len(instances) else self.parties[address - len(instances)]


class ActorPost:
    def __init__(self, actors: Actors, party: Party):
        self.actors, self.party = actors, party

    def send(self, to: int, words: Sequence[int], size_bytes: int, *, parcel: bytes = b"", after_ns: int = 0) -> None:
        wire, control = Wire(self.party, self.actors.party(to)), Control(tuple(words), size_bytes, parcel)
        model = self.actors.model
        if after_ns <= 0:
            model.transmit(wire, control)
            return
        self.party.put_off += 1
        numbers = (self.party.number, self.party.put_off)
        model.environment.at(model.environment.now + after_ns, Phase.WAKE_UP, numbers, lambda: model.transmit(wire, control))


class AgentPost:
    def __init__(self, actors: Actors, instance: Instance):
        self.actors, self.instance = actors, instance
        self.sent: list[list[tuple[Any, Any]]] = []

    def send(self, to: int, words: Sequence[int], size_bytes: int, *, parcel: bytes = b"", after_ns: int = 0) -> None:
        self.sent.append([(Wire(self.instance, self.actors.party(to)), Control(tuple(words), size_bytes, parcel))])

    def send_barrier(self, number: int) -> None:
        self.sent.append(Barrier(number).on_channels_of(self.instance))
