"""Coordinated checkpoints, aligned (Siachamis 2024, 3.3.1): rounds of barriers through the whole query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from engine.core.actors import ActorHost, Message, Post
from engine.core.layout import FAR
from engine.core.world import World
from engine.services import object_store

from . import messages as M
from .coordinator import Coordinator, Line
from .messages import ROUND_DONE, ROUND_FAILED, TRIGGER
from .worker import Worker


@dataclass
class Round:
    """One round. Times in ns, -1 while they are not known. done: by host, when its worker said so. taken: `messages.TAKEN` rows.

    ended: how it ended: confirmed, failed (the store was full), aborted (by a recovery); "" while it is open.
    """

    number: int
    epoch: int
    triggered_ns: int
    done: dict[int, int] = field(default_factory=dict)
    taken: list[list[int]] = field(default_factory=list)
    ended: str = ""
    ended_ns: int = -1


class CoordinatedRounds(Coordinator):
    """Triggers a round every interval up to `until_ns`, unless one is open: then that tick is left out."""

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
    def open(self) -> Round | None:
        return self.rounds[-1] if self.rounds and not self.rounds[-1].ended else None

    def act(self, now_ns: int, post: Post) -> None:
        self._tick_ns = now_ns + self.interval_ns if now_ns + self.interval_ns <= self.until_ns else FAR
        if self.open is not None or self.recovering:
            self.skipped_ns.append(now_ns)
            return
        opened = Round(len(self.rounds) + 1, self.epoch, now_ns)
        self.rounds.append(opened)
        for i in self.sources:
            post.send(i, (TRIGGER, opened.epoch, opened.number), M.MESSAGE_BYTES)

    def hear(self, message: Message, now_ns: int, post: Post) -> None:
        verb, epoch, number = message.words
        opened = self.open
        if opened is None or (epoch, number) != (opened.epoch, opened.number):
            return
        if verb == ROUND_FAILED:
            opened.ended, opened.ended_ns = "failed", now_ns
            return
        opened.done[self.host_at[message.sender]] = now_ns
        opened.taken += M.rows_from_bytes(message.parcel).tolist()
        if len(opened.done) == len(self.machines):
            opened.ended, opened.ended_ns = "confirmed", now_ns
            self._confirmed = opened.taken
            post.send(self.store, (object_store.DELETE, 0, M.key(0), M.key(number)), M.MESSAGE_BYTES)  # nobody goes back further

    def line(self, now_ns: int) -> Line:
        opened = self.open
        if opened is not None:
            opened.ended, opened.ended_ns = "aborted", now_ns
        return Line(self._confirmed)

    def state(self) -> Any:
        rounds = [asdict(opened) | {"done": [list(item) for item in opened.done.items()]} for opened in self.rounds]
        return {**super().state(), "tick_ns": self._tick_ns, "rounds": rounds, "skipped_ns": list(self.skipped_ns), "line": self._confirmed}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self._tick_ns, self.skipped_ns, self._confirmed = state["tick_ns"], state["skipped_ns"], state["line"]
        self.rounds = [Round(**{**about, "done": dict(about["done"])}) for about in state["rounds"]]


class CoordinatedWorker(Worker):
    """Takes a checkpoint of a source at the trigger, and of every other instance when barriers have come by all its channels."""

    def serve(self, world: World, instance: int, message: Message, now_ns: int, post: Post) -> int:
        verb, epoch, number = message.words
        if verb != TRIGGER or epoch != self.machine(self.host_of[instance]).epoch:
            return 0  # of a round that a recovery has ended
        post.send_barrier(number)
        return self.take(world, instance, number, now_ns, post)

    def aligned(self, world: World, instance: int, number: int, now_ns: int, post: Post) -> int:
        return self.take(world, instance, number, now_ns, post)

    def durable(self, host: int, row: list[int], now_ns: int, post: Post) -> None:
        machine, number = self.machine(host), row[M.NUMBER]
        rows = machine.taken[number]
        if len(rows) == len(self.instances[host]):
            del machine.taken[number]
            size_bytes = M.MESSAGE_BYTES + M.ROW_BYTES * len(rows)
            post.send(self.coordinator, (ROUND_DONE, machine.epoch, number), size_bytes, parcel=M.rows_to_bytes(rows))

    def refused(self, host: int, number: int, instance: int, now_ns: int, post: Post) -> None:
        machine = self.machine(host)
        machine.taken.pop(number, None)
        for name in [name for name in machine.uploads if name[0] == number]:
            del machine.uploads[name]
        post.send(self.coordinator, (ROUND_FAILED, machine.epoch, number), M.MESSAGE_BYTES)
