"""The worker process of each machine: takes checkpoints of its instances, stores them, and restores them."""

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
from engine.spec.base.origins import constant

from . import messages as M
from .chains import Chain, next_link, restored
from .messages import FETCH, GO, HELLO, RECOVER, RESTORED

PIECE_BYTES = 1_000_000
"""Maximum size of a piece of an upload: other traffic of the host waits for one piece, not for the whole checkpoint."""
PIECES_AHEAD = 2
"""Pieces in flight at a time: while the store writes one, the next is on the link."""
COUNTER_BYTES = constant(8, "assumed", "a word")
BASE_BYTES = constant(500, "assumed")
"""Size of a checkpoint without state: header, offsets and watermarks."""


@dataclass(frozen=True)
class Costs:
    """Costs of taking and restoring a checkpoint on a core of speed 1, of opening a log, and of each record read from it."""

    capture_ps: int
    ps_per_byte: int
    restart_ns: int
    open_log_ns: int = 0
    replay_ns: int = 0

    def capture(self, size_bytes: int) -> int:
        return self.capture_ps + size_bytes * self.ps_per_byte


@dataclass
class Captured:
    """A checkpoint that is to be stored. start, base: numbers of the checkpoints that its chain begins with, and that it builds on, 0 if it
    is whole (`chains`)."""

    content: bytes
    size_bytes: int
    start: int
    base: int = 0


@dataclass
class Upload:
    """An upload of a checkpoint to the store, in pieces. The last piece carries the content, since incomplete checkpoints are useless."""

    captured_ns: int
    size_bytes: int
    content: bytes
    asked_ns: int
    forced: int = 0
    notes_bytes: int = 0
    sent: int = 0
    stored: int = 0
    start: int = 0
    base: int = 0

    @classmethod
    def of(cls, captured: Captured, captured_ns: int, asked_ns: int) -> Upload:
        return cls(captured_ns, captured.size_bytes, captured.content, asked_ns, start=captured.start, base=captured.base)

    @property
    def pieces(self) -> int:
        return -(-self.size_bytes // PIECE_BYTES)


@dataclass
class Machine:
    """State of the worker process on one machine.

    uploads: by number and instance. taken: durable `messages.TAKEN` rows, by number. line: rows to roll back to. fetched: pieces of them,
    by key. awaited: keys. replays, apart: `messages.order_to_bytes`. chains: by instance.
    """

    epoch: int = 0
    uploads: dict[tuple[int, int], Upload] = field(default_factory=dict)
    taken: dict[int, list[list[int]]] = field(default_factory=dict)
    line: list[list[int]] = field(default_factory=list)
    fetched: dict[int, bytes] = field(default_factory=dict)
    awaited: list[int] = field(default_factory=list)
    replays: list[list[int]] = field(default_factory=list)
    apart: list[list[int]] = field(default_factory=list)
    chains: dict[int, Chain] = field(default_factory=dict)


class Worker(ABC):
    """Worker processes of all machines in one object, with separate state per machine. Protocols decide when a checkpoint is due, and what
    follows.

    under_way: whether records may be in flight between the checkpoints of a line. inner_under_way: also on inner channels. links: maximum
    length of a chain of checkpoints; 1: every checkpoint is whole.
    """

    under_way = True
    inner_under_way = False
    links = 1

    def __init__(self, costs: Costs, contents: bool):
        """contents: whether a host may be lost in this run. If not, checkpoints are never read, and only their size is computed."""
        self.costs, self.contents = costs, contents
        self.machines: dict[int, Machine] = {}
        self.counters: dict[tuple[int, int], list[Words]] = {}  # of checkpoints not yet durable, by number and instance

    def start(self, directory: Directory) -> None:
        self.coordinator, self.store = directory.actors["coordinator"], directory.actors["store"]
        self.addresses = directory.machines
        self.host_of = [host for _, _, host in directory.instances]
        self.instances: dict[int, list[int]] = {}
        for i in range(len(self.host_of)) if directory.active is None else directory.active:
            self.instances.setdefault(self.host_of[i], []).append(i)

    def begin(self, host: int, post: Post) -> None:  # noqa: B027 some have no timers
        """Set the first timer, in protocols with timers."""

    def machine(self, host: int) -> Machine:
        found = self.machines.get(host)
        if found is None:
            found = self.machines[host] = Machine()
        return found

    @abstractmethod
    def durable(self, host: int, row: list[int], now_ns: int, post: Post) -> None:
        """Handle a checkpoint that the store has (`messages.TAKEN`)."""

    @abstractmethod
    def refused(self, host: int, number: int, instance: int, now_ns: int, post: Post) -> None:
        """Handle a checkpoint that the full store refused."""

    # -- taking a checkpoint ------------------------------------------------------------------------------------------------------------

    def take(
        self, world: World, i: int, number: int, now_ns: int, post: Post, *, asked_ns: int, notes_bytes: int = 0, forced: int = 0
    ) -> int:
        """Take a checkpoint of instance `i` and start its upload. Returns the work in ps. notes_bytes: size of the protocol's notes.
        forced: rules by which a record forced it."""
        upload = Upload.of(self.capture(world, i, number), now_ns, asked_ns)
        upload.size_bytes += notes_bytes
        upload.forced, upload.notes_bytes = forced, notes_bytes
        self.upload(i, number, upload, post)
        return self.costs.capture(upload.size_bytes)

    def capture(self, world: World, i: int, number: int) -> Captured:
        """Take a checkpoint of instance `i`: of its whole state, or of what has changed since the last one."""
        if self.links == 1 or world.keepings[int(world.arrays.inst[i, L.I_OP])] is None:
            size_bytes = BASE_BYTES + int(world.arrays.inst[i, L.I_STATE_BYTES])
            return Captured(instance_checkpoint.capture(world, i).to_bytes() if self.contents else b"", size_bytes, number)
        chains = self.machine(self.host_of[i]).chains
        link, chains[i] = next_link(world, i, number, instance_checkpoint.capture(world, i), chains.get(i), self.links)
        content = link.checkpoint.to_bytes() if self.contents else b""
        return Captured(content, BASE_BYTES + link.state_bytes, link.start, link.base)

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
        if upload is None:  # it was aborted
            return
        upload.stored += 1
        if upload.sent < upload.pieces:
            self._send_piece(upload, number, i, post)
        self._finish(host, i, now_ns, post)

    def _finish(self, host: int, i: int, now_ns: int, post: Post) -> None:
        """End the uploads of an instance that the store has. What builds on a checkpoint is not durable before it."""
        machine = self.machine(host)
        for number in sorted(number for number, of in machine.uploads if of == i):
            upload = machine.uploads[number, i]
            if upload.stored < upload.pieces or (upload.base, i) in machine.uploads:
                continue
            del machine.uploads[number, i]
            row = [i, number, upload.captured_ns, upload.size_bytes, upload.pieces, now_ns]
            row += [upload.forced, upload.asked_ns, upload.notes_bytes, upload.start, upload.base]
            machine.taken.setdefault(number, []).append(row)
            self.durable(host, row, now_ns, post)

    # -- rollback -------------------------------------------------------------------------------------------------------

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
        """Handle the machine's resumption after a recovery."""

    def _restored(self, world: World, host: int, post: Post) -> None:
        """Everything has been fetched: restore it, read the records to replay, and report."""
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
            self._refuse(host, *M.of_key(key), now_ns, post)
        elif outcome == object_store.DONE and about == 0:
            self._stored(host, key, now_ns, post)

    def _refuse(self, host: int, number: int, i: int, now_ns: int, post: Post) -> None:
        """Give up an upload that the store has refused, and those that build on it. The next checkpoint of the instance is whole."""
        machine = self.machine(host)
        upload = machine.uploads.pop((number, i), None)
        if upload is None:
            return
        machine.chains.pop(i, None)
        self.refused(host, number, i, now_ns, post)
        for other, of in list(machine.uploads):
            if of == i and machine.uploads[other, of].base == number:
                self._refuse(host, other, i, now_ns, post)

    def _fetched(self, machine: Machine) -> dict[int, Checkpoint]:
        """Return the checkpoints to restore, by instance."""
        links: dict[int, list[Checkpoint]] = {}
        for row in machine.line:
            key = M.key(row[M.NUMBER], row[M.INSTANCE], row[M.PIECES] - 1)
            links.setdefault(row[M.INSTANCE], []).append(Checkpoint.from_bytes(machine.fetched[key]))
        return {i: restored(own) for i, own in links.items()}

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
        """Discard everything in progress on this machine."""
        self.machines.pop(host, None)

    def lost(self, host: int, now_ns: int) -> None:
        self.forget(host)

    def started(self, world: World, host: int, now_ns: int, post: Post) -> None:
        """Handle a started machine: wait until the coordinator says where to resume."""
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
                [[i, *chain.to_words()] for i, chain in sorted(machine.chains.items())],
            ]
            for host, machine in sorted(self.machines.items())
        ]  # fmt: skip

    def restore(self, state: Any) -> None:
        self.machines = {
            host: Machine(
                epoch,
                {(number, i): Upload(*about) for number, i, *about in uploads},
                dict(taken), line, dict(fetched), awaited, replays, apart, {i: Chain.from_words(words) for i, *words in chains},
            )
            for host, epoch, uploads, taken, line, fetched, awaited, replays, apart, chains in state
        }  # fmt: skip
