"""Coordinated checkpoints, aligned (Siachamis 2024, 3.3.1): rounds of barriers through the whole query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from engine.core import layout as L
from engine.core.control.actors import ActorHost, Message, Post
from engine.core.control.keyed_state import tables_from_bytes, tables_to_bytes
from engine.core.layout import FAR
from engine.core.tables import Words
from engine.core.world import World
from engine.services import object_store
from engine.spec.experiment.checkpointing.coordinated import CoordinatedCheckpoints

from . import messages as M
from .coordinator import Coordinator, Line
from .history import Round
from .messages import ROUND_DONE, ROUND_FAILED, TRIGGER
from .setup import COORDINATOR_HOST, ProtocolContext, ProtocolSetup
from .worker import COUNTER_BYTES, Worker


def build(protocol: CoordinatedCheckpoints, run: ProtocolContext) -> ProtocolSetup:
    rounds = CoordinatedRounds(COORDINATOR_HOST, protocol.interval_ns, run.until_ns, protocol.detect_ns, run.machines, run.sources)
    return ProtocolSetup((rounds,), CoordinatedWorker(run.costs, run.may_lose_hosts))


class CoordinatedRounds(Coordinator):
    """Triggers a round every interval until `until_ns`; a tick is skipped while a round is open."""

    def __init__(self, host: ActorHost, interval_ns: int, until_ns: int, detect_ns: int, machines: Sequence[int], sources: Sequence[int]):
        super().__init__(host, detect_ns, machines)
        self.interval_ns = self._tick_ns = interval_ns
        self.until_ns = until_ns
        self.sources = list(sources)
        self.rounds: list[Round] = []
        self.skipped_ns: list[int] = []
        self._confirmed: list[list[int]] = []  # rows of the last confirmed round

    @property
    def due_ns(self) -> int:
        return self._tick_ns

    @property
    def open_round(self) -> Round | None:
        return self.rounds[-1] if self.rounds and not self.rounds[-1].ended else None

    @property
    def busy(self) -> bool:
        """Whether no round can start now."""
        return self.open_round is not None or self.recovering

    def act(self, now_ns: int, post: Post) -> None:
        self._tick_ns = now_ns + self.interval_ns if now_ns + self.interval_ns <= self.until_ns else FAR
        if self.busy:
            self.skipped_ns.append(now_ns)
        else:
            self.begin_round(now_ns, TRIGGER, post)

    def begin_round(self, now_ns: int, verb: int, post: Post) -> Round:
        """Start a round."""
        opened = Round(len(self.rounds) + 1, self.epoch, now_ns)
        if self.rounds and self.rounds[-1].ended != "confirmed" and not self.chained:  # delete checkpoints of unsuccessful rounds
            last = self._confirmed[0][M.NUMBER] if self._confirmed else 0
            post.send(self.store, (object_store.DELETE, 0, M.key(last + 1), M.key(opened.number)), M.MESSAGE_BYTES)
        self.rounds.append(opened)
        self.call(opened, verb, post)
        return opened

    def call(self, opened: Round, verb: int, post: Post) -> None:
        """Notify the sources, which start the round."""
        for i in self.sources:
            post.send(i, (verb, opened.epoch, opened.number), M.MESSAGE_BYTES)

    @property
    def reporting(self) -> Sequence[int]:
        """Machines that the open round waits for."""
        return self.machines

    def hear(self, message: Message, now_ns: int, post: Post) -> None:
        verb, epoch, number = message.words
        opened = self.open_round
        if opened is None or (epoch, number) != (opened.epoch, opened.number):
            return
        rows, *counters = tables_from_bytes(message.parcel)
        opened.done[self.host_at[message.sender]] = now_ns
        opened.taken += rows.tolist()
        opened.failed = opened.failed or verb == ROUND_FAILED
        self.heard(rows, counters)
        if len(opened.done) == len(self.reporting):
            opened.ended, opened.ended_ns = "failed" if opened.failed else "confirmed", now_ns
            if not opened.failed:
                self.confirmed(opened, post)

    def heard(self, rows: Words, counters: list[Words]) -> None:
        """Handle a worker's report. counters: what its protocol sends in addition to the rows."""

    def confirmed(self, last: Round, post: Post) -> None:
        """Make this round the rollback target."""
        self._confirmed = last.taken
        oldest = min((row[M.START] for row in last.taken), default=last.number)  # still needed
        post.send(self.store, (object_store.DELETE, 0, M.key(0), M.key(oldest)), M.MESSAGE_BYTES)

    def line(self, now_ns: int) -> Line:
        opened = self.open_round
        if opened is not None:
            opened.ended, opened.ended_ns = "aborted", now_ns
        return Line(self._confirmed)

    def rounds_after(self, after_ns: int) -> list[Round]:
        first = len(self.rounds)  # only one can be open
        while first and not (self.rounds[first - 1].ended and self.rounds[first - 1].ended_ns <= after_ns):
            first -= 1
        return self.rounds[first:]

    def state(self) -> Any:
        rounds = [asdict(opened) | {"done": [list(item) for item in opened.done.items()]} for opened in self.rounds]
        return {**super().state(), "tick_ns": self._tick_ns, "rounds": rounds, "skipped_ns": list(self.skipped_ns), "line": self._confirmed}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self._tick_ns, self.skipped_ns, self._confirmed = state["tick_ns"], state["skipped_ns"], state["line"]
        self.rounds = [Round(**{**about, "done": dict(about["done"])}) for about in state["rounds"]]


class CoordinatedWorker(Worker):
    """Takes the checkpoint of a source on the trigger, and of every other instance when barriers have arrived on all its channels."""

    under_way = False

    def serve(self, world: World, instance: int, message: Message, now_ns: int, post: Post) -> int:
        verb, epoch, number = message.words
        if verb != TRIGGER or epoch != self.machine(self.host_of[instance]).epoch:
            return 0  # from a round that a recovery has aborted
        post.send_barrier(number)
        return self.take(world, instance, number, now_ns, post, asked_ns=now_ns)

    def aligned(self, world: World, instance: int, number: int, now_ns: int, post: Post) -> int:
        return self.take(world, instance, number, now_ns, post, asked_ns=int(world.arrays.align[instance, L.ALIGN_SINCE]))

    def durable(self, host: int, row: list[int], now_ns: int, post: Post) -> None:
        self._look(host, row[M.NUMBER], post)

    def refused(self, host: int, number: int, instance: int, now_ns: int, post: Post) -> None:
        row = [0] * M.COLUMNS
        row[M.INSTANCE], row[M.NUMBER], row[M.DURABLE_NS] = instance, number, -1
        self.machine(host).taken.setdefault(number, []).append(row)
        self._look(host, number, post)

    def _look(self, host: int, number: int, post: Post) -> None:
        """Report the stored checkpoints of a round once the last one is decided."""
        machine = self.machine(host)
        rows = machine.taken[number]
        if len(rows) < len(self.together(host, rows[0][M.INSTANCE])):
            return
        del machine.taken[number]
        stored = [row for row in rows if row[M.DURABLE_NS] >= 0]
        verb = ROUND_DONE if len(stored) == len(rows) else ROUND_FAILED
        counters = self.counters_of(host, number, stored)
        size_bytes = M.MESSAGE_BYTES + M.ROW_BYTES * len(stored) + COUNTER_BYTES * sum(map(len, counters))
        parcel = tables_to_bytes([np.array(stored, np.int64).reshape(-1, M.COLUMNS), *counters])
        post.ask(self.coordinator, (verb, machine.epoch, number), size_bytes, parcel=parcel)

    def together(self, host: int, instance: int) -> list[int]:
        """Return the instances of the machine that take part in the same rounds as `instance`."""
        return self.instances[host]

    def counters_of(self, host: int, number: int, rows: list[list[int]]) -> list[Words]:
        """Return what is reported in addition to the rows."""
        return []
