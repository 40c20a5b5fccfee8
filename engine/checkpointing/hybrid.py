"""Hybrid checkpoints: rounds of barriers within regions, uncoordinated ones elsewhere, and one line among both (our own design, after the
idea of Siachamis 2024, 5.3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from engine.core import checkpoints
from engine.core import layout as L
from engine.core.actors import ActorHost, Directory, Message, Post
from engine.core.keyed import tables_from_bytes
from engine.core.layout import FAR
from engine.core.world import Words, World
from engine.services import object_store

from . import messages as M
from .coordinated import CoordinatedWorker, Round
from .coordinator import Line
from .messages import ROUND_FAILED, STORED, TAKE, TIMER, TRIGGER
from .recovery_line import Channel
from .uncoordinated import UncoordinatedCoordinator, UncoordinatedWorker
from .worker import Costs


@dataclass(frozen=True)
class Region:
    """Whose instances take part in one another's rounds. instances: ascending; entries: those of them to which no channel leads from
    inside."""

    name: str
    operators: list[str]
    interval_ns: int
    instances: list[int]
    entries: list[int]


@dataclass
class RegionRound(Round):
    """A round of one region, by its place in the list. Numbers are those among the rounds of all regions. counters: what was sent and
    processed, by instance."""

    region: int = 0
    counters: dict[int, tuple[Words, Words]] = field(default_factory=dict)


class HybridCoordinator(UncoordinatedCoordinator):
    """Has rounds of each region, and knows all other checkpoints that are stored. Of a region's checkpoints the first instance stands for
    all: a round is one of its checkpoints, and the channels that cross the region's border are its channels."""

    def __init__(
        self,
        host: ActorHost,
        detect_ns: int,
        machines: Sequence[int],
        semantics: str,
        logged: bool,
        until_ns: int,
        regions: Sequence[Region],
    ):
        super().__init__(host, detect_ns, machines, semantics, logged)
        self.until_ns = until_ns
        self.regions = list(regions)
        self.rounds: list[RegionRound] = []
        self.skipped_ns: list[int] = []
        self._ticks_ns = [region.interval_ns for region in self.regions]

    def start(self, directory: Directory) -> None:
        super().start(directory)
        region_of = {i: n for n, region in enumerate(self.regions) for i in region.instances}
        for region in self.regions:
            for i in region.instances:
                self.node_of[i] = region.instances[0]
        crossing = [a not in region_of or region_of[a] != region_of.get(b) for a, b in directory.channels]
        self.logged_channels = np.flatnonzero(crossing).tolist()
        self.channels = [self._contracted(self.channels[c]) for c in self.logged_channels]
        self._leaving = [[c for c in self.logged_channels if directory.channels[c][0] == i] for i in range(len(self.host_of))]
        self._entering = [[c for c in self.logged_channels if directory.channels[c][1] == i] for i in range(len(self.host_of))]
        self.is_whole = any(len(region.instances) == len(self.host_of) for region in self.regions)

    def _contracted(self, channel: Channel) -> Channel:
        return channel._replace(sender=self.node_of[channel.sender], receiver=self.node_of[channel.receiver])

    # -- rounds -------------------------------------------------------------------------------------------------------------------

    @property
    def due_ns(self) -> int:
        return min(self._ticks_ns, default=FAR)

    def open(self, region: int) -> RegionRound | None:
        last = next((one for one in reversed(self.rounds) if one.region == region), None)
        return None if last is None or last.ended else last

    def act(self, now_ns: int, post: Post) -> None:
        for n, region in enumerate(self.regions):
            if self._ticks_ns[n] > now_ns:
                continue
            self._ticks_ns[n] = now_ns + region.interval_ns if now_ns + region.interval_ns <= self.until_ns else FAR
            if self.open(n) is not None or self.recovering:
                self.skipped_ns.append(now_ns)
                continue
            opened = RegionRound(len(self.rounds) + 1, self.epoch, now_ns, region=n)
            if self.is_whole and self.rounds and self.rounds[-1].ended != "confirmed":
                last = self.taken[0][-1][0][M.NUMBER] if self.taken[0] else 0
                post.send(self.store, (object_store.DELETE, 0, M.key(last + 1), M.key(opened.number)), M.MESSAGE_BYTES)
            self.rounds.append(opened)
            for i in region.entries:
                post.send(i, (TRIGGER, opened.epoch, opened.number), M.MESSAGE_BYTES)

    def hear(self, message: Message, now_ns: int, post: Post) -> None:
        if message.words[0] == STORED:
            super().hear(message, now_ns, post)
            return
        verb, epoch, number = message.words
        one = self.rounds[number - 1]
        if one.ended or epoch != one.epoch:
            return
        rows, *counters = tables_from_bytes(message.parcel)
        one.done[self.host_at[message.sender]] = now_ns
        one.taken += rows.tolist()
        one.failed = one.failed or verb == ROUND_FAILED
        for n, row in enumerate(rows.tolist()):
            one.counters[row[M.INSTANCE]] = counters[2 * n], counters[2 * n + 1]
        instances = self.regions[one.region].instances
        if len(one.done) == len({self.host_of[i] for i in instances}):
            one.ended, one.ended_ns = "failed" if one.failed else "confirmed", now_ns
            if not one.failed:
                self._confirm(one, instances, post)
            one.counters = {}

    def _confirm(self, one: RegionRound, instances: Sequence[int], post: Post) -> None:
        """It is a checkpoint of the region: its counters are those of all instances, in the order of the channels."""
        row = next(row for row in one.taken if row[M.INSTANCE] == instances[0])
        sent, processed = zip(*(one.counters[i] for i in instances), strict=True)
        self.taken[instances[0]].append((row, _in_order(self._leaving, instances, sent), _in_order(self._entering, instances, processed)))
        if self.is_whole:  # nobody goes back further
            post.send(self.store, (object_store.DELETE, 0, M.key(0), M.key(one.number)), M.MESSAGE_BYTES)
        if self.settles:
            self._settle()

    def line(self, now_ns: int) -> Line:
        for n in range(len(self.regions)):
            opened = self.open(n)
            if opened is not None:
                opened.ended, opened.ended_ns, opened.counters = "aborted", now_ns, {}
        return super().line(now_ns)

    def rows_of(self, row: list[int]) -> list[list[int]]:
        return self.rounds[row[M.NUMBER] - 1].taken if self.node_of.count(row[M.INSTANCE]) > 1 else [row]

    # -- state --------------------------------------------------------------------------------------------------------------------

    def state(self) -> Any:
        rounds = [
            {
                **asdict(one),
                "done": [list(item) for item in one.done.items()],
                "counters": [[i, sent.tolist(), processed.tolist()] for i, (sent, processed) in sorted(one.counters.items())],
            }
            for one in self.rounds
        ]
        return {**super().state(), "ticks_ns": list(self._ticks_ns), "rounds": rounds, "skipped_ns": list(self.skipped_ns)}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self._ticks_ns, self.skipped_ns = list(state["ticks_ns"]), list(state["skipped_ns"])
        self.rounds = [
            RegionRound(
                **{
                    **about,
                    "done": dict(about["done"]),
                    "counters": {i: (np.array(sent, np.int64), np.array(processed, np.int64)) for i, sent, processed in about["counters"]},
                }
            )
            for about in state["rounds"]
        ]


class HybridWorker(UncoordinatedWorker, CoordinatedWorker):
    """Takes part in the rounds of regions with the instances that are in one, and takes checkpoints of all others when their timers are
    due: one on each machine for each interval.

    asked: by instance, the number of the last checkpoint that its timer has asked for.
    """

    under_way = True

    def __init__(
        self,
        costs: Costs,
        contents: bool,
        intervals_ns: Sequence[int],
        jitter_ns: int,
        until_ns: int,
        seed: int,
        regions: Sequence[Region],
    ):
        """intervals_ns: by instance, of those that are in no region."""
        super().__init__(costs, contents, 0, jitter_ns, until_ns, seed)
        self.intervals_ns = list(intervals_ns)
        self.region_of = {i: region for region in regions for i in region.instances}

    def start(self, directory: Directory) -> None:
        super().start(directory)
        self.asked = [0] * len(self.host_of)
        self.timed: dict[int, dict[int, list[int]]] = {}  # instances by host and interval
        for i, host in enumerate(self.host_of):
            if i not in self.region_of:
                self.timed.setdefault(host, {}).setdefault(self.intervals_ns[i], []).append(i)

    # -- by timers --------------------------------------------------------------------------------------------------------------

    def _set_timer(self, host: int, epoch: int, now_ns: int, post: Post) -> None:
        for interval_ns in self.timed.get(host, ()):
            self._wait_a_span(host, (TIMER, epoch, interval_ns), interval_ns, now_ns, post)

    def obey(self, world: World, host: int, message: Message, now_ns: int, post: Post) -> None:
        if message.words[0] != TIMER or message.sender != self.addresses[host]:
            super().obey(world, host, message, now_ns, post)
        elif message.words[1] == self.machine(host).epoch:
            _, epoch, interval_ns = message.words
            number = self.numbers[host] = self.numbers.get(host, 0) + 1
            for i in self.timed[host][interval_ns]:
                self.asked[i] = number
                post.send(i, (TAKE, epoch, number, now_ns), M.MESSAGE_BYTES)
            self._wait_a_span(host, message.words, interval_ns, now_ns, post)

    # -- taking one -------------------------------------------------------------------------------------------------------------

    def serve(self, world: World, instance: int, message: Message, now_ns: int, post: Post) -> int:
        verb, epoch, number, *when_ns = message.words
        if epoch != self.machine(self.host_of[instance]).epoch:
            return 0  # of a history that is over
        if verb == TRIGGER:
            post.send_barrier(number)
            return self.take_counted(world, instance, number, now_ns, post, now_ns)
        if verb != TAKE or number < self.asked[instance]:
            return 0  # the next one is asked for already
        return self.take_counted(world, instance, number, now_ns, post, when_ns[0])

    def aligned(self, world: World, instance: int, number: int, now_ns: int, post: Post) -> int:
        return self.take_counted(world, instance, number, now_ns, post, now_ns)

    def counted(self, world: World, instance: int) -> tuple[Words, Words]:
        """Of logged channels."""
        w = world.arrays
        sent, processed = checkpoints.counters(world, instance)
        is_logged = w.edge[w.chan[:, L.C_EDGE], L.E_INNER] == 0
        return sent[is_logged[world.leaving[instance]]], processed[is_logged[world.entering[instance]]]

    # -- reporting --------------------------------------------------------------------------------------------------------------

    def durable(self, host: int, row: list[int], now_ns: int, post: Post) -> None:
        kind = CoordinatedWorker if row[M.INSTANCE] in self.region_of else UncoordinatedWorker
        kind.durable(self, host, row, now_ns, post)

    def refused(self, host: int, number: int, instance: int, now_ns: int, post: Post) -> None:
        UncoordinatedWorker.refused(self, host, number, instance, now_ns, post)
        if instance in self.region_of:
            CoordinatedWorker.refused(self, host, number, instance, now_ns, post)

    def together(self, host: int, instance: int) -> list[int]:
        return [i for i in self.region_of[instance].instances if self.host_of[i] == host]

    def counters_of(self, host: int, number: int, rows: list[list[int]]) -> list[Words]:
        return [words for row in rows for words in self.counters.pop((number, row[M.INSTANCE]))]

    # -- state ------------------------------------------------------------------------------------------------------------------

    def state(self) -> Any:
        return [super().state(), list(self.asked)]

    def restore(self, state: Any) -> None:
        below, asked = state
        super().restore(below)
        self.asked = list(asked)


def _in_order(channels: Sequence[Sequence[int]], instances: Sequence[int], counters: Sequence[Words]) -> Words:
    """The counters of several instances, by the channels' numbers. channels: of each instance of the run."""
    numbers = np.array([c for i in instances for c in channels[i]], np.int64)
    found: Words = np.concatenate(counters)[np.argsort(numbers)]
    return found
