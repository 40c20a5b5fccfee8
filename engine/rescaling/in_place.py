"""Rescaling in place: stop only the operators that change and those that must stop for them (docs/autoscaling.md, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from engine.checkpointing import messages as M
from engine.checkpointing.history import Round
from engine.checkpointing.messages import TRIGGER
from engine.checkpointing.worker import BASE_BYTES, PIECE_BYTES, Captured, Costs, Upload
from engine.core import layout as L
from engine.core.control import keyed_state
from engine.core.control.active_instances import (
    active,
    hold,
    owners,
    rejoin_channels,
    release,
    retire_channels,
    set_barrier_scope,
    set_parallelism,
)
from engine.core.control.actors import Message, Post
from engine.core.control.instance_checkpoint import Checkpoint
from engine.core.control.keyed_state import KeyedState, tables_from_bytes, tables_to_bytes
from engine.core.control.ranks import set_held
from engine.core.layout import FAR
from engine.core.source_logs import BEGINNING, Place
from engine.core.tables import Words
from engine.core.world import World
from engine.services import object_store
from engine.spec.base.units import seconds_ns
from engine.spec.experiment.rescaling.in_place import InPlace

from .job import Job, Rescale, Start
from .messages import GO_ON, MOVE, MOVED, PREPARE, RELEASE, Mark, Restart, table
from .savepoint_assignment import OperatorSlots, Savepoint, Stored, fetches, groups_of, requests
from .setup import RescalingSetup
from .worker import RescalingWorker, Stop


def standing(operators: Sequence[OperatorSlots], changed: Collection[int]) -> set[int]:
    """Return the numbers of the operators that must stop while the parallelism of `changed` changes: these operators, their senders, and
    all operators between two of them, which would otherwise fill up and block their senders. If sources change, their receivers stop as
    well: instances of a source have different watermarks, and an instance that takes over partitions may already have sent a higher
    watermark than the former owner."""
    found = {o for o, laid in enumerate(operators) if o in changed or not set(changed).isdisjoint(laid.feeds)}
    from_sources = {id for laid in operators if laid.is_source for id in laid.together}
    for o in changed:
        if operators[o].id in from_sources:
            found |= set(operators[o].feeds)
    ahead, behind = set(found), set(found)
    for _ in operators:
        ahead |= {fed for o in ahead for fed in operators[o].feeds}
        behind |= {o for o, laid in enumerate(operators) if not behind.isdisjoint(laid.feeds)}
    return ahead & behind


class Plan(NamedTuple):
    """A planned rescale. number: of the round. parallelism: new parallelism by operator. still: numbers of the operators that stop."""

    number: int
    parallelism: list[int]
    still: list[int]

    def to_bytes(self) -> bytes:
        return tables_to_bytes([np.array(words, np.int64) for words in ([self.number], self.parallelism, self.still)])

    @classmethod
    def from_bytes(cls, content: bytes) -> Plan:
        (number,), parallelism, still = (words.tolist() for words in tables_from_bytes(content))
        return cls(number, parallelism, still)


class InPlaceJob(Job):
    """Job manager of in-place rescaling. It starts pods while the job runs. Then the affected operators stop behind a round of barriers,
    state moves, and they resume. In `times`, restart_ns is the duration of the switch."""

    kind = "in_place"

    def __init__(self, *about: Any):
        super().__init__(*about)
        self._pods = [0, 0]  # the order that pods are started for, and when they are ready
        self._plan: Plan | None = None  # of the last round
        self._moving: Savepoint | None = None
        none = {i: Mark(i, -FAR, -FAR, 0) for laid in self.operators for i in range(laid.first, laid.first + laid.most)}
        self._last = Savepoint(0, dict(self.parallelism), dict(self.parallelism), none, {i: Stored(0, 0, {}) for i in none}, {}, {})
        self._places: list[list[int]] = []  # positions of partitions in the last confirmed round: `Restart.floors`
        self._places_heard: list[list[int]] = []
        self._read_since: dict[int, int] = {}  # records read by sources that have stopped since then
        self._went_on: list[tuple[int, list[str]]] = []  # ends of rescales, and the operators that had stopped
        self._awaited: list[int] = []  # machines that still wait for state that moves to them

    # -- stopping ----------------------------------------------------------------------------------------------------------------

    def _begin_next(self, now_ns: int, post: Post) -> None:
        waiting = self.open
        if waiting is not None and waiting.waits and self._pods_ns(waiting, now_ns) > now_ns:
            self._look_ns = self._pods[1]
            return
        super()._begin_next(now_ns, post)

    def _pods_ns(self, action: Rescale, now_ns: int) -> int:
        """Return when the pods for an order are ready."""
        if self._pods[0] != action.number:
            more = any(p > self.parallelism[id] for id, p in action.after.items())
            self._pods = [action.number, now_ns + more * self.times.pod_start_ns]
        return self._pods[1]

    def call(self, opened: Round, verb: int, post: Post) -> None:
        """Start a round through the machines; the first one sets the scope of its barriers."""
        self._heard, self._places_heard = ([], []), []
        action = self.under_way
        wanted = self.parallelism if action is None else action.after
        parallelism = [wanted[laid.id] for laid in self.operators]
        still = set(range(len(self.operators)))
        if action is not None:
            still = standing(self.operators, [o for o, laid in enumerate(self.operators) if action.before[laid.id] != wanted[laid.id]])
        self._plan = Plan(opened.number, parallelism, sorted(still))
        size_bytes = M.MESSAGE_BYTES + M.ROW_BYTES * len(self.operators)
        for host in self.reporting:
            words = (PREPARE, opened.epoch, opened.number, verb)
            post.send(self.addresses[host], words, size_bytes, parcel=self._plan.to_bytes())

    @property
    def reporting(self) -> Sequence[int]:
        return self._hosts(self.parallelism)

    def _hosts(self, *parallelisms: dict[str, int]) -> list[int]:
        """Return the machines that host instances of the stopping operators in these arrangements."""
        assert self._plan is not None
        laid = [self.operators[o] for o in self._plan.still]
        return sorted({self.host_of[i] for parallelism in parallelisms for one in laid for i in one.active(parallelism, {})})

    def hear(self, message: Message, now_ns: int, post: Post) -> None:
        verb, epoch, number = message.words
        if verb != MOVED:
            super().hear(message, now_ns, post)
        elif epoch == self.epoch and self._moving is not None and number == self._moving.number:
            self._awaited.remove(self.host_at[message.sender])
            if not self._awaited:
                self._go_on(now_ns, post)

    def confirmed(self, last: Round, post: Post) -> None:
        seen = {mark.instance: mark for mark in sorted(self._heard[0])}
        stored = {i: Stored(0, 0, {}) for i in self.members}
        stored |= {row[M.INSTANCE]: Stored(row[M.BYTES], row[M.PIECES], {}) for row in sorted(last.taken)}
        for i, group, size_bytes in sorted(self._heard[1]):
            stored[i].groups[group] = size_bytes
        saved = Savepoint(last.number, dict(self.parallelism), dict(self.parallelism), seen, stored, {}, {})
        places = sorted(self._places_heard)
        self._heard, self._places_heard = ([], []), []
        read = {i: mark.read for i, mark in seen.items() if i in self._read}
        action = self.under_way
        assert self._plan is not None
        if not last.savepoint:
            super().confirmed(last, post)
            self._last, self._places = saved, places
            self._read |= self._read_since | read
            self._read_since = {}
            return
        assert action is not None
        captured_ns = [row[M.CAPTURED_NS] for row in last.taken]
        action.stopped_ns, action.drained_ns = min(captured_ns), max(captured_ns)
        action.stored_ns = action.changed_ns = last.ended_ns
        self._moving = saved._replace(after=action.after)
        self._read_since |= read
        sources = [self.operators[o] for o in self._plan.still if self.operators[o].is_source]
        known = self._read | self._read_since
        action.read = {laid.id: sum(known[i] for i in range(laid.first, laid.first + laid.most)) for laid in sources}
        action.state_bytes = action.moved_bytes = sum(fetch.bytes for fetch in fetches(self._moving, self.operators))
        assert action.moved_bytes == sum(sum(one.groups.values()) for one in stored.values()), "some group has no owner, or two"
        self._deadline_ns = FAR
        self._restart_ns = last.ended_ns + max(1, self.times.restart_ns)

    def heard(self, rows: Words, counters: list[Words]) -> None:
        super().heard(rows, counters)
        if counters:
            self._places_heard += counters[2].tolist()

    def _give_up(self, now_ns: int, why: str, post: Post) -> None:
        """Abort: all instances resume where they are, but nothing else starts before the last barrier has arrived."""
        last = self.rounds[-1]
        if self.under_way is None:  # the load has ended
            return
        last.failed = True
        self._abort(now_ns, why)
        for host in self.reporting:
            post.send(self.addresses[host], (RELEASE, last.epoch, last.number), M.MESSAGE_BYTES)

    # -- changing ----------------------------------------------------------------------------------------------------------------

    def _begin_anew(self, now_ns: int, post: Post) -> None:
        """Order the machines into the new arrangement and let them fetch the state that moves."""
        action, moving = self.under_way, self._moving
        assert action is not None
        assert moving is not None
        self._restart_ns = FAR
        action.arranged_ns = action.changed_ns = now_ns
        self._awaited = self._hosts(action.before, action.after)
        before, self.parallelism = self.machines, dict(action.after)
        self._take_over()
        self.machines = sorted({*before, *self.machines})
        if self.interval_ns < FAR:  # a rollback would restore the checkpoint of the previous arrangement, in parts
            self._saved = self._last._replace(after=self.parallelism)
        parallelism = [self.parallelism[laid.id] for laid in self.operators]
        for host in self._awaited:
            own = [fetch for fetch in fetches(moving, self.operators) if self.host_of[fetch.instance] == host]
            restart = Restart(parallelism, own, [], [], [], [])
            size_bytes = M.MESSAGE_BYTES + M.ROW_BYTES * (len(parallelism) + restart.rows)
            post.send(self.addresses[host], (MOVE, self.epoch, moving.number), size_bytes, parcel=restart.to_bytes())

    def _go_on(self, now_ns: int, post: Post) -> None:
        action, moving = self.under_way, self._moving
        assert action is not None
        assert moving is not None
        for host in self._hosts(action.before, action.after):
            post.send(self.addresses[host], (GO_ON, self.epoch, moving.number), M.MESSAGE_BYTES)
        post.send(self.store, (object_store.DELETE, 0, M.key(moving.number), M.key(moving.number + 1)), M.MESSAGE_BYTES)
        action.restored_ns = now_ns
        self._went_on.append((now_ns, self._stood()))
        action.end("done", now_ns)
        self._moving = None
        self._take_over()
        self._begin_next(now_ns, post)
        if self.interval_ns < FAR and now_ns < self.until_ns and not self.busy:  # to have a checkpoint of this arrangement soon
            self.begin_round(now_ns, TRIGGER, post)

    @property
    def starts(self) -> list[Start]:
        return sorted([*super().starts, *(Start(at_ns, frozenset(ids)) for at_ns, ids in self._went_on)], key=lambda start: start.go_ns)

    @property
    def standing(self) -> frozenset[str]:
        if self.under_way is None or self.recovering:
            return super().standing
        return frozenset(self._stood())

    def _stood(self) -> list[str]:
        """Return the operators that stop in the current rescale, including those connected to them by forward edges."""
        assert self._plan is not None
        return sorted({id for o in self._plan.still for id in self.operators[o].together})

    # -- losses --------------------------------------------------------------------------------------------------------------------

    def recover(self, hosts: Sequence[int], now_ns: int, post: Post) -> None:
        hosts = [host for host in hosts if host in self.machines]
        action = self.under_way
        if not hosts:
            return
        if action is not None and action.arranged_ns < 0:
            lost = ", ".join(self.names[host] for host in hosts)
            self._abort(now_ns, f"{lost} was lost before the rescale changed anything")
        self._restart_ns, self._moving, self._awaited, self._places_heard, self._read_since = FAR, None, [], [], {}
        super().recover(hosts, now_ns, post)

    def floors(self, saved: Savepoint) -> list[list[int]]:
        """Return the positions of partitions in the round to roll back to; without one, partitions restart from the beginning."""
        return self._places

    # -- state -----------------------------------------------------------------------------------------------------------------------

    def state(self) -> Any:
        moving, plan = self._moving, self._plan
        own = [list(self._pods), None if plan is None else plan.to_bytes(), None if moving is None else moving.state(), list(self._awaited)]
        own += [[[at_ns, list(ids)] for at_ns, ids in self._went_on]]
        own += [self._last.state(), self._places, self._places_heard, [list(item) for item in sorted(self._read_since.items())]]
        return {**super().state(), "in_place": own}

    def restore(self, state: Any) -> None:
        super().restore(state)
        pods, plan, moving, awaited, went_on, last, self._places, self._places_heard, read_since = state["in_place"]
        self._went_on = [(at_ns, list(ids)) for at_ns, ids in went_on]
        self._read_since = dict(read_since)
        self._last = Savepoint.from_state(last)
        self._pods, self._awaited = list(pods), list(awaited)
        self._plan = None if plan is None else Plan.from_bytes(plan)
        self._moving = None if moving is None else Savepoint.from_state(moving)


@dataclass
class Move:
    """State that a machine receives. awaited: number of outstanding replies of the store. contents: by old instance."""

    number: int
    order: bytes
    awaited: int = 0
    contents: dict[int, bytes] = field(default_factory=dict)

    @property
    def restart(self) -> Restart:
        return Restart.from_bytes(self.order)


class InPlaceWorker(RescalingWorker):
    """Worker of in-place rescaling. Stopped instances keep their state, except key groups that move elsewhere."""

    def __init__(self, costs: Costs, contents: bool):
        super().__init__(costs, contents)
        self._plan: Plan | None = None  # as set by the first machine that received it
        self._moves: dict[int, Move] = {}  # by machine
        self._held: dict[int, int] = {}  # by stopped instance: the round it stopped behind

    def obey(self, world: World, host: int, message: Message, now_ns: int, post: Post) -> None:
        verb, *words = message.words
        move = self._moves.get(host)
        if message.sender == self.store:
            if move is not None and words[0] == -move.number:
                self._fetched_part(world, host, message, move, post)
            else:
                super().obey(world, host, message, now_ns, post)
        elif verb not in (PREPARE, MOVE, GO_ON):
            super().obey(world, host, message, now_ns, post)
        elif words[0] >= self.machine(host).epoch:  # greater if it had no active instances and took no part in recoveries
            self.machine(host).epoch = words[0]
            if verb == PREPARE:
                self._prepare(world, host, message, now_ns, post)
            elif verb == MOVE:
                self._move(world, host, message, now_ns, post)
            else:
                self._get(world, host, now_ns)

    # -- stopping ------------------------------------------------------------------------------------------------------------------

    def _prepare(self, world: World, host: int, message: Message, now_ns: int, post: Post) -> None:
        _, epoch, number, verb = message.words
        if self._plan is None or self._plan.number != number:
            self._plan = Plan.from_bytes(message.parcel)
            set_barrier_scope(world, self._plan.still, number if verb == TRIGGER else -number, now_ns)
        for i in self.together(host, -1):
            if world.arrays.align[i, L.ALIGN_INPUTS] == 0:
                post.send(i, (verb, epoch, number), M.MESSAGE_BYTES)

    def together(self, host: int, instance: int) -> list[int]:
        """Return the host's instances that take part: the stopping ones in a rescale, all in a round."""
        assert self._plan is not None
        still = {self._operators[o] for o in self._plan.still}
        return [i for i in self.instances[host] if self._directory.instances[i][0] in still]

    def _stop(self, world: World, i: int, number: int, now_ns: int, post: Post, asked_ns: int) -> int:
        host, plan = self.host_of[i], self._plan
        assert plan is not None
        assert plan.number == number
        if number <= self._given_up.get(host, 0):
            self.refused(host, number, i, now_ns, post)
            return 0
        self._note_stop(world, i, number, now_ns)
        leaving = self._leaving(world, i, plan)
        self._note(world, i, number, leaving)
        size_bytes, content = BASE_BYTES, b""
        if leaving is not None:
            size_bytes, content = BASE_BYTES + leaving.state_bytes, leaving.to_bytes()
        self.upload(i, number, Upload(now_ns, size_bytes, content, asked_ns), post)
        self._hold(world, i, number)
        return self.costs.capture(size_bytes)

    def _note(self, world: World, i: int, number: int, state: KeyedState | None) -> None:
        """Record what is reported about an instance in addition to the row of its checkpoint."""
        w = world.arrays
        o, index = w.inst[i, [L.I_OP, L.I_INDEX]].tolist()
        stop = self._stops.setdefault((self.host_of[i], number), Stop())
        watermark_ns, newest_ns, again, read = w.inst[i, [L.I_WATERMARK, L.I_NEWEST_EVENT, L.I_AGAIN, L.I_IN]].tolist()
        stop.marks.append([i, watermark_ns, newest_ns, read - again])
        if state is not None:
            sizes = keyed_state.bytes_by_group(state, w, o)
            stop.groups += [[i, group, int(sizes[group])] for group in np.flatnonzero(sizes).tolist()]
        if w.inst[i, L.I_SOURCE]:
            id = self._operators[o]
            owned = zip(world.logs.owners[id].tolist(), world.logs.places(w, id), strict=True)
            stop.places += [[o, k, *place] for k, (owner, place) in enumerate(owned) if owner == index]

    def capture(self, world: World, i: int, number: int) -> Captured:
        """Capture a checkpoint in a round. A later rollback to it may happen in another arrangement, in which instances take parts of
        it."""
        found = super().capture(world, i, number)
        if self.contents:
            assert self._plan is not None
            self._note(world, i, self._plan.number, Checkpoint.from_bytes(found.content).state)
        return found

    def counters_of(self, host: int, number: int, rows: list[list[int]]) -> list[Words]:
        stop = self._stops.get((host, number))
        return [] if stop is None else [*super().counters_of(host, number, rows), table(stop.places, 5)]

    def _leaving(self, world: World, i: int, plan: Plan) -> KeyedState | None:
        """Return the state of instance `i` in key groups that move to other instances."""
        w = world.arrays
        o = int(w.inst[i, L.I_OP])
        keeping = world.keepings[o]
        if keeping is None or plan.parallelism[o] == w.op[o, L.O_PARALLEL]:
            return None
        groups = keyed_state.key_groups(w, o)[1]
        state = keyed_state.capture(world, keeping, i, 0, groups)
        assert (state.sizes > 0).all(), "what counts nothing would be left behind"
        stays = groups_of(int(w.inst[i, L.I_INDEX]), plan.parallelism[o], groups)
        return keyed_state.rest(state, w, o, stays.start, stays.stop)

    def _release(self, world: World, host: int, number: int, now_ns: int, post: Post) -> None:
        self._given_up[host] = number
        machine = self.machine(host)
        for name in [name for name in machine.uploads if name[0] == number]:
            del machine.uploads[name]
            self.refused(host, number, name[1], now_ns, post)
        self._stops.pop((host, number), None)
        self._let_go(world, host, number, now_ns)

    def _hold(self, world: World, i: int, number: int) -> None:
        self._held[i] = number
        hold(world, i)

    def _let_go(self, world: World, host: int, number: int, now_ns: int) -> None:
        """Resume the instances stopped behind this round; the machine may already know of the next round, or even take part in it."""
        for i in [i for i in self.instances[host] if self._held.get(i) == number]:
            del self._held[i]
            release(world, i, now_ns)

    # -- changing ------------------------------------------------------------------------------------------------------------------

    def _move(self, world: World, host: int, message: Message, now_ns: int, post: Post) -> None:
        """Rearrange, on the first machine that receives the order. Then each machine fetches the state that its instances receive."""
        move = self._moves[host] = Move(message.words[2], message.parcel)
        restart = move.restart
        if world.arrays.op[:, L.O_PARALLEL].tolist() != restart.parallelism:
            self._rearrange(world, restart.parallelism, now_ns)
        for fetch in restart.fetches:
            for piece, size_bytes in requests(fetch, PIECE_BYTES):
                post.send(self.store, (object_store.GET, -move.number, M.key(move.number, fetch.old, piece), size_bytes), M.MESSAGE_BYTES)
                move.awaited += 1
        if not move.awaited:
            self._has_all(host, move, post)

    def _rearrange(self, world: World, parallelism: list[int], now_ns: int) -> None:
        plan, w = self._plan, world.arrays
        assert plan is not None
        assert plan.parallelism == parallelism
        before = active(w)
        changed = np.flatnonzero(w.op[:, L.O_PARALLEL] != parallelism)
        places = {id: world.logs.places(w, id) for id in world.logs.owners if self._operators.index(id) in changed}
        for o in changed.tolist():
            own = w.inst[:, L.I_OP] == o
            old, new = np.flatnonzero(own & before), np.flatnonzero(own & (w.inst[:, L.I_INDEX] < parallelism[o]))
            for i in old.tolist():
                self._drop(world, i, o, parallelism[o])
            least = w.inst[old][:, [L.I_WATERMARK, L.I_NEWEST_EVENT]].min(axis=0)
            w.inst[new[:, None], [L.I_WATERMARK, L.I_NEWEST_EVENT]] = least
        set_parallelism(world, parallelism, changed.tolist(), plan.still)
        for id, floors in places.items():
            world.logs.assign(w, id, owners(len(floors), parallelism[self._operators.index(id)]), floors)
        now = active(w)
        goes_on = ~np.isin(w.edge[:, L.E_TARGET], plan.still)[w.chan[:, L.C_EDGE]]
        rejoin_channels(w, np.flatnonzero(goes_on & (now & ~before)[w.chan[:, L.C_SENDER]]))
        retire_channels(world, np.flatnonzero(goes_on & (before & ~now)[w.chan[:, L.C_SENDER]]), now_ns)
        w = world.arrays
        for i in np.flatnonzero(before & ~now).tolist():
            set_held(w, i, False)
            self._held.pop(i, None)
        for i in np.flatnonzero(now & ~before).tolist():  # a new pod
            w.inst[i, [L.I_COLD, L.I_UP]] = w.inst[i, L.I_IN], now_ns
            w.inst[i, L.I_INCARNATION] = max(
                int(w.inst[i, L.I_INCARNATION]), max(machine.epoch for machine in self.machines.values()) * L.EPOCH
            )
            if w.g[L.G_TRACING]:
                w.behind[i, L.B_IDLE] = now_ns
            self._hold(world, i, plan.number)
        self._take_over(w)

    def _arrange(self, world: World, restart: Restart, now_ns: int) -> None:
        """Rearrange in a recovery: restore the checkpoint in parts, and rewind sources to its positions."""
        if world.arrays.op[:, L.O_PARALLEL].tolist() != restart.parallelism:
            self._rearrange(world, restart.parallelism, now_ns)
        places: dict[str, list[Place]] = {id: [BEGINNING] * len(owner) for id, owner in world.logs.owners.items()}
        for o, partition, *place in restart.floors:
            places[self._operators[o]][partition] = Place(*place)
        for id, floors in places.items():
            world.logs.set_floors(id, floors)
        w = world.arrays
        for i, read in restart.reads:  # inactive instances, too, since their machine may not take part
            if not active(w)[i]:
                w.inst[i, L.I_AGAIN] = w.inst[i, L.I_IN] - read

    def _drop(self, world: World, i: int, o: int, parallelism: int) -> None:
        """Drop the state of instance `i` that moves to other instances."""
        keeping, w = world.keepings[o], world.arrays
        if keeping is None:
            assert w.inst[i, L.I_ENTRIES] == w.inst[i, L.I_STATE_BYTES] == 0, "state that cannot move would be lost"
            return
        groups = keyed_state.key_groups(w, o)[1]
        index = int(w.inst[i, L.I_INDEX])
        stays = groups_of(index, parallelism, groups) if index < parallelism else range(groups, groups)
        keyed_state.take(world, keeping, i, 0, stays.start)
        keyed_state.take(world, keeping, i, stays.stop, groups)
        w.inst[i, L.I_TICK] = FAR  # it is stopped
        if not len(stays):
            assert w.inst[i, L.I_ENTRIES] == w.inst[i, L.I_STATE_BYTES] == 0
            w.inst[i, L.I_PANE_END] = FAR

    def _fetched_part(self, world: World, host: int, message: Message, move: Move, post: Post) -> None:
        outcome, _, key = message.words
        if outcome != object_store.DONE:
            raise AssertionError(f"the store has lost {M.of_key(key)}, which was to move")
        if message.parcel:
            move.contents[M.of_key(key)[1]] = message.parcel
        move.awaited -= 1
        if not move.awaited:
            self._has_all(host, move, post)

    def _has_all(self, host: int, move: Move, post: Post) -> None:
        own: dict[int, int] = {}
        for fetch in move.restart.fetches:
            own[fetch.instance] = own.get(fetch.instance, 0) + fetch.bytes
        work_ns = max(own.values(), default=0) * self.costs.ps_per_byte // 1000
        post.send(self.coordinator, (MOVED, self.machine(host).epoch, move.number), M.MESSAGE_BYTES, after_ns=work_ns)

    def _get(self, world: World, host: int, now_ns: int) -> None:
        """Resume stopped instances: all machines have received the state that moves."""
        move = self._moves.pop(host, None)
        if move is None:  # it was lost, and has nothing to resume
            return
        still = {self._directory.instances[i][0] for i, number in self._held.items() if number == move.number}
        self._note_going_on(world, move.number, still, now_ns)
        world.arrays = world.logs.reload(world.arrays)
        for fetch in move.restart.fetches:
            w = world.arrays
            o = int(w.inst[fetch.instance, L.I_OP])
            keeping = world.keepings[o]
            assert keeping is not None
            part = keyed_state.part(KeyedState.from_bytes(move.contents[fetch.old]), w, o, fetch.first, fetch.end)
            assert part.state_bytes == fetch.bytes, "state is lost, or comes twice"
            keyed_state.put(world, keeping, fetch.instance, part)
        self._let_go(world, host, move.number, now_ns)

    def _go_on(self, world: World, host: int, now_ns: int) -> None:
        self._forget_held(host)
        super()._go_on(world, host, now_ns)

    def forget(self, host: int) -> None:
        super().forget(host)
        self._moves.pop(host, None)
        self._forget_held(host)

    def _forget_held(self, host: int) -> None:
        self._held = {i: number for i, number in self._held.items() if self.host_of[i] != host}

    # -- state -------------------------------------------------------------------------------------------------------------------

    def state(self) -> Any:
        moves = [
            [host, move.number, move.order, move.awaited, [list(item) for item in sorted(move.contents.items())]]
            for host, move in sorted(self._moves.items())
        ]
        held = [list(item) for item in sorted(self._held.items())]
        return [super().state(), None if self._plan is None else self._plan.to_bytes(), moves, held]

    def restore(self, state: Any) -> None:
        own, plan, moves, held = state
        super().restore(own)
        self._plan = None if plan is None else Plan.from_bytes(plan)
        self._moves = {host: Move(number, order, awaited, dict(contents)) for host, number, order, awaited, contents in moves}
        self._held = dict(held)


def setup(about: InPlace) -> RescalingSetup:
    return RescalingSetup(InPlaceJob, InPlaceWorker, seconds_ns(about.switch_s), ("regions",))
