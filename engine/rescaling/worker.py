"""The worker process of a machine in a rescale: its instances stop behind a savepoint and restart with their new state."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from engine.checkpointing import messages as M
from engine.checkpointing.coordinated import CoordinatedWorker
from engine.checkpointing.messages import FETCH, RESTORED
from engine.checkpointing.worker import BASE_BYTES, PIECE_BYTES, Costs, Machine, Upload
from engine.core import layout as L
from engine.core.control import instance_checkpoint, keyed_state
from engine.core.control.active_instances import active, hold, owners, release, set_parallelism
from engine.core.control.actors import Directory, Message, Post
from engine.core.control.instance_checkpoint import Checkpoint
from engine.core.control.ranks import is_held, set_held
from engine.core.source_logs import SourceLogs
from engine.core.tables import Arrays, Words
from engine.core.world import World
from engine.services import object_store

from .messages import RELEASE, RESCALE, STOP, Mark, Restart, table
from .savepoint_assignment import requests


@dataclass
class Stop:
    """A machine's part of a savepoint. marks: of its instances. groups: instance, key group and bytes of their state. places: positions of
    partitions (`Restart.floors`), where needed."""

    marks: list[list[int]] = field(default_factory=list)
    groups: list[list[int]] = field(default_factory=list)
    places: list[list[int]] = field(default_factory=list)


@dataclass
class Begin:
    """A restart order of a machine. awaited: number of outstanding replies of the store. contents: checkpoints by old instance."""

    number: int
    order: bytes
    awaited: int = 0
    contents: dict[int, bytes] = field(default_factory=dict)

    @property
    def restart(self) -> Restart:
        return Restart.from_bytes(self.order)


class Noted(NamedTuple):
    """A time, and the number of unread real records in the topics of the sources concerned, None without sources."""

    at_ns: int = L.FAR
    unread: int | None = None


class Topics(Protocol):
    """Unread records in topics, in real records."""

    def lag(self, w: Arrays, logs: SourceLogs, now_ns: int) -> Mapping[str, int]:
        """Return the lag by source."""

    def lag_of(self, w: Arrays, i: int, now_ns: int) -> int:
        """Return the lag of the partitions of one instance."""


class RescalingWorker(CoordinatedWorker):
    """Worker for checkpoint rounds and savepoints: after its checkpoint for a savepoint, an instance stops until it is released or
    restarted.

    instances: active instances by machine, for machines with instances laid out. For observers, by savepoint number: stopped, the time when
    the first instance stopped, and the lag of each source when it stopped; went_on, the time when the first machine resumed in the new
    arrangement.
    """

    def __init__(self, costs: Costs, contents: bool):
        super().__init__(costs, contents)
        self._stops: dict[tuple[int, int], Stop] = {}  # by machine and number
        self._given_up: dict[int, int] = {}  # by machine: savepoints up to this number stop no instance
        self._begins: dict[int, Begin] = {}  # by machine
        self.stopped: dict[int, Noted] = {}
        self.went_on: dict[int, Noted] = {}
        self.topics: Topics | None = None  # of an observed run

    def start(self, directory: Directory) -> None:
        super().start(directory)
        self._directory = directory
        self._operators = list(dict.fromkeys(operator for operator, _, _ in directory.instances))
        for _, _, host in directory.instances:
            self.instances.setdefault(host, [])

    # -- stopping ----------------------------------------------------------------------------------------------------------------

    def serve(self, world: World, instance: int, message: Message, now_ns: int, post: Post) -> int:
        verb, epoch, number = message.words
        if verb != STOP:
            return super().serve(world, instance, message, now_ns, post)
        if epoch != self.machine(self.host_of[instance]).epoch:
            return 0
        post.send_barrier(-number)  # even if it has been aborted: others have the barrier already and wait for this one
        return self._stop(world, instance, number, now_ns, post, now_ns)

    def aligned(self, world: World, instance: int, number: int, now_ns: int, post: Post) -> int:
        if number > 0:
            return super().aligned(world, instance, number, now_ns, post)
        return self._stop(world, instance, -number, now_ns, post, int(world.arrays.align[instance, L.ALIGN_SINCE]))

    def _stop(self, world: World, i: int, number: int, now_ns: int, post: Post, asked_ns: int) -> int:
        """Take the checkpoint of the savepoint, and start no further service."""
        host = self.host_of[i]
        if number <= self._given_up.get(host, 0):
            return 0
        self._note_stop(world, i, number, now_ns)
        w = world.arrays
        checkpoint = instance_checkpoint.capture(world, i)
        watermark_ns, newest_ns, *_, read = checkpoint.words.tolist()
        stop = self._stops.setdefault((host, number), Stop())
        stop.marks.append([i, watermark_ns, newest_ns, read])
        if checkpoint.state is not None:
            sizes = keyed_state.bytes_by_group(checkpoint.state, w, int(w.inst[i, L.I_OP]))
            assert (checkpoint.state.sizes > 0).all(), "what counts nothing would be left behind"
            stop.groups += [[i, group, int(sizes[group])] for group in np.flatnonzero(sizes).tolist()]
        size_bytes = BASE_BYTES + int(w.inst[i, L.I_STATE_BYTES])
        self.upload(i, number, Upload(now_ns, size_bytes, checkpoint.to_bytes(), asked_ns, start=number), post)
        hold(world, i)
        return self.costs.capture(size_bytes)

    def _note_stop(self, world: World, i: int, number: int, now_ns: int) -> None:
        """Record a stop. The clocks of other machines may be ahead or behind, so each instance counts its own lag."""
        at_ns, unread = self.stopped.get(number, Noted())
        if self.topics is not None and world.arrays.inst[i, L.I_SOURCE]:
            unread = (unread or 0) + self.topics.lag_of(world.arrays, i, now_ns)
        self.stopped[number] = Noted(min(at_ns, now_ns), unread)

    def _note_going_on(self, world: World, number: int, operators: Collection[str], now_ns: int) -> None:
        """operators: those that were stopped."""
        if number not in self.went_on:
            lag = {} if self.topics is None else self.topics.lag(world.arrays, world.logs, now_ns)
            own = [unread for id, unread in lag.items() if id in operators]
            self.went_on[number] = Noted(now_ns, sum(own) if own else None)

    def counters_of(self, host: int, number: int, rows: list[list[int]]) -> list[Words]:
        stop = self._stops.pop((host, number), None)
        return [] if stop is None else [table(stop.marks, len(Mark._fields)), table(stop.groups, 3)]

    def _release(self, world: World, host: int, number: int, now_ns: int, post: Post) -> None:
        """Abort the savepoint with this number."""
        self._given_up[host] = number
        machine = self.machine(host)
        machine.uploads = {name: upload for name, upload in machine.uploads.items() if name[0] != number}
        machine.taken.pop(number, None)
        self._stops.pop((host, number), None)
        for i in self.instances[host]:
            if is_held(world.arrays, i):
                release(world, i, now_ns)

    # -- restarting ------------------------------------------------------------------------------------------------------------

    def obey(self, world: World, host: int, message: Message, now_ns: int, post: Post) -> None:
        verb, *words = message.words
        begin = self._begins.get(host)
        epoch = self.machine(host).epoch
        if message.sender == self.store:
            if begin is not None and words[0] == epoch:
                self._fetched_one(world, host, message, post)
            else:
                super().obey(world, host, message, now_ns, post)
        elif verb == RELEASE:
            if words[0] == epoch:
                self._release(world, host, words[1], now_ns, post)
        elif verb == RESCALE:
            self.forget(host)
            self.machines[host] = Machine(words[0])
            begin = self._begins[host] = Begin(words[1], message.parcel)
            self._arrange(world, begin.restart, now_ns)
            instance_checkpoint.stop(world, host, now_ns, words[0])
            post.send(self.addresses[host], (FETCH, words[0]), 0, after_ns=0 if words[2] else self.costs.restart_ns)
        elif verb == FETCH and begin is not None:
            if words[0] == epoch:
                self._ask(world, host, begin, post)
        else:
            super().obey(world, host, message, now_ns, post)

    def _arrange(self, world: World, restart: Restart, now_ns: int) -> None:
        """Rearrange, on the first machine that receives the order: all active instances everywhere are stopped or down."""
        w, parallelism = world.arrays, restart.parallelism
        begins = restart.begins or w.op[:, L.O_BEGIN].tolist()
        if w.op[:, L.O_PARALLEL].tolist() != parallelism or w.op[:, L.O_BEGIN].tolist() != begins:
            places = {id: world.logs.places(w, id) for id in world.logs.owners}
            set_parallelism(world, parallelism, begins=begins)
            for id, floors in places.items():
                o = self._operators.index(id)
                world.logs.assign(w, id, owners(len(floors), parallelism[o], begins[o]), floors)
        self._take_over(w)

    def _take_over(self, w: Arrays) -> None:
        """Set the active instances to those of the arrangement."""
        for members in self.instances.values():
            members.clear()
        for i in np.flatnonzero(active(w)).tolist():
            self.instances[self.host_of[i]].append(i)

    def _ask(self, world: World, host: int, begin: Begin, post: Post) -> None:
        epoch = self.machine(host).epoch
        for fetch in begin.restart.fetches:
            for piece, size_bytes in requests(fetch, PIECE_BYTES):
                key = M.key(begin.number, fetch.old, piece)
                post.send(self.store, (object_store.GET, epoch, key, size_bytes), M.MESSAGE_BYTES)
                begin.awaited += 1
        if not begin.awaited:
            self._ready(world, host, begin, post)

    def _fetched_one(self, world: World, host: int, message: Message, post: Post) -> None:
        outcome, _, key = message.words
        begin = self._begins[host]
        if outcome != object_store.DONE:
            raise AssertionError(f"the store has lost checkpoint {M.of_key(key)}, which was to be restored")
        if message.parcel:
            begin.contents[M.of_key(key)[1]] = message.parcel
        begin.awaited -= 1
        if not begin.awaited:
            self._ready(world, host, begin, post)

    def _ready(self, world: World, host: int, begin: Begin, post: Post) -> None:
        """All state has been fetched: each instance reads its part. Report when the last one is done."""
        w = world.arrays
        for i in self.instances[host]:
            if w.inst[i, L.I_SOURCE]:
                world.logs.to_floors(w, self._operators[int(w.inst[i, L.I_OP])], i)
        own: dict[int, int] = {}
        for fetch in begin.restart.fetches:
            own[fetch.instance] = own.get(fetch.instance, 0) + fetch.bytes
        work_ns = max(own.values(), default=0) * self.costs.ps_per_byte // 1000
        post.send(self.coordinator, (RESTORED, self.machine(host).epoch), M.MESSAGE_BYTES, after_ns=work_ns)

    def _go_on(self, world: World, host: int, now_ns: int) -> None:
        w = world.arrays
        set_held(w, w.inst[:, L.I_HOST] == host, False)
        begin = self._begins.pop(host, None)
        if begin is None:
            super()._go_on(world, host, now_ns)
        else:
            self._note_going_on(world, begin.number, self._operators, now_ns)
            self._begin_anew(world, host, begin)
            instance_checkpoint.resume(world, host, now_ns)

    def _begin_anew(self, world: World, host: int, begin: Begin) -> None:
        """Give the active instances their state. Channels continue with their senders' watermarks, because everything sent has been
        served."""
        w, restart = world.arrays, begin.restart
        watermark = np.full(len(w.inst), L.FAR)  # inactive instances must not hold back watermarks
        watermark[[mark.instance for mark in restart.marks]] = [mark.watermark_ns for mark in restart.marks]
        for mark in restart.marks:
            if self.host_of[mark.instance] == host:
                w.inst[mark.instance, [L.I_WATERMARK, L.I_NEWEST_EVENT]] = mark.watermark_ns, mark.newest_ns
                entering = world.entering[mark.instance]
                w.chan[entering, L.C_WATERMARK] = watermark[w.chan[entering, L.C_SENDER]]
        for i, read in restart.reads:
            if self.host_of[i] == host:
                w.inst[i, L.I_AGAIN] = w.inst[i, L.I_IN] - read
        for fetch in restart.fetches:
            o = int(w.inst[fetch.instance, L.I_OP])
            keeping, state = world.keepings[o], Checkpoint.from_bytes(begin.contents[fetch.old]).state
            assert keeping is not None
            assert state is not None
            part = state if fetch.end < 0 else keyed_state.part(state, w, o, fetch.first, fetch.end)
            assert part.state_bytes == fetch.bytes, "state is lost, or comes twice"
            keyed_state.put(world, keeping, fetch.instance, part)
            w = world.arrays

    def forget(self, host: int) -> None:
        super().forget(host)
        self._begins.pop(host, None)
        self._given_up.pop(host, None)
        self._stops = {name: stop for name, stop in self._stops.items() if name[0] != host}

    # -- state -------------------------------------------------------------------------------------------------------------------

    def state(self) -> Any:
        stops = [[*name, stop.marks, stop.groups, stop.places] for name, stop in sorted(self._stops.items())]
        begins = [
            [host, begin.number, begin.order, begin.awaited, [list(item) for item in sorted(begin.contents.items())]]
            for host, begin in sorted(self._begins.items())
        ]
        given_up = [list(item) for item in sorted(self._given_up.items())]
        instances = [[host, list(members)] for host, members in sorted(self.instances.items())]
        noted = [[[number, *one] for number, one in sorted(found.items())] for found in (self.stopped, self.went_on)]
        return [super().state(), stops, given_up, begins, instances, noted]

    def restore(self, state: Any) -> None:
        own, stops, given_up, begins, instances, noted = state
        super().restore(own)
        self._stops = {(host, number): Stop(*about) for host, number, *about in stops}
        self._given_up = dict(given_up)
        self._begins = {host: Begin(number, order, awaited, dict(contents)) for host, number, order, awaited, contents in begins}
        self.instances = {host: list(members) for host, members in instances}
        self.stopped, self.went_on = ({number: Noted(*one) for number, *one in found} for found in noted)
