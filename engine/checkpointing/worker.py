"""The process on each machine that takes checkpoints of its instances, stores them, and goes back to them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

from engine.core import layout as L
from engine.core.control import instance_checkpoint
from engine.core.control.actors import Directory, Message, Post
from engine.core.control.instance_checkpoint import Checkpoint
from engine.core.tables import Words
from engine.core.world import World
from engine.services import object_store

from . import messages as M
from .messages import FETCH, GO, HELLO, RECOVER, RESTORED

PIECE_BYTES = 1_000_000
"""A checkpoint goes to the store in pieces of at most so many bytes: what else leaves the host waits behind one of them, not behind all."""
PIECES_AHEAD = 2
"""So many are on their way at a time: while the store writes one, the next is on the link."""
COUNTER_BYTES = 8
BASE_BYTES = 500
"""Of a checkpoint without state: its header, offsets and watermarks."""


@dataclass(frozen=True)
class Costs:
    """Of taking and putting back a checkpoint, on a core of speed 1; of opening a log, and of each record that is read from it."""

    capture_ps: int
    ps_per_byte: int
    restart_ns: int
    open_log_ns: int = 0
    replay_ns: int = 0

    def capture(self, size_bytes: int) -> int:
        return self.capture_ps + size_bytes * self.ps_per_byte


@dataclass
class Upload:
    """A checkpoint on its way to the store, in pieces. Its content goes with the last one: of less nobody can make anything."""

    captured_ns: int
    size_bytes: int
    content: bytes
    asked_ns: int
    forced: int = 0
    notes_bytes: int = 0
    sent: int = 0
    stored: int = 0

    @property
    def pieces(self) -> int:
        return -(-self.size_bytes // PIECE_BYTES)


@dataclass
class Machine:
    """What the process on one machine remembers.

    uploads: by number and instance. taken: `messages.TAKEN` rows that are durable, by number. line: the rows to go back to. fetched: pieces
    of them, by key. awaited: keys. replays, apart: `messages.order_to_bytes`.
    """

    epoch: int = 0
    uploads: dict[tuple[int, int], Upload] = field(default_factory=dict)
    taken: dict[int, list[list[int]]] = field(default_factory=dict)
    line: list[list[int]] = field(default_factory=list)
    fetched: dict[int, bytes] = field(default_factory=dict)
    awaited: list[int] = field(default_factory=list)
    replays: list[list[int]] = field(default_factory=list)
    apart: list[list[int]] = field(default_factory=list)


class Worker(ABC):
    """One object for all machines, but what it knows is kept apart by machine. Protocols say when a checkpoint is due, and what follows.

    under_way: whether something may be under way on channels between the checkpoints of a line. inner_under_way: on inner ones, too.
    """

    under_way = True
    inner_under_way = False

    def __init__(self, costs: Costs, contents: bool):
        """contents: whether a host may be lost in this run. If none can be, nobody ever reads a checkpoint, and only its size is found."""
        self.costs, self.contents = costs, contents
        self.machines: dict[int, Machine] = {}
        self.counters: dict[tuple[int, int], list[Words]] = {}  # of checkpoints that are not durable yet, by number and instance

    def start(self, directory: Directory) -> None:
        self.coordinator, self.store = directory.actors["coordinator"], directory.actors["store"]
        self.addresses = directory.machines
        self.host_of = [host for _, _, host in directory.instances]
        self.instances: dict[int, list[int]] = {}
        for i in range(len(self.host_of)) if directory.active is None else directory.active:
            self.instances.setdefault(self.host_of[i], []).append(i)

    def begin(self, host: int, post: Post) -> None:  # noqa: B027 some have no timers
        """Protocols with timers ask for the first one."""

    def machine(self, host: int) -> Machine:
        found = self.machines.get(host)
        if found is None:
            found = self.machines[host] = Machine()
        return found

    @abstractmethod
    def durable(self, host: int, row: list[int], now_ns: int, post: Post) -> None:
        """The store has a checkpoint (`messages.TAKEN`)."""

    @abstractmethod
    def refused(self, host: int, number: int, instance: int, now_ns: int, post: Post) -> None:
        """The store is full, and there will be no such checkpoint."""

    # -- taking one ------------------------------------------------------------------------------------------------------------

    def take(
        self, world: World, i: int, number: int, now_ns: int, post: Post, *, asked_ns: int, notes_bytes: int = 0, forced: int = 0
    ) -> int:
        """Take a checkpoint of instance `i` and send the first of it to the store; returns the work, ps. notes_bytes: of what the protocol
        keeps with it. forced: the rules by which a record did."""
        content, size_bytes = self.capture(world, i)
        size_bytes += notes_bytes
        self.upload(i, number, Upload(now_ns, size_bytes, content, asked_ns, forced, notes_bytes), post)
        return self.costs.capture(size_bytes)

    def capture(self, world: World, i: int) -> tuple[bytes, int]:
        """What instance `i` is now, and how many bytes that is."""
        size_bytes = BASE_BYTES + int(world.arrays.inst[i, L.I_STATE_BYTES])
        return instance_checkpoint.capture(world, i).to_bytes() if self.contents else b"", size_bytes

    def upload(self, i: int, number: int, upload: Upload, post: Post) -> None:
        if upload.pieces > M.PIECES_MAX:
            raise ValueError(f"a checkpoint has {upload.size_bytes:,} bytes; at most {M.PIECES_MAX * PIECE_BYTES:,} are possible")
        self.machine(self.host_of[i]).uploads[number, i] = upload
        for _ in range(min(PIECES_AHEAD, upload.pieces)):
            self._send_piece(upload, number, i, post)

    def _send_piece(self, upload: Upload, number: int, i: int, post: Post) -> None:
        piece, upload.sent = upload.sent, upload.sent + 1
        size_bytes = min(PIECE_BYTES, upload.size_bytes - piece * PIECE_BYTES)
        content = upload.content if upload.sent == upload.pieces else b""
        post.ask(self.store, (object_store.PUT, 0, M.key(number, i, piece)), size_bytes, parcel=content)

    def _stored(self, host: int, key: int, now_ns: int, post: Post) -> None:
        number, i = M.of_key(key)
        machine = self.machine(host)
        upload = machine.uploads.get((number, i))
        if upload is None:  # it was given up
            return
        upload.stored += 1
        if upload.sent < upload.pieces:
            self._send_piece(upload, number, i, post)
        elif upload.stored == upload.pieces:
            del machine.uploads[number, i]
            row = [i, number, upload.captured_ns, upload.size_bytes, upload.pieces, now_ns]
            row += [upload.forced, upload.asked_ns, upload.notes_bytes]
            machine.taken.setdefault(number, []).append(row)
            self.durable(host, row, now_ns, post)

    # -- going back to one -------------------------------------------------------------------------------------------------------

    def obey(self, world: World, host: int, message: Message, now_ns: int, post: Post) -> None:
        verb, *words = message.words
        machine = self.machine(host)
        if message.sender == self.store:
            self._answered(world, host, message, now_ns, post)
        elif verb == RECOVER:
            self.forget(host)
            line, ranges, apart = M.order_from_bytes(message.parcel)
            self.machines[host] = Machine(words[0], line=line, replays=ranges, apart=apart)
            instance_checkpoint.stop(world, host, now_ns, words[0])
            post.send(self.addresses[host], (FETCH, words[0]), 0, after_ns=self.costs.restart_ns)
        elif verb == FETCH and words[0] == machine.epoch:
            machine.awaited = [M.key(row[M.NUMBER], row[M.INSTANCE], piece) for row in machine.line for piece in range(row[M.PIECES])]
            for key in machine.awaited:
                post.send(self.store, (object_store.GET, machine.epoch, key), M.MESSAGE_BYTES)
            if not machine.awaited:
                self._restored(world, host, post)
        elif verb == GO and words[0] == machine.epoch:
            self._go_on(world, host, now_ns)
            self.resumed(host, now_ns, post)

    def resumed(self, host: int, now_ns: int, post: Post) -> None:  # noqa: B027 some have no timers
        """The machine goes on after a recovery."""

    def _restored(self, world: World, host: int, post: Post) -> None:
        """All that was to be fetched is here: read it, and what is to be sent again, and say so."""
        machine = self.machine(host)
        stored = self._fetched(machine)
        for i in self.instances[host]:
            instance_checkpoint.go_back(world, i, stored.get(i))
        work_ns = sum(row[M.BYTES] for row in machine.line) * self.costs.ps_per_byte // 1000
        w = world.arrays
        records = sum((end - first) * int(w.op[w.inst[w.chan[c, L.C_SENDER], L.I_OP], L.O_WEIGHT_OUT]) for c, first, end in machine.replays)
        work_ns += len(machine.replays) * self.costs.open_log_ns + records * self.costs.replay_ns
        post.send(self.coordinator, (RESTORED, machine.epoch), M.MESSAGE_BYTES, after_ns=work_ns)

    def _answered(self, world: World, host: int, message: Message, now_ns: int, post: Post) -> None:
        outcome, about, key = message.words
        machine = self.machine(host)
        if key in machine.awaited and about == machine.epoch:
            if outcome != object_store.DONE:
                raise AssertionError(f"the store has lost checkpoint {M.of_key(key)}, which was to be restored")
            machine.fetched[key] = message.parcel
            if len(machine.fetched) == len(machine.awaited):
                self._restored(world, host, post)
        elif outcome == object_store.FULL:
            number, i = M.of_key(key)
            if machine.uploads.pop((number, i), None) is not None:
                self.refused(host, number, i, now_ns, post)
        elif outcome == object_store.DONE and about == 0:
            self._stored(host, key, now_ns, post)

    def _fetched(self, machine: Machine) -> dict[int, Checkpoint]:
        """The checkpoints to go back to, by instance."""
        keys = {row[M.INSTANCE]: M.key(row[M.NUMBER], row[M.INSTANCE], row[M.PIECES] - 1) for row in machine.line}
        return {i: Checkpoint.from_bytes(machine.fetched[key]) for i, key in keys.items()}

    def _go_on(self, world: World, host: int, now_ns: int) -> None:
        machine = self.machine(host)
        stored = self._fetched(machine)
        for i in self.instances[host]:
            instance_checkpoint.put(world, i, stored.get(i))
        instance_checkpoint.send_again(world, machine.replays, now_ns)
        if self.under_way:
            for i in self.instances[host]:
                instance_checkpoint.send_marks_again(world, i, now_ns, self.inner_under_way)
        instance_checkpoint.resume(world, host, now_ns)
        machine.line, machine.fetched, machine.awaited, machine.replays, machine.apart = [], {}, [], [], []

    def forget(self, host: int) -> None:
        """Nothing of what is under way on this machine matters any more."""
        self.machines.pop(host, None)

    def lost(self, host: int, now_ns: int) -> None:
        self.forget(host)

    def started(self, world: World, host: int, now_ns: int, post: Post) -> None:
        """Nothing is done before the coordinator says from where."""
        if host in self.instances:
            instance_checkpoint.stop(world, host, now_ns, None)
            post.send(self.coordinator, (HELLO,), M.MESSAGE_BYTES)

    # -- state -------------------------------------------------------------------------------------------------------------------

    def state(self) -> Any:
        return [
            [
                host, machine.epoch,
                [[*name, *vars(upload).values()] for name, upload in sorted(machine.uploads.items())],
                [[number, rows] for number, rows in sorted(machine.taken.items())],
                machine.line, [list(item) for item in sorted(machine.fetched.items())], machine.awaited, machine.replays, machine.apart,
            ]
            for host, machine in sorted(self.machines.items())
        ]  # fmt: skip

    def restore(self, state: Any) -> None:
        self.machines = {
            host: Machine(
                epoch,
                {(number, i): Upload(*about) for number, i, *about in uploads},
                dict(taken), line, dict(fetched), awaited, replays, apart,
            )
            for host, epoch, uploads, taken, line, fetched, awaited, replays, apart in state
        }  # fmt: skip
