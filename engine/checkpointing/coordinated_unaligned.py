"""Coordinated checkpoints, unaligned: barriers overtake waiting records, which become part of the checkpoint. Our own addition to
Siachamis 2024, after Apache Flink's unaligned checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core import layout as L
from engine.core.control import instance_checkpoint
from engine.core.control.actors import ActorHost, Directory, Message, Post
from engine.core.tables import Words
from engine.core.world import World
from engine.spec.experiment.checkpointing.coordinated_unaligned import UnalignedCheckpoints

from . import messages as M
from .coordinated import CoordinatedRounds, CoordinatedWorker
from .coordinator import Line, Settled
from .history import Round
from .messages import TRIGGER
from .recovery_line import Channel, Checkpoint, CheckpointRecord, in_flight
from .setup import COORDINATOR_HOST, ProtocolContext, ProtocolSetup, counting_features
from .worker import Costs, Upload


def build(protocol: UnalignedCheckpoints, run: ProtocolContext) -> ProtocolSetup:
    rounds = UnalignedRounds(COORDINATOR_HOST, protocol.interval_ns, run.until_ns, protocol.detect_ns, run.machines, run.sources)
    features = counting_features(run.may_lose_hosts)
    return ProtocolSetup((rounds,), UnalignedWorker(run.costs, run.may_lose_hosts), features, drops_duplicates=True, overtakes=True)


class UnalignedRounds(CoordinatedRounds):
    """Rounds with their in-flight records, determined from the counters at both ends of each channel."""

    def __init__(self, host: ActorHost, interval_ns: int, until_ns: int, detect_ns: int, machines: Sequence[int], sources: Sequence[int]):
        super().__init__(host, interval_ns, until_ns, detect_ns, machines, sources)
        self._heard: dict[int, tuple[Words, Words]] = {}  # of the open round, by instance: sent, processed
        self._cut: list[list[int]] = []  # of the confirmed round: channel, first and end of in-flight records

    def start(self, directory: Directory) -> None:
        super().start(directory)
        self.channels = [Channel(a, b) for a, b in directory.channels]

    def act(self, now_ns: int, post: Post) -> None:
        before = len(self.rounds)
        super().act(now_ns, post)
        if len(self.rounds) > before:
            self._heard = {}

    def heard(self, rows: Words, counters: list[Words]) -> None:
        for n, row in enumerate(rows.tolist()):
            self._heard[row[M.INSTANCE]] = counters[2 * n], counters[2 * n + 1]

    def confirmed(self, last: Round, post: Post) -> None:
        super().confirmed(last, post)
        record = CheckpointRecord(self.channels, [[Checkpoint(*self._heard[i])] for i in range(len(self.host_of))])
        line = (1,) * len(self.host_of)
        self._cut = [[c, numbers.start - 1, numbers.stop - 1] for c, numbers in in_flight(record, line).items()]
        self.settled = Settled([0] * len(self.host_of), record.processed_at(line))

    def line(self, now_ns: int) -> Line:
        return Line(super().line(now_ns).rows, self._cut)

    def state(self) -> Any:
        heard = [[i, sent.tolist(), processed.tolist()] for i, (sent, processed) in sorted(self._heard.items())]
        return {**super().state(), "heard": heard, "cut": self._cut}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self._heard = {i: (np.array(sent, np.int64), np.array(processed, np.int64)) for i, sent, processed in state["heard"]}
        self._cut = state["cut"]


class UnalignedWorker(CoordinatedWorker):
    """Takes a checkpoint on the first barrier, and stores it on the last one, when the in-flight records are known."""

    under_way = True

    def __init__(self, costs: Costs, contents: bool):
        super().__init__(costs, contents)
        self.begun: dict[tuple[int, int], Upload] = {}  # by number and instance

    def serve(self, world: World, instance: int, message: Message, now_ns: int, post: Post) -> int:
        verb, epoch, number = message.words
        if verb != TRIGGER or epoch != self.machine(self.host_of[instance]).epoch:
            return 0
        post.send_barrier(number)
        return self._begin(world, instance, number, now_ns) + self._end(world, instance, number, post)

    def aligned(self, world: World, instance: int, number: int, now_ns: int, post: Post) -> int:
        barred, inputs = world.arrays.align[instance, [L.ALIGN_BARRED, L.ALIGN_INPUTS]].tolist()
        work_ps = self._begin(world, instance, number, now_ns) if barred == 0 else 0
        return work_ps + (self._end(world, instance, number, post) if barred + 1 == inputs else 0)

    def _begin(self, world: World, i: int, number: int, now_ns: int) -> int:
        upload = self.begun[number, i] = Upload.of(self.capture(world, i, number), now_ns, now_ns)
        self.counters[number, i] = list(instance_checkpoint.counters(world, i))
        return self.costs.capture(upload.size_bytes)

    def _end(self, world: World, i: int, number: int, post: Post) -> int:
        upload = self.begun.pop((number, i))
        w, channels = world.arrays, world.entering[i]
        under_way = np.maximum(w.gate[channels, L.Q_CUT] - self.counters[number, i][1], 0)
        under_way_bytes = int(under_way @ w.edge[w.chan[channels, L.C_EDGE], L.E_BYTES])
        upload.size_bytes += under_way_bytes
        self.upload(i, number, upload, post)
        return under_way_bytes * self.costs.ps_per_byte

    def counters_of(self, host: int, number: int, rows: list[list[int]]) -> list[Words]:
        found = [words for row in rows for words in self.counters[number, row[M.INSTANCE]]]
        for i in self.instances[host]:
            self.counters.pop((number, i), None)
        return found

    def forget(self, host: int) -> None:
        super().forget(host)
        self.begun = {name: upload for name, upload in self.begun.items() if self.host_of[name[1]] != host}
        self.counters = {name: words for name, words in self.counters.items() if self.host_of[name[1]] != host}

    def state(self) -> Any:
        begun = [[*name, *vars(upload).values()] for name, upload in sorted(self.begun.items())]
        counters = [[*name, *(words.tolist() for words in found)] for name, found in sorted(self.counters.items())]
        return [super().state(), begun, counters]

    def restore(self, state: Any) -> None:
        below, begun, counters = state
        super().restore(below)
        self.begun = {(number, i): Upload(*about) for number, i, *about in begun}
        self.counters = {(number, i): [np.array(sent, np.int64), np.array(processed, np.int64)] for number, i, sent, processed in counters}
