"""Histories of instances that exchange messages over FIFO channels and take checkpoints, with the counters that an engine would keep.

A history also knows what counters only imply, in which interval each message was sent and processed: interval x of an instance is the time
behind its checkpoint x, 0 being the start. What judges a result can go by that alone.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from engine.checkpointing.recovery_line import Channel, Checkpoint, CheckpointRecord, Line
from engine.checkpointing.z_cycles import Words, useless_checkpoints

Place = tuple[int, int]
"""A message: its channel, and its number there, from 1."""


class History:
    """Without a protocol: instances checkpoint when they are told to. Protocols override `checkpoint` and the methods at the end."""

    def __init__(self, instances: int, channels: Sequence[Channel]):
        self.channels = list(channels)
        self.checkpoints: list[list[Checkpoint]] = [[] for _ in range(instances)]
        self.sent_in: dict[Place, int] = {}
        self.processed_in: dict[Place, int] = {}
        self.sent = [0] * len(self.channels)
        self.processed = [0] * len(self.channels)
        self.queues: list[deque[Any]] = [deque() for _ in self.channels]  # piggybacks

    def send(self, channel: int) -> None:
        self.sent[channel] += 1
        sender = self.channels[channel].sender
        self.sent_in[channel, self.sent[channel]] = len(self.checkpoints[sender])
        self.queues[channel].append(self.piggyback(channel))

    def receive(self, channel: int) -> None:
        self.before_processing(channel, self.queues[channel].popleft())
        self.processed[channel] += 1
        receiver = self.channels[channel].receiver
        self.processed_in[channel, self.processed[channel]] = len(self.checkpoints[receiver])

    def checkpoint(self, instance: int) -> None:
        leaving = [self.sent[number] for number, channel in enumerate(self.channels) if channel.sender == instance]
        entering = [self.processed[number] for number, channel in enumerate(self.channels) if channel.receiver == instance]
        self.checkpoints[instance].append(Checkpoint(leaving, entering))

    def act(self, acts: Sequence[tuple[int, int]], checkpoints_max: int = 10**9) -> None:
        """Does what pairs of random numbers say: the first, 0 .. 9, what kind of thing, the second which channel or instance."""
        for kind, which in acts:
            instance = which % len(self.checkpoints)
            filled = [channel for channel, queue in enumerate(self.queues) if queue]
            if kind == 9 and len(self.checkpoints[instance]) < checkpoints_max:
                self.checkpoint(instance)
            elif kind >= 4 and filled:
                self.receive(filled[which % len(filled)])
            elif kind < 4:
                self.send(which % len(self.channels))

    def record(self) -> CheckpointRecord:
        return CheckpointRecord(self.channels, self.checkpoints)

    def messages(self) -> Words:
        """(n, 4), as `useless_checkpoints` takes them."""
        rows = [
            (self.channels[place[0]].sender, self.sent_in[place], self.channels[place[0]].receiver, interval)
            for place, interval in self.processed_in.items()
        ]
        return np.array(rows, np.int64).reshape(-1, 4)

    def useless(self) -> list[tuple[int, int]]:
        return useless_checkpoints([len(own) for own in self.checkpoints], self.messages())

    def orphans(self, line: Sequence[int]) -> set[Place]:
        """By intervals, not by counters: processed before the receiver's checkpoint, sent behind the sender's."""
        return {
            (channel, number)
            for (channel, number), interval in self.processed_in.items()
            if interval < line[self.channels[channel].receiver] and self.sent_in[channel, number] >= line[self.channels[channel].sender]
        }

    def in_flight(self, line: Sequence[int]) -> set[Place]:
        """By intervals: sent before the sender's checkpoint, and not processed before the receiver's."""
        return {
            (channel, number)
            for (channel, number), interval in self.sent_in.items()
            if interval < line[self.channels[channel].sender]
            and self.processed_in.get((channel, number), 10**9) >= line[self.channels[channel].receiver]
        }

    def consistent_lines(self, newest: Sequence[int]) -> list[Line]:
        """All lines without orphans, up to the newest, by trying each."""
        edges = {
            (self.channels[channel].sender, self.sent_in[channel, number], self.channels[channel].receiver, interval)
            for (channel, number), interval in self.processed_in.items()
        }
        return [
            line
            for line in product(*(range(last + 1) for last in newest))
            if not any(sent_in >= line[sender] and processed_in < line[receiver] for sender, sent_in, receiver, processed_in in edges)
        ]

    def piggyback(self, channel: int) -> Any:
        """What the message that is about to be sent carries."""
        return None

    def before_processing(self, channel: int, piggyback: Any) -> None:
        """May take a checkpoint of the receiver."""


@st.composite
def histories(draw: st.DrawFn) -> History:
    """2 to 4 instances on up to 3 workers, with up to 4 checkpoints each; any channels: cyclic, parallel, to oneself."""
    workers = draw(st.lists(st.integers(0, 2), min_size=2, max_size=4))
    ends = st.integers(0, len(workers) - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), min_size=1, max_size=8))
    history = History(len(workers), [Channel(sender, receiver, workers[sender] == workers[receiver]) for sender, receiver in pairs])
    # acts of a seed, as drawn ones are too much alike for messages to cross
    history.act(random_acts(draw(st.integers(0, 2**32)), draw(st.integers(20, 140))), checkpoints_max=4)
    return history


def random_acts(seed: int, count: int) -> list[tuple[int, int]]:
    chance = random.Random(seed)
    return [(chance.randrange(10), chance.randrange(10**6)) for _ in range(count)]


O1, O2, O3 = range(3)
M12, M23, M31 = range(3)  # the channels of Figure 3.5


def domino(with_m6: bool = True) -> History:
    """Figure 3.5: three operators on a circle; each line that is newer than the first has an orphan."""
    history = History(3, [Channel(O1, O2), Channel(O2, O3), Channel(O3, O1)])
    history.send(M23)  # m1
    history.receive(M23)
    for operator in (O1, O2, O3):
        history.checkpoint(operator)  # c11, c21, c31
    for channel, receiver in ((M12, O2), (M31, O1), (M23, O3), (M12, O2)):  # m2 in c22, m3 in c12, m5 in c32, m4 in c23
        history.send(channel)
        history.receive(channel)
        history.checkpoint(receiver)
    if with_m6:
        history.send(M31)
        history.receive(M31)
    history.checkpoint(O1)  # c13
    return history
