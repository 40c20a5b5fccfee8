"""Play a history: acts become messages and checkpoints with places in the diagram, and counters as the engine keeps them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from engine.checkpointing.recovery_line import Channel, Checkpoint, CheckpointRecord
from engine.checkpointing.z_cycles import useless_checkpoints
from engine.spec.base.problems import Refusal, suggestion

from .document import Act, Case, Lesson
from .steps import NOWHERE, CheckpointMark, Diagram, Kind, MessageArrow, Place, Sent, Taken, Wait

At = tuple[str | int, ...]


class History:
    """A history without a protocol: checkpoints are taken as the acts say. Protocols override `on_...`.

    Each act of an instance is one column to the right of its previous act and of what it received. acts: number of acts played.
    """

    def __init__(self, lesson: Lesson, case: Case):
        self.instances = lesson.instances
        pairs = [(self.number(sender), self.number(receiver)) for sender, receiver in lesson.channels]
        for _, act in lesson.acts(case):
            if act.send and act.from_ and act.to and (pair := (self.number(act.from_), self.number(act.to))) not in pairs:
                pairs.append(pair)
        self.channels = [Channel(*pair) for pair in pairs]
        self.messages: dict[str, Sent] = {}
        self.queues: list[deque[Sent]] = [deque() for _ in pairs]
        self.taken: list[list[Taken]] = [[Taken(i, 0, f"start of {name}", Place(0, 0), "start")] for i, name in enumerate(self.instances)]
        self.counters: list[list[Checkpoint]] = [[] for _ in self.instances]
        self.sent, self.processed = [0] * len(pairs), [0] * len(pairs)
        self.waits: list[Wait] = []
        self.columns = [0] * len(self.instances)
        self.acts = 0

    def number(self, instance: str) -> int:
        return self.instances.index(instance)

    def play(self, act: Act, at: At) -> None:
        """Play an act. Raises Refusal if it is impossible."""
        self.acts += 1
        if act.send is not None and act.from_ is not None and act.to is not None:
            self._send(act, self.number(act.from_), self.number(act.to), at)
        elif act.receive is not None:
            self.on_receive(self._next(act.receive, at), act)
        elif act.checkpoint is not None:
            self.on_checkpoint(self.number(act.checkpoint), act, at)
        elif act.trigger is not None:
            self.on_trigger(self.number(act.trigger), act, at)
        elif act.barrier is not None and act.to is not None:
            self.on_barrier(self.number(act.barrier), self.number(act.to), act, at)

    # -- overridden by protocols

    def on_send(self, message: Sent) -> None:
        pass

    def on_receive(self, message: Sent, act: Act) -> None:
        self.process(message, message.arrived)

    def on_checkpoint(self, instance: int, act: Act, at: At) -> None:
        self.take(instance, act.as_, "basic")

    def on_trigger(self, instance: int, act: Act, at: At) -> None:
        raise Refusal("only shows of the kind 'alignment' have triggers; remove it", at=(*at, "trigger"), value=act.trigger)

    def on_barrier(self, sender: int, receiver: int, act: Act, at: At) -> None:
        raise Refusal("only shows of the kind 'alignment' have barriers; remove it", at=(*at, "barrier"), value=act.barrier)

    # -- acts

    def place(self, instance: int, after: float = 0) -> Place:
        """Return the next column of the instance, after another one."""
        self.columns[instance] = int(max(self.columns[instance], after)) + 1
        return Place(self.columns[instance], self.acts)

    def process(self, message: Sent, place: Place) -> None:
        channel = self.channels[message.channel]
        self.processed[message.channel] += 1
        message.processed, message.processed_in = place, self.interval(channel.receiver)

    def take(self, instance: int, name: str | None, kind: Kind, place: Place = NOWHERE) -> Taken:
        index = len(self.taken[instance])
        numbers = f"{instance + 1}{index}" if max(len(self.instances), index) < 10 else f"{instance + 1},{index}"
        taken = Taken(instance, index, name or f"c{numbers}", self.place(instance) if place == NOWHERE else place, kind)
        self.taken[instance].append(taken)
        leaving = [self.sent[number] for number, channel in enumerate(self.channels) if channel.sender == instance]
        entering = [self.processed[number] for number, channel in enumerate(self.channels) if channel.receiver == instance]
        self.counters[instance].append(Checkpoint(leaving, entering))
        return taken

    def interval(self, instance: int) -> int:
        return len(self.taken[instance]) - 1

    def _send(self, act: Act, sender: int, receiver: int, at: At) -> None:
        name = act.send or ""
        if name in self.messages:
            raise Refusal(f"message '{name}' is sent twice; give each its own name", at=(*at, "send"), code="twice", value=name)
        channel = self.channels.index(Channel(sender, receiver))
        self.sent[channel] += 1
        message = Sent(name, channel, self.sent[channel], self.place(sender), self.interval(sender))
        self.messages[name] = message
        self.queues[channel].append(message)
        self.on_send(message)

    def _next(self, name: str, at: At) -> Sent:
        """Return the message, which arrives now."""
        message = self.messages.get(name)
        if message is None:
            hint = suggestion(name, self.messages)
            raise Refusal(f"message '{name}' has not been sent", at=(*at, "receive"), code="unknown", value=name, hint=hint)
        if message.arrived != NOWHERE:
            raise Refusal(f"message '{name}' is received twice; remove one", at=(*at, "receive"), code="twice", value=name)
        return self.arriving(message, at)

    def arriving(self, message: Sent, at: At) -> Sent:
        first = self.queues[message.channel][0]
        if first is not message:
            what = f"the barrier of {self.instances[self.channels[message.channel].sender]}" if first.barrier else f"message '{first.name}'"
            told = f"'{message.name}' overtakes {what}, which was sent before it on the same channel; let that arrive first"
            raise Refusal(told, at=at, code="overtakes", value=message.name)
        self.queues[message.channel].popleft()
        message.arrived = self.place(self.channels[message.channel].receiver, message.sent.at)
        return message

    # -- results

    def record(self) -> CheckpointRecord:
        return CheckpointRecord(self.channels, self.counters)

    def useless(self) -> list[str]:
        """Return the ids of checkpoints that can be on no consistent line."""
        rows = [
            (self.channels[m.channel].sender, m.sent_in, self.channels[m.channel].receiver, m.processed_in)
            for m in self.messages.values()
            if m.processed != NOWHERE and not m.barrier
        ]
        found = useless_checkpoints([len(own) - 1 for own in self.taken], np.array(rows, np.int64).reshape(-1, 4))
        return [self.taken[i][index].id for i, index in found]

    def on(self, channel: int, numbers: range) -> list[str]:
        """Return the names of messages by their numbers on a channel."""
        return [m.name for m in self.messages.values() if m.channel == channel and m.number in numbers and not m.barrier]

    def names(self, numbers: dict[int, range]) -> list[str]:
        return [name for channel, found in numbers.items() for name in self.on(channel, found)]

    def line_names(self, line: Sequence[int]) -> list[str]:
        return [self.taken[i][index].name for i, index in enumerate(line)]

    def line_ids(self, line: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.taken[i][index].id for i, index in enumerate(line))

    def diagram(self) -> Diagram:
        return Diagram(
            instances=self.instances,
            first=0,
            last=max(self.columns) + 1,
            checkpoints=tuple(
                CheckpointMark(id=c.id, instance=c.instance, index=c.index, name=c.name, at=c.place.at, act=c.place.act, kind=c.kind)
                for own in self.taken
                for c in own
            ),
            messages=tuple(
                MessageArrow(
                    name=m.name,
                    kind="barrier" if m.barrier else "record",
                    sender=self.channels[m.channel].sender,
                    receiver=self.channels[m.channel].receiver,
                    sent_at=m.sent.at,
                    sent_act=m.sent.act,
                    arrives_at=m.arrived.at if m.arrived != NOWHERE else None,
                    arrives_act=m.arrived.act if m.arrived != NOWHERE else None,
                    processed_at=m.processed.at if m.processed != NOWHERE else None,
                    processed_act=m.processed.act if m.processed != NOWHERE else None,
                )
                for m in self.messages.values()
            ),
            waits=tuple(self.waits),
        )
