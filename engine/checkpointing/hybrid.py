"""Hybrid checkpoints: rounds of barriers within regions, uncoordinated checkpoints elsewhere, and one line across both (our own design,
after the idea of Siachamis 2024, 5.3.3)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from engine.core import layout as L
from engine.core.control import instance_checkpoint
from engine.core.control.actors import ActorHost, Directory, Message, Post
from engine.core.control.keyed_state import tables_from_bytes
from engine.core.layout import FAR
from engine.core.tables import Words
from engine.core.world import World
from engine.services import object_store
from engine.spec.experiment.checkpointing.hybrid import HybridCheckpoints

from . import messages as M
from .coordinated import CoordinatedWorker
from .coordinator import Line
from .history import Round, Useless
from .messages import ROUND_FAILED, STORED, SWITCHED, TAKE, TIMER, TRIGGER
from .recovery_line import Channel, Checkpoint, CheckpointRecord, RecoveryLine
from .region_adaptation import JOINS, PARTS, STAYS, Mood, Rule
from .setup import ProtocolContext, ProtocolSetup
from .uncoordinated import UncoordinatedCoordinator, UncoordinatedWorker, logged_setup, searching
from .worker import Costs, Worker

MODES = ("coordinated", "uncoordinated")
"""Names of the modes of a region."""
TURNS = 4
"""A barrier's number is TURNS times its round's number, plus the round's turn (`region_adaptation.STAYS`, ...)."""


def build(protocol: HybridCheckpoints, run: ProtocolContext) -> ProtocolSetup:
    query = run.experiment.query
    inside = protocol.coordinated_regions(query)
    fed = {edge.target for edge in query.edges if edge.source in inside and inside[edge.source] == inside.get(edge.target)}
    intervals_ns = [protocol.interval_ns] * sum(map(len, run.instances.values()))
    regions = []
    for written in protocol.regions_in(query):
        own = [id for id in run.instances if id in written.operators]
        members = [i for id in own for i in run.instances[id]]
        interval_ns = protocol.interval_ns_of(written)
        if written.mode == "coordinated":
            entries = [i for id in own if id not in fed for i in run.instances[id]]
            regions.append(Region(written.name, own, interval_ns, members, entries))
        for i in members:
            intervals_ns[i] = interval_ns
    adapts = protocol.adapt is not None
    rule = None if protocol.adapt is None else Rule(**dict(protocol.adapt))
    numbering = Numbering(protocol.number_step(run.until_ns, protocol.regions_in(query)))
    timers = intervals_ns, protocol.jitter_ns, run.until_ns, run.seed
    worker = HybridWorker(run.costs, run.may_lose_hosts, *timers, regions, adapts, numbering)
    coordinator = HybridCoordinator(*searching(protocol, run), run.until_ns, regions, rule, numbering)
    setup = logged_setup(protocol, run, worker, coordinator)
    return replace(setup, features=(*setup.features, "regions", *(("adapting",) if adapts else ())))


@dataclass(frozen=True)
class Region:
    """A region, whose instances take checkpoints in common rounds. instances: ascending. entries: instances without input channels from
    inside the region."""

    name: str
    operators: list[str]
    interval_ns: int
    instances: list[int]
    entries: list[int]


@dataclass(frozen=True)
class Numbering:
    """Numbering of an instance's checkpoints in order of time: rounds have multiples of `step`, and independent checkpoints after a round
    count on from there. step: 1 without independent checkpoints."""

    step: int = 1

    def is_round(self, number: int) -> bool:
        return number % self.step == 0

    def of_round(self, ordinal: int) -> int:
        return ordinal * self.step

    def ordinal(self, number: int) -> int:
        """Return the ordinal of the round, or of the last round before the number."""
        return number // self.step


@dataclass
class RegionRound(Round):
    """A round of one region, given by its index. Rounds of all regions share one numbering. counters: sent and processed, by instance.
    turn: `region_adaptation.STAYS`, ...; why: the reason, if the round changes the region's mode."""

    region: int = 0
    counters: dict[int, tuple[Words, Words]] = field(default_factory=dict)
    turn: int = STAYS
    why: list[Any] = field(default_factory=list)


class HybridCoordinator(UncoordinatedCoordinator):
    """Runs the rounds of each region, and knows all other stored checkpoints. *Ties* make the search treat a round as one checkpoint of its
    region: artificial channels to and from the region's first instance, on which each instance has sent and processed as many messages as
    the number of the round it stands on. (Before a round within which instances took independent checkpoints, these checkpoints stand on
    the last round before it; so does the round that ends that phase, since all channels are logged up to it.)

    bases: by region, the rounds that checkpoints stand on. moods: by region, the state of its adaptation.
    """

    def __init__(
        self,
        host: ActorHost,
        detect_ns: int,
        machines: Sequence[int],
        semantics: str,
        logged: bool,
        until_ns: int,
        regions: Sequence[Region],
        rule: Rule | None,
        numbering: Numbering,
    ):
        """rule: by which regions change their mode, None if they do not."""
        super().__init__(host, detect_ns, machines, semantics, logged)
        self.until_ns = until_ns
        self.regions, self.rule, self.numbering = list(regions), rule, numbering
        self.rounds: list[RegionRound] = []
        self.skipped_ns: list[int] = []
        self.bases: list[list[int]] = [[] for _ in self.regions]
        self.moods = [Mood() for _ in self.regions]
        self._ticks_ns = [region.interval_ns for region in self.regions]

    def start(self, directory: Directory) -> None:
        super().start(directory)
        self.region_of = {i: n for n, region in enumerate(self.regions) for i in region.instances}
        inner = [a in self.region_of and self.region_of[a] == self.region_of.get(b) for a, b in directory.channels]
        self.channel_numbers = [c for c, is_inner in enumerate(inner) if self.rule is not None or not is_inner]
        ties = [Channel(*ends) for region in self.regions for i in region.instances[1:] for ends in _both_ways(region.instances[0], i)]
        self.channels = [self.channels[c] for c in self.channel_numbers] + ties
        self._ties = np.bincount([tie.sender for tie in ties], minlength=len(self.host_of)).tolist()
        self.is_whole = any(len(region.instances) == len(self.host_of) for region in self.regions)
        inside = [directory.channels[c][1] for c, is_inner in enumerate(inner) if is_inner]
        entered = np.bincount(inside, minlength=len(self.host_of))
        self._waiting = [[i for i in region.instances if entered[i] > 1] for region in self.regions]
        operator_of = [operator for operator, _, _ in directory.instances]
        self._operators = [[[i for i in one.instances if operator_of[i] == name] for name in one.operators] for one in self.regions]

    # -- rounds -------------------------------------------------------------------------------------------------------------------

    @property
    def due_ns(self) -> int:
        return min(self._ticks_ns, default=FAR)

    def round(self, number: int) -> RegionRound:
        """Return the round with this number, or the last one before it."""
        return self.rounds[self.numbering.ordinal(number) - 1]

    def open(self, region: int) -> RegionRound | None:
        last = next((one for one in reversed(self.rounds) if one.region == region), None)
        return None if last is None or last.ended else last

    def act(self, now_ns: int, post: Post) -> None:
        for n, region in enumerate(self.regions):
            if self._ticks_ns[n] > now_ns:
                continue
            self._ticks_ns[n] = now_ns + region.interval_ns if now_ns + region.interval_ns <= self.until_ns else FAR
            mood = self.moods[n]
            is_open = self.open(n) is not None
            if is_open or (self.recovering and not mood.apart):
                self.skipped_ns.append(now_ns)
                mood.skipped = mood.skipped or is_open
            elif not self.recovering:
                reason = mood.next_turn(self.rule, region.interval_ns, self._operators[n]) if self.rule is not None else None
                if reason is not None:
                    self._begin(n, JOINS if mood.apart else PARTS, list(reason), now_ns, post)
                elif not mood.apart:
                    self._begin(n, STAYS, [], now_ns, post)

    def _begin(self, n: int, turn: int, why: list[Any], now_ns: int, post: Post) -> None:
        opened = RegionRound(self.numbering.of_round(len(self.rounds) + 1), self.epoch, now_ns, region=n, turn=turn, why=why)
        if self.is_whole and self.rounds and self.rounds[-1].ended != "confirmed" and not self.chained:  # delete its checkpoints
            came_to_nothing = self.rounds[-1].number
            post.send(self.store, (object_store.DELETE, 0, M.key(came_to_nothing), M.key(came_to_nothing + 1)), M.MESSAGE_BYTES)
        self.rounds.append(opened)
        for i in self.regions[n].entries:
            post.send(i, (TRIGGER, opened.epoch, opened.number * TURNS + turn), M.MESSAGE_BYTES)

    def hear(self, message: Message, now_ns: int, post: Post) -> None:
        if message.words[0] == STORED:
            super().hear(message, now_ns, post)
            return
        verb, epoch, number = message.words
        one = self.round(number)
        if one.ended or epoch != one.epoch:
            return
        rows, *counters = tables_from_bytes(message.parcel)
        one.done[self.host_at[message.sender]] = now_ns
        one.taken += rows.tolist()
        one.failed = one.failed or verb == ROUND_FAILED
        for n, row in enumerate(rows.tolist()):
            one.counters[row[M.INSTANCE]] = counters[2 * n], counters[2 * n + 1]
        if len(one.done) == len({self.host_of[i] for i in self.regions[one.region].instances}):
            one.ended, one.ended_ns = "failed" if one.failed else "confirmed", now_ns
            if not one.failed:
                self._confirm(one, post)
            one.counters = {}

    def _confirm(self, one: RegionRound, post: Post) -> None:
        for row in one.taken:
            self.keep(row, *one.counters[row[M.INSTANCE]])
        if one.turn != JOINS:
            self.bases[one.region].append(one.number)
        if one.turn == STAYS:
            waits_ns = [row[M.CAPTURED_NS] - row[M.ASKED_NS] for row in one.taken if row[M.INSTANCE] in self._waiting[one.region]]
            self.moods[one.region].waits_ns.append(sum(waits_ns) / len(waits_ns) if waits_ns else 0.0)
        else:
            self._change(one, post)
        if self.is_whole:  # older checkpoints are no longer needed
            oldest = min(row[M.START] for row in one.taken)
            post.send(self.store, (object_store.DELETE, 0, M.key(0), M.key(oldest)), M.MESSAGE_BYTES)
        if self.settles:
            self._settle()

    def _change(self, one: RegionRound, post: Post) -> None:
        self.moods[one.region] = Mood(one.number if one.turn == PARTS else 0)
        for host in sorted({self.host_of[i] for i in self.regions[one.region].instances}):
            post.send(self.addresses[host], (SWITCHED, one.epoch, one.region, one.number, one.turn), M.MESSAGE_BYTES)

    # -- the line -----------------------------------------------------------------------------------------------------------------

    def keep(self, row: list[int], sent: Words, processed: Words) -> None:
        super().keep(row, sent, processed)
        i = row[M.INSTANCE]
        if self.rule is not None and i in self.region_of:
            self.moods[self.region_of[i]].see(i, row[M.CAPTURED_NS], int((processed if len(processed) else sent).sum()))

    def checkpoint(self, row: list[int], sent: Words, processed: Words) -> Checkpoint:
        i = row[M.INSTANCE]
        if not self._ties[i]:
            return Checkpoint(sent, processed)
        ties = np.full(self._ties[i], self._base(self.region_of[i], row[M.NUMBER]))
        return Checkpoint(np.append(sent, ties), np.append(processed, ties))

    def _base(self, region: int, number: int) -> int:
        """Return the round that a checkpoint of this number stands on; 0 for the initial state."""
        bases = self.bases[region]
        index = bisect_right(bases, number)
        return bases[index - 1] if index else 0

    def line(self, now_ns: int) -> Line:
        for n in range(len(self.regions)):
            opened = self.open(n)
            if opened is not None:
                opened.ended, opened.ended_ns, opened.counters = "aborted", now_ns, {}
        found = super().line(now_ns)
        for n, region in enumerate(self.regions):
            own = self.taken[region.instances[0]]
            base = self._base(n, own[-1][0][M.NUMBER]) if own else 0
            self.bases[n] = [number for number in self.bases[n] if number <= base]
            joined = any(one.region == n and one.number > base and one.turn == JOINS and one.ended == "confirmed" for one in self.rounds)
            self.moods[n] = Mood(base if base and self.round(base).turn == PARTS and not joined else 0)
        return found

    def search_ns(self, record: CheckpointRecord, found: RecoveryLine) -> int:
        """Return the search time: 0 if one region spans all instances, since its last round is simply looked up, as in *coordinated*."""
        return 0 if self.is_whole and self.rule is None else super().search_ns(record, found)

    @property
    def apart(self) -> list[list[int]]:
        """Regions without rounds at present, and the number of their last round."""
        return [[n, mood.apart] for n, mood in enumerate(self.moods) if mood.apart]

    # -- for telemetry ------------------------------------------------------------------------------------------------------------

    def rounds_after(self, after_ns: int) -> list[Round]:
        return [one for one in self.rounds if not one.ended or one.ended_ns > after_ns]  # one round per region may be open

    def useless(self, worker: Worker, processed: Words, cyclic: bool) -> Useless | None:
        return None  # unknown with rounds of regions

    def frame_fields(self) -> dict[str, Any]:
        """Return the current mode of each region, if modes can change."""
        if self.rule is None:
            return {}
        moods = zip(self.regions, self.moods, strict=True)
        return {"modes": {region.name: MODES[mood.apart > 0] for region, mood in moods}}

    def round_fields(self, opened: Round) -> dict[str, Any]:
        assert isinstance(opened, RegionRound)
        region = self.regions[opened.region]
        found: dict[str, Any] = {"region": region.name, "operators": region.operators}
        if opened.turn != STAYS:
            found["turn"] = {"to": MODES[opened.turn == PARTS], **dict(zip(("why", "measured", "limit"), opened.why, strict=True))}
        return found

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
        moods = [{**asdict(mood), "seen": [list(item) for item in sorted(mood.seen.items())]} for mood in self.moods]
        own = {"ticks_ns": list(self._ticks_ns), "rounds": rounds, "skipped_ns": list(self.skipped_ns)}
        return {**super().state(), **own, "bases": [list(numbers) for numbers in self.bases], "moods": moods}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self._ticks_ns, self.skipped_ns = list(state["ticks_ns"]), list(state["skipped_ns"])
        self.bases = [list(numbers) for numbers in state["bases"]]
        self.moods = [Mood(**{**about, "seen": dict(about["seen"])}) for about in state["moods"]]
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
    """Worker whose instances in regions take part in rounds. All others take checkpoints by timers: one timer per machine and interval, and
    one per machine and region that takes independent checkpoints.

    asked: by instance, number of the last checkpoint its timer has requested. behind: by instance of a region, the last round whose
    checkpoint it has taken. apart: by machine and region, the round after which its instances take independent checkpoints.
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
        adapts: bool,
        numbering: Numbering,
    ):
        """intervals_ns: by instance, for instances outside regions."""
        super().__init__(costs, contents, 0, jitter_ns, until_ns, seed)
        self.intervals_ns = list(intervals_ns)
        self.regions, self.inner_under_way, self.numbering = list(regions), adapts, numbering
        self.region_of = {i: n for n, region in enumerate(regions) for i in region.instances}

    def start(self, directory: Directory) -> None:
        super().start(directory)
        self.asked = [0] * len(self.host_of)
        self.behind = [0] * len(self.host_of)
        self.apart: dict[tuple[int, int], int] = {}
        self.timed: dict[int, dict[int, list[int]]] = {}  # instances by host and interval
        self.members: dict[tuple[int, int], list[int]] = {}  # instances by host and region
        for i, host in enumerate(self.host_of):
            if i in self.region_of:
                self.members.setdefault((host, self.region_of[i]), []).append(i)
            else:
                self.timed.setdefault(host, {}).setdefault(self.intervals_ns[i], []).append(i)

    # -- timers --------------------------------------------------------------------------------------------------------------

    def _set_timer(self, host: int, epoch: int, now_ns: int, post: Post) -> None:
        for interval_ns in self.timed.get(host, ()):
            self._wait_a_span(host, (TIMER, epoch, interval_ns, -1, 0), interval_ns, now_ns, post)
        for (at, n), number in sorted(self.apart.items()):
            if at == host:
                self._set_timer_apart(host, n, number, now_ns, post)

    def _set_timer_apart(self, host: int, n: int, number: int, now_ns: int, post: Post) -> None:
        interval_ns = self.regions[n].interval_ns
        self._wait_a_span(host, (TIMER, self.machine(host).epoch, interval_ns, n, number), interval_ns, now_ns, post)

    def obey(self, world: World, host: int, message: Message, now_ns: int, post: Post) -> None:
        verb, epoch, *words = message.words
        if verb == SWITCHED and message.sender == self.coordinator:
            if epoch == self.machine(host).epoch:
                self._switch(world, host, words[0], words[1], words[2], now_ns, post)
        elif verb != TIMER or message.sender != self.addresses[host]:
            super().obey(world, host, message, now_ns, post)
        elif epoch == self.machine(host).epoch:
            interval_ns, n, behind = words
            if n >= 0 and self.apart.get((host, n)) != behind:
                return  # the region has rounds again
            number = self.numbers[host] = self.numbers.get(host, 0) + 1
            for i in self.members[host, n] if n >= 0 else self.timed[host][interval_ns]:
                self.asked[i] = number
                post.send(i, (TAKE, epoch, number, now_ns), M.MESSAGE_BYTES)
            self._wait_a_span(host, message.words, interval_ns, now_ns, post)

    def _switch(self, world: World, host: int, n: int, number: int, turn: int, now_ns: int, post: Post) -> None:
        """Change a region's mode, after the round that changes it was confirmed."""
        if turn == PARTS:
            self.apart[host, n] = number
            self._set_timer_apart(host, n, number, now_ns, post)
            return
        self.apart.pop((host, n), None)
        for i in self.members[host, n]:
            if self.behind[i] <= number:  # otherwise a later round has set the logging
                instance_checkpoint.log_inner(world, i, False)

    # -- taking one -------------------------------------------------------------------------------------------------------------

    def serve(self, world: World, instance: int, message: Message, now_ns: int, post: Post) -> int:
        verb, epoch, number, *when_ns = message.words
        host = self.host_of[instance]
        if epoch != self.machine(host).epoch:
            return 0  # from before a recovery
        if verb == TRIGGER:
            post.send_barrier(number)
            return self._take_in_round(world, instance, number, now_ns, post, now_ns)
        if verb != TAKE or number < self.asked[instance]:
            return 0  # the next one has already been requested
        if instance in self.region_of:
            if (host, self.region_of[instance]) not in self.apart:
                return 0  # the region has rounds again, and its records may be in no log
            number += self.behind[instance]
        return self.take_counted(world, instance, number, now_ns, post, when_ns[0])

    def aligned(self, world: World, instance: int, number: int, now_ns: int, post: Post) -> int:
        return self._take_in_round(world, instance, number, now_ns, post, int(world.arrays.align[instance, L.ALIGN_SINCE]))

    def _take_in_round(self, world: World, i: int, number: int, now_ns: int, post: Post, asked_ns: int) -> int:
        """Take a checkpoint in a round. number: the barrier's. An instance that starts independent checkpoints logs from here on; one that
        returns to rounds keeps logging until the round is confirmed."""
        self.behind[i], turn = number // TURNS, number % TURNS
        if self.inner_under_way and turn != JOINS:
            self.apart.pop((self.host_of[i], self.region_of[i]), None)
            instance_checkpoint.log_inner(world, i, turn == PARTS)
        return self.take_counted(world, i, self.behind[i], now_ns, post, asked_ns)

    def counted(self, world: World, instance: int) -> tuple[Words, Words]:
        """Return the counters of channels that may be logged."""
        w = world.arrays
        sent, processed = instance_checkpoint.counters(world, instance)
        is_logged = (w.edge[w.chan[:, L.C_EDGE], L.E_INNER] == 0) | self.inner_under_way
        return sent[is_logged[world.leaving[instance]]], processed[is_logged[world.entering[instance]]]

    def is_of_round(self, i: int, number: int) -> bool:
        return i in self.region_of and self.numbering.is_round(number)

    # -- rollback ------------------------------------------------------------------------------------------------------

    def _go_on(self, world: World, host: int, now_ns: int) -> None:
        machine = self.machine(host)
        self.apart |= {(host, n): number for n, number in machine.apart if (host, n) in self.members}
        numbers = {row[M.INSTANCE]: row[M.NUMBER] for row in machine.line}
        super()._go_on(world, host, now_ns)
        for i in self.instances[host]:
            if i in self.region_of:
                self.behind[i] = self.numbering.of_round(self.numbering.ordinal(numbers.get(i, 0)))
                if self.inner_under_way:
                    instance_checkpoint.log_inner(world, i, (host, self.region_of[i]) in self.apart)

    def forget(self, host: int) -> None:
        super().forget(host)
        self.apart = {at: number for at, number in self.apart.items() if at[0] != host}

    # -- reporting --------------------------------------------------------------------------------------------------------------

    def durable(self, host: int, row: list[int], now_ns: int, post: Post) -> None:
        kind = CoordinatedWorker if self.is_of_round(row[M.INSTANCE], row[M.NUMBER]) else UncoordinatedWorker
        kind.durable(self, host, row, now_ns, post)

    def refused(self, host: int, number: int, instance: int, now_ns: int, post: Post) -> None:
        UncoordinatedWorker.refused(self, host, number, instance, now_ns, post)
        if self.is_of_round(instance, number):
            CoordinatedWorker.refused(self, host, number, instance, now_ns, post)

    def together(self, host: int, instance: int) -> list[int]:
        return self.members[host, self.region_of[instance]]

    def counters_of(self, host: int, number: int, rows: list[list[int]]) -> list[Words]:
        return [words for row in rows for words in self.counters.pop((number, row[M.INSTANCE]))]

    # -- state ------------------------------------------------------------------------------------------------------------------

    def state(self) -> Any:
        apart = [[*at, number] for at, number in sorted(self.apart.items())]
        return [super().state(), list(self.asked), list(self.behind), apart]

    def restore(self, state: Any) -> None:
        below, asked, behind, apart = state
        super().restore(below)
        self.asked, self.behind = list(asked), list(behind)
        self.apart = {(host, n): number for host, n, number in apart}


def _both_ways(a: int, b: int) -> tuple[tuple[int, int], tuple[int, int]]:
    return (a, b), (b, a)
