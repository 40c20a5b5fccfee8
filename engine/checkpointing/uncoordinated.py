"""Uncoordinated checkpoints (Siachamis 2024, 3.3.2): each worker by its own timer, with logs of all channels."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from engine.core.control import instance_checkpoint
from engine.core.control.actors import ActorHost, Directory, Message, Post
from engine.core.control.keyed_state import tables_from_bytes, tables_to_bytes
from engine.core.layout import FAR
from engine.core.random import RandomStream
from engine.core.tables import Words
from engine.core.world import World
from engine.spec.experiment.checkpointing.logged import LoggedCheckpoints
from engine.spec.experiment.checkpointing.uncoordinated import UncoordinatedCheckpoints

from . import messages as M
from .coordinator import Coordinator, Line, Settled
from .history import DurableCheckpoint, GivenUp, Recovery, Useless
from .messages import STORED, TAKE, TIMER
from .recovery_line import SEARCH_STEP_NS, Channel, Checkpoint, CheckpointRecord, RecoveryLine, in_flight, recovery_line
from .setup import COORDINATOR_HOST, ProtocolContext, ProtocolSetup, counting_features
from .worker import COUNTER_BYTES, Costs, Worker
from .z_cycles import messages_between, useless_checkpoints


def build(protocol: UncoordinatedCheckpoints, run: ProtocolContext) -> ProtocolSetup:
    timers = protocol.interval_ns, protocol.jitter_ns, run.until_ns, run.seed
    worker = UncoordinatedWorker(run.costs, run.may_lose_hosts, *timers)
    return logged_setup(protocol, run, worker, UncoordinatedCoordinator(*searching(protocol, run)))


def logged_setup(
    protocol: LoggedCheckpoints, run: ProtocolContext, worker: UncoordinatedWorker, coordinator: UncoordinatedCoordinator
) -> ProtocolSetup:
    """Return the setup of a protocol with channel logs."""
    features = counting_features(keeps_logs(protocol, run))
    return ProtocolSetup((coordinator,), worker, features, drops_duplicates=protocol.semantics == "exactly_once")


def searching(protocol: LoggedCheckpoints, run: ProtocolContext) -> tuple[ActorHost, int, list[int], str, bool]:
    """Return the first arguments of a coordinator that searches for the line."""
    return COORDINATOR_HOST, protocol.detect_ns, run.machines, protocol.semantics, keeps_logs(protocol, run)


def keeps_logs(protocol: LoggedCheckpoints, run: ProtocolContext) -> bool:
    """Return whether a recovery may need the channel logs."""
    return protocol.log and protocol.semantics != "at_most_once" and run.may_lose_hosts


class UncoordinatedCoordinator(Coordinator):
    """Knows the counters of all stored checkpoints, and searches for the line when a machine is lost.

    taken: by instance, oldest first: `messages.TAKEN` row, sent, processed. forgotten: number of older ones. lines: by recovery and
    instance, its number of checkpoints and the index of the one it rolled back to. elsewhere: by recovery, number of checkpoints that would
    have been discarded if channels within a machine did not count (`recovery_line.RecoveryGraph`). searches: by recovery, how its line was
    found. stored: rows of all checkpoints, including those discarded by recoveries, and when they were stored.
    """

    independent: ClassVar[bool] = True

    def __init__(self, host: ActorHost, detect_ns: int, machines: Sequence[int], semantics: str, logged: bool):
        super().__init__(host, detect_ns, machines)
        self.semantics, self.logged = semantics, logged
        self.lines: list[list[list[int]]] = []
        self.elsewhere: list[int] = []
        self.searches: list[dict[str, Any]] = []
        self.stored: list[tuple[list[int], int]] = []

    def start(self, directory: Directory) -> None:
        super().start(directory)
        hosts = [host for _, _, host in directory.instances]
        self.channels = [Channel(a, b, hosts[a] == hosts[b]) for a, b in directory.channels]
        self.channel_numbers = list(range(len(self.channels)))  # in the run; channels beyond these are artificial (`hybrid`)
        self.taken: list[list[tuple[list[int], Words, Words]]] = [[] for _ in hosts]
        self.forgotten = [0] * len(hosts)

    @property
    def due_ns(self) -> int:
        return FAR

    def act(self, now_ns: int, post: Post) -> None:
        raise AssertionError("nothing is due: workers have their own timers")

    def hear(self, message: Message, now_ns: int, post: Post) -> None:
        _, epoch = message.words
        if epoch == self.epoch and not self.recovering:  # otherwise it is from before a recovery
            row, sent, processed = tables_from_bytes(message.parcel)
            self.keep(row.tolist(), sent, processed)
            self.stored.append((row.tolist(), now_ns))
            if self.settles and len(self.stored) % len(self.taken) == 0:
                self._settle()

    def keep(self, row: list[int], sent: Words, processed: Words) -> None:
        """Add a checkpoint that can be restored."""
        insort(self.taken[row[M.INSTANCE]], (row, sent, processed), key=lambda one: one[0][M.NUMBER])

    @property
    def settles(self) -> bool:
        """Whether data is kept that no recovery will need."""
        return self.logged and self.semantics == "exactly_once"

    def _settle(self) -> None:
        """Forget what is older than the present line, since no later line is older."""
        record = self.record()
        line = recovery_line(record).checkpoints
        records = np.zeros(len(self.senders), np.int64)
        records[self.channel_numbers] = record.processed_at(line)[: len(self.channel_numbers)]
        self.settled = Settled([self.taken[i][index - 1][0][M.START] if index else 0 for i, index in enumerate(line)], records)
        for i, index in enumerate(line):
            self.forgotten[i] += max(index - 1, 0)
            del self.taken[i][: max(index - 1, 0)]

    def record(self) -> CheckpointRecord:
        return CheckpointRecord(self.channels, [[self.checkpoint(*one) for one in own] for own in self.taken])

    def checkpoint(self, row: list[int], sent: Words, processed: Words) -> Checkpoint:
        """Return a checkpoint for the search."""
        return Checkpoint(sent, processed)

    def line(self, now_ns: int) -> Line:
        record = self.record()
        found: RecoveryLine = recovery_line(record)
        search_ns = self.search_ns(record, found)
        ends = zip(self.forgotten, self.taken, found.checkpoints, strict=True)
        self.lines.append([[before + len(own), before + index] for before, own, index in ends])
        self.elsewhere.append(recovery_line(record, "cross_worker_only").discarded_count)
        self.searches.append(self._search(record, found))
        replays: list[list[int]] = []
        if self.semantics == "exactly_once":
            under_way = in_flight(record, found.checkpoints).items()
            replays = [[self.channel_numbers[c], numbers.start - 1, numbers.stop - 1] for c, numbers in under_way]
        elif self.semantics == "at_least_once":
            sent = zip(self.channel_numbers, record.sent_at(found.checkpoints).tolist(), strict=False)
            replays = [[c, 0, end] for c, end in sent if end > 0]
        for own, index in zip(self.taken, found.checkpoints, strict=True):
            del own[index:]  # newer checkpoints are discarded
        return Line([own[-1][0] for own in self.taken if own], replays, search_ns)

    def search_ns(self, record: CheckpointRecord, found: RecoveryLine) -> int:
        """Return the time to find the line. Each known checkpoint has one counter per channel, and the search reads all of them, as
        building the checkpoint graph would: no counter makes more than one of its edges."""
        known = zip(self.forgotten, self.taken, record.leaving, record.entering, strict=True)
        numbers = sum((older + len(own)) * (len(leaving) + len(entering)) for older, own, leaving, entering in known)
        return SEARCH_STEP_NS * (numbers + found.compared)

    def _search(self, record: CheckpointRecord, found: RecoveryLine) -> dict[str, Any]:
        """Describe a search. newest: number of each instance's newest checkpoint, 0 for the initial state. steps, in order: instance that
        rolled back, its old and new checkpoint number, the sender on the responsible channel, last record sent and last record processed on
        it; both None for a tie (`hybrid`). in_flight: number of records in flight at the line."""
        line = list(record.newest)
        steps = []
        for instance, replaced, by, channel in found.steps:
            sender = record.channels[channel].sender
            sent, processed = int(record.sent_on(channel)[line[sender]]), int(record.processed_on(channel)[replaced])
            told = [sent, processed] if channel < len(self.channel_numbers) else [None, None]
            steps.append([instance, self._number(instance, replaced), self._number(instance, by), sender, *told])
            line[instance] = by
        newest = [self._number(i, index) for i, index in enumerate(record.newest)]
        in_flight_count = sum(map(len, in_flight(record, found.checkpoints).values()))
        return {"newest": newest, "steps": steps, "in_flight": in_flight_count}

    def _number(self, i: int, index: int) -> int:
        return self.taken[i][index - 1][0][M.NUMBER] if index else 0

    def durable_after(self, after_ns: int) -> Iterator[DurableCheckpoint]:
        first = len(self.stored)
        while first and self.stored[first - 1][1] > after_ns:
            first -= 1
        for row, heard_ns in self.stored[first:]:
            yield DurableCheckpoint.from_row(row, "forced" if row[M.FORCED] else "basic", heard_ns)
        yield from super().durable_after(after_ns)

    def stored_rows(self) -> Iterator[list[int]]:
        yield from (row for row, _ in self.stored)
        yield from super().stored_rows()

    def given_up(self, first: Recovery) -> GivenUp:
        line = self.lines[0]
        taken, discarded = sum(had for had, _ in line), [had - index for had, index in line]
        shares = [round(count / taken, 6) if taken else 0.0 for count in (sum(discarded), self.elsewhere[0])]
        return GivenUp(taken, sum(discarded), shares[0], max(discarded), shares[1])

    def useless(self, worker: Worker, processed: Words, cyclic: bool) -> Useless | None:
        """Without a cycle, none is useless. With a cycle, they are unknown after a recovery, and if a loss is possible, because checkpoints
        older than the line are forgotten."""
        if cyclic and (self.recoveries or any(self.forgotten)):
            return None
        taken = [{row[M.NUMBER]: (sent, served) for row, sent, served in own} for own in self.taken]
        for (number, i), (sent, served) in worker.counters.items():  # being uploaded to the store
            taken[i][number] = sent, served
        counts = [len(own) for own in taken]
        if not cyclic:
            return Useless([], sum(counts))
        record = CheckpointRecord(self.channels, [[Checkpoint(*own[number]) for number in sorted(own)] for own in taken])
        useless = useless_checkpoints(counts, messages_between(record, processed))
        return Useless([(i, sorted(taken[i])[index - 1]) for i, index in useless], sum(counts))

    def state(self) -> Any:
        taken = [[[row, sent.tolist(), processed.tolist()] for row, sent, processed in own] for own in self.taken]
        return {
            **super().state(),
            "taken": taken,
            "forgotten": self.forgotten,
            "lines": self.lines,
            "elsewhere": self.elsewhere,
            "searches": self.searches,
            "stored": [list(one) for one in self.stored],
        }

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.forgotten, self.lines = list(state["forgotten"]), state["lines"]
        self.elsewhere = list(state["elsewhere"])
        self.searches = list(state["searches"])
        self.stored = [(row, heard_ns) for row, heard_ns in state["stored"]]
        self.taken = [
            [(row, np.array(sent, np.int64), np.array(processed, np.int64)) for row, sent, processed in own] for own in state["taken"]
        ]


class UncoordinatedWorker(Worker):
    """Takes checkpoints of all instances of a machine when its timer is due, before their other work."""

    def __init__(self, costs: Costs, contents: bool, interval_ns: int, jitter_ns: int, until_ns: int, seed: int):
        super().__init__(costs, contents)
        self.interval_ns, self.jitter_ns, self.until_ns, self.seed = interval_ns, jitter_ns, until_ns, seed
        self.numbers: dict[int, int] = {}  # of the last checkpoints, by host: numbers continue even after losses

    def begin(self, host: int, post: Post) -> None:
        if host in self.instances:
            self._set_timer(host, 0, 0, post)

    def resumed(self, host: int, now_ns: int, post: Post) -> None:
        self._set_timer(host, self.machine(host).epoch, now_ns, post)

    def _set_timer(self, host: int, epoch: int, now_ns: int, post: Post) -> None:
        self._wait_a_span(host, (TIMER, epoch), self.next_interval_ns(host), now_ns, post)

    def next_interval_ns(self, host: int) -> int:
        """Return the interval until the next checkpoint of a machine. `numbers` has how many it has taken."""
        return self.interval_ns

    def _wait_a_span(self, host: int, words: tuple[int, ...], interval_ns: int, now_ns: int, post: Post) -> None:
        """Set a timer after the interval, or the jitter less or more."""
        draw = RandomStream(self.seed, "checkpoint timer", host).below(np.array([now_ns]), 3)
        span_ns = interval_ns + (int(draw[0]) - 1) * self.jitter_ns
        if now_ns + span_ns <= self.until_ns:
            post.send(self.addresses[host], words, 0, after_ns=span_ns)

    def obey(self, world: World, host: int, message: Message, now_ns: int, post: Post) -> None:
        if message.words[0] != TIMER or message.sender != self.addresses[host]:
            super().obey(world, host, message, now_ns, post)
        elif message.words[1] == self.machine(host).epoch:
            number = self.numbers[host] = self.numbers.get(host, 0) + 1
            for i in self.instances[host]:
                post.send(i, (TAKE, message.words[1], number, now_ns), M.MESSAGE_BYTES)
            self._set_timer(host, message.words[1], now_ns, post)

    def serve(self, world: World, instance: int, message: Message, now_ns: int, post: Post) -> int:
        verb, epoch, number, asked_ns = message.words
        host = self.host_of[instance]
        if verb != TAKE or epoch != self.machine(host).epoch or number < self.numbers[host]:
            return 0  # from before a recovery, or the next one has already been requested
        return self.take_counted(world, instance, number, now_ns, post, asked_ns)

    def take_counted(
        self, world: World, instance: int, number: int, now_ns: int, post: Post, asked_ns: int, more_bytes: int = 0, forced: int = 0
    ) -> int:
        """Like `take`, with the instance's counters among the notes."""
        sent, processed = self.counted(world, instance)
        self.counters[number, instance] = [sent, processed]
        notes_bytes = more_bytes + COUNTER_BYTES * (len(sent) + len(processed))
        return self.take(world, instance, number, now_ns, post, asked_ns=asked_ns, notes_bytes=notes_bytes, forced=forced)

    def counted(self, world: World, instance: int) -> tuple[Words, Words]:
        """Return the counters that belong to a checkpoint."""
        return instance_checkpoint.counters(world, instance)

    def aligned(self, world: World, instance: int, number: int, now_ns: int, post: Post) -> int:
        raise AssertionError("no barriers are sent")

    def durable(self, host: int, row: list[int], now_ns: int, post: Post) -> None:
        counters = self.counters.pop((row[M.NUMBER], row[M.INSTANCE]))
        machine = self.machine(host)
        machine.taken[row[M.NUMBER]].remove(row)
        if not machine.taken[row[M.NUMBER]]:
            del machine.taken[row[M.NUMBER]]
        size_bytes = M.MESSAGE_BYTES + COUNTER_BYTES * sum(map(len, counters))
        post.send(self.coordinator, (STORED, machine.epoch), size_bytes, parcel=tables_to_bytes([np.array(row, np.int64), *counters]))

    def refused(self, host: int, number: int, instance: int, now_ns: int, post: Post) -> None:
        self.counters.pop((number, instance))  # the checkpoint does not exist

    def forget(self, host: int) -> None:
        super().forget(host)
        self.counters = {name: counters for name, counters in self.counters.items() if self.host_of[name[1]] != host}

    def state(self) -> Any:
        counters = [[*name, *(words.tolist() for words in found)] for name, found in sorted(self.counters.items())]
        return [super().state(), [list(item) for item in sorted(self.numbers.items())], counters]

    def restore(self, state: Any) -> None:
        machines, numbers, counters = state
        super().restore(machines)
        self.numbers = dict(numbers)
        self.counters = {(number, i): [np.array(sent, np.int64), np.array(processed, np.int64)] for number, i, sent, processed in counters}
