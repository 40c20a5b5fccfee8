"""Hands worksets over to other workers in the middle of a run, with their records (docs/similarity.md, "In the middle of a window").

A barrier separates the records before a move from those after it. A worker that gives or gets worksets stands still from the barrier on
until it has what it gets; its inputs keep what comes meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from engine.checkpointing.messages import MESSAGE_BYTES, ROW_BYTES
from engine.checkpointing.setup import COORDINATOR_HOST, ProtocolSetup, capture_costs
from engine.checkpointing.worker import BASE_BYTES, PIECE_BYTES, PIECES_AHEAD, Costs
from engine.core import layout as L
from engine.core.control import keyed_state
from engine.core.control.active_instances import hold, release, set_barrier_scope
from engine.core.control.actors import Directory, Message, Post
from engine.core.control.keyed_state import KeyedState, tables_from_bytes, tables_to_bytes
from engine.core.control.ranks import is_held
from engine.core.world import World
from engine.operators.pairs import JOIN_EXTRA
from engine.operators.workset_formulation import FORM_ROW_WORKER, WORKSETS_MAX
from engine.spec import Experiment
from engine.spec.base.units import seconds_ns
from engine.spec.experiment.balancings.base import Balancing

from .loads import Move
from .worksets import centroid_rows, places

SWITCH, ALIGNED, SHIP, PIECE, RECEIVED, READY, DONE, GO_ON = range(8)
"""(SWITCH, number) to a worker process, with an `Order`, and from it to the instances where the barrier starts. (ALIGNED, number, instance)
from an instance that has the barrier on all inputs. (SHIP, number) to the processes: send what leaves. (PIECE, number, giver, receiver,
left) from process to process: `left` pieces follow; (RECEIVED, number, giver, receiver) is the reply. (READY, number, receiver): the
process's own timer. (DONE, number, receiver, bytes) to the coordinator. (GO_ON, number) to the processes, if all instances have stopped."""


class Order(NamedTuple):
    """Moves between the instances of a join. number: of the hand-over. stops: 1 if all instances stop. formulation: number of the operator
    in front of the join. starts: numbers of the operators where the barrier starts. operators: of all that it passes. moves: (n, 3)
    workset, giver, receiver; instances."""

    number: int
    stops: int
    formulation: int
    starts: list[int]
    operators: list[int]
    moves: list[list[int]]

    def to_bytes(self) -> bytes:
        words = [self.number, self.stops, self.formulation], self.starts, self.operators
        return tables_to_bytes([*(np.array(part, np.int64) for part in words), np.array(self.moves, np.int64).reshape(-1, 3)])

    @classmethod
    def from_bytes(cls, content: bytes) -> Order:
        (number, stops, formulation), starts, operators, moves = (words.tolist() for words in tables_from_bytes(content))
        return cls(number, stops, formulation, starts, operators, moves)

    @property
    def routes(self) -> list[tuple[int, int]]:
        """Pairs of giver and receiver."""
        return sorted({(giver, receiver) for _, giver, receiver in self.moves})

    def worksets(self, giver: int, receiver: int) -> set[int]:
        return {workset for workset, *route in self.moves if route == [giver, receiver]}


@dataclass
class HandOver:
    """A hand-over and its progress. Times in ns, -1 until known. aligned: the last instance that gives or gets has the barrier. ended: all
    that get have their state, and no barrier is under way. bytes: of the state that moved."""

    number: int
    ordered_ns: int
    aligned_ns: int = -1
    ended_ns: int = -1
    bytes: int = 0


class Coordinator:
    """Runs one hand-over after the other. restart_ns: how long a restart takes, if the job stops for a hand-over; None: it goes on."""

    host = COORDINATOR_HOST

    def __init__(self, restart_ns: int | None) -> None:
        self.restart_ns = restart_ns
        self.all: list[HandOver] = []
        self.join = ""  # of the last hand-over
        self._order: Order | None = None
        self._awaited: set[int] = set()  # instances that must be aligned, then receivers
        self._unaligned: set[int] = set()  # others of the join: their barriers must have come before the next ones are sent
        self._wake_ns = L.FAR

    def start(self, directory: Directory) -> None:
        self._machines = directory.machines
        self._host_of = [host for _, _, host in directory.instances]
        self._numbers = list(dict.fromkeys(id for id, _, _ in directory.instances))
        self._operator_of = [self._numbers.index(id) for id, _, _ in directory.instances]

    @property
    def busy(self) -> bool:
        return self._order is not None

    def order(self, formulation: str, join: str, first: int, moves: Sequence[Move], sources: Sequence[str], now_ns: int) -> int:
        """Order moves of worksets between the instances of a join, the first of which is `first`. Returns the number of the hand-over. Call
        it between two windows, when no other is under way. sources: ids of the sources of the query."""
        assert self._order is None, "a hand-over is under way"
        number, self.join = len(self.all) + 1, join
        began: dict[int, int] = {}
        ends: dict[int, int] = {}
        for move in moves:
            began.setdefault(move.id, move.source)
            ends[move.id] = move.target
        net = [[id, first + began[id], first + ends[id]] for id in sorted(ends) if began[id] != ends[id]]
        self.all.append(HandOver(number, now_ns))
        if not net:
            self.all[-1].aligned_ns = self.all[-1].ended_ns = now_ns
            return number
        stops = self.restart_ns is not None
        starts, passes = (sources, self._numbers) if stops else ([formulation], [formulation, join])
        begin, through = (sorted(map(self._numbers.index, ids)) for ids in (starts, passes))
        self._order = Order(number, int(stops), self._numbers.index(formulation), begin, through, net)
        self._wake_ns = now_ns + 1
        return number

    @property
    def next_ns(self) -> int:
        return self._wake_ns

    def wake(self, now_ns: int, post: Post) -> None:
        order = self._order
        assert order is not None
        self._wake_ns = L.FAR
        self._awaited = {i for route in order.routes for i in route}
        self._unaligned = {i for i, o in enumerate(self._operator_of) if o not in order.starts and o in order.operators} - self._awaited
        if order.stops:
            self._awaited, self._unaligned = set(range(len(self._host_of))), set()
        size_bytes = MESSAGE_BYTES + ROW_BYTES * len(order.moves)
        for host in self._hosts(order):
            post.send(self._machines[host], (SWITCH, order.number), size_bytes, parcel=order.to_bytes())

    def _hosts(self, order: Order) -> list[int]:
        """The machines with instances that pass on the barrier."""
        return sorted({host for host, o in zip(self._host_of, self._operator_of, strict=True) if o in order.operators})

    def receive(self, message: Message, now_ns: int, post: Post) -> None:
        verb, number, i, *words = message.words
        order, about = self._order, self.all[-1]
        assert order is not None
        assert number == order.number
        if i in self._unaligned:
            self._unaligned.remove(i)
        else:
            self._awaited.remove(i)
        if verb == DONE:
            about.bytes += words[0]
        if self._awaited:
            return
        if about.aligned_ns < 0:
            about.aligned_ns = now_ns
            self._awaited = {receiver for _, receiver in order.routes}
            for host in self._hosts(order):
                post.send(self._machines[host], (SHIP, number), MESSAGE_BYTES, after_ns=self.restart_ns or 0)
            return
        if self._unaligned:
            return
        about.ended_ns = now_ns
        self._order = None
        if order.stops:
            for host in self._hosts(order):
                post.send(self._machines[host], (GO_ON, number), MESSAGE_BYTES)

    def state(self) -> Any:
        order = None if self._order is None else self._order.to_bytes()
        return [
            [list(vars(one).values()) for one in self.all],
            order,
            sorted(self._awaited),
            sorted(self._unaligned),
            self._wake_ns,
            self.join,
        ]

    def restore(self, state: Any) -> None:
        done, order, awaited, unaligned, self._wake_ns, self.join = state
        self.all = [HandOver(*one) for one in done]
        self._order = None if order is None else Order.from_bytes(order)
        self._awaited, self._unaligned = set(awaited), set(unaligned)


@dataclass
class Transfer:
    """State on its way. content: of the `KeyedState`. sent, received: pieces."""

    size_bytes: int
    content: bytes
    sent: int = 0
    received: int = 0

    @property
    def pieces(self) -> int:
        return -(-self.size_bytes // PIECE_BYTES)


@dataclass
class Machine:
    """State of the process of a machine during a hand-over. shipped: what leaves has been taken out. leaving: by giver and receiver. came:
    state by receiver and giver."""

    shipped: bool = False
    leaving: dict[tuple[int, int], Transfer] = field(default_factory=dict)
    came: dict[tuple[int, int], bytes] = field(default_factory=dict)


class Workers:
    """The processes of the machines."""

    def __init__(self, costs: Costs) -> None:
        self.costs = costs
        self._order: Order | None = None  # as set by the first machine that got it
        self._machines: dict[int, Machine] = {}

    def start(self, directory: Directory) -> None:
        self._coordinator, self._addresses = directory.actors[COORDINATOR_HOST.name], directory.machines
        self._host_of = [host for _, _, host in directory.instances]
        numbers = list(dict.fromkeys(id for id, _, _ in directory.instances))
        self._operator_of = [numbers.index(id) for id, _, _ in directory.instances]

    def begin(self, host: int, post: Post) -> None:
        """It has no timers of its own."""

    def lost(self, host: int, now_ns: int) -> None:
        """A host that dies for lack of memory takes along what it has; validation refuses others that are lost."""
        self._machines.pop(host, None)

    def started(self, world: World, host: int, now_ns: int, post: Post) -> None:
        """No host restarts: validation refuses that."""

    # -- behind the barrier ----------------------------------------------------------------------------------------------------------

    def serve(self, world: World, instance: int, message: Message, now_ns: int, post: Post) -> int:
        """Start the barrier."""
        _, number = message.words
        post.send_barrier(number)
        return self._pass(world, instance, number, post)

    def aligned(self, world: World, instance: int, number: int, now_ns: int, post: Post) -> int:
        return self._pass(world, instance, number, post)

    def _pass(self, world: World, i: int, number: int, post: Post) -> int:
        """Instance `i` has served all that it had got before the barrier. Returns the work in ps of what it gives away."""
        order = self._order
        assert order is not None
        assert number == order.number, "the barrier of an earlier hand-over was still under way"
        if self._operator_of[i] == order.formulation:
            self._switch(world, i, order)
        if not order.stops and self._operator_of[i] in order.starts:
            return 0  # it goes on, and nobody waits for it
        post.send(self._coordinator, (ALIGNED, number, i), MESSAGE_BYTES)
        if not order.stops and not any(i in route for route in order.routes):
            return 0
        hold(world, i)
        keys = {workset for workset, giver, _ in order.moves if giver == i}
        if not keys:
            return 0
        keeping = world.keepings[self._operator_of[i]]
        assert keeping is not None
        return self.costs.capture(BASE_BYTES + keyed_state.bytes_of_keys(world, keeping, i, keys))

    def _switch(self, world: World, i: int, order: Order) -> None:
        """From now on instance `i`, which forms worksets, sends the records of those that move to their new workers."""
        w = world.arrays
        targets = {workset: int(w.inst[receiver, L.I_INDEX]) for workset, _, receiver in order.moves}
        extra = int(w.par[keyed_state.parameters(w, i) + JOIN_EXTRA])
        for space, rows in centroid_rows(w, i):
            for number, row in enumerate(rows.tolist(), 1):
                if (workset := space * WORKSETS_MAX + number) in targets:
                    w.row[row, extra + FORM_ROW_WORKER] = targets[workset]

    # -- the state that moves ----------------------------------------------------------------------------------------------------------

    def obey(self, world: World, host: int, message: Message, now_ns: int, post: Post) -> None:
        verb, number, *words = message.words
        machine = self._machines.setdefault(host, Machine())
        if verb == SWITCH:
            self._prepare(world, host, message, now_ns, post)
        elif verb == SHIP:
            self._ship(world, host, machine, now_ns, post)
        elif verb == PIECE:
            giver, receiver, left = words
            post.send(self._addresses[self._host_of[giver]], (RECEIVED, number, giver, receiver), MESSAGE_BYTES)
            if left == 0:
                machine.came[receiver, giver] = message.parcel
                self._read_in(host, machine, receiver, post)
        elif verb == RECEIVED:
            giver, receiver = words
            transfer = machine.leaving[giver, receiver]
            transfer.received += 1
            self._send_piece(machine, giver, receiver, post)
            if transfer.received == transfer.pieces:
                del machine.leaving[giver, receiver]
        elif verb == READY:
            self._put(world, host, machine, words[0], now_ns, post)
        else:
            for i in self._held(world, host):
                release(world, i, now_ns)

    def _prepare(self, world: World, host: int, message: Message, now_ns: int, post: Post) -> None:
        number = message.words[1]
        if self._order is None or self._order.number != number:
            self._order = Order.from_bytes(message.parcel)
            set_barrier_scope(world, self._order.operators, number, now_ns)
        self._machines[host] = Machine()
        for i in self._here(host):
            if self._operator_of[i] in self._order.starts:
                post.send(i, (SWITCH, number), MESSAGE_BYTES)

    def _here(self, host: int) -> list[int]:
        return [i for i, own in enumerate(self._host_of) if own == host]

    def _held(self, world: World, host: int) -> Iterator[int]:
        return (i for i in self._here(host) if is_held(world.arrays, i))

    def _ship(self, world: World, host: int, machine: Machine, now_ns: int, post: Post) -> None:
        """All that must be are aligned: take out what leaves, and start to send it. Givers that get nothing go on."""
        order = self._order
        assert order is not None
        for giver, receiver in order.routes:
            if self._host_of[giver] != host:
                continue
            keeping = world.keepings[self._operator_of[giver]]
            assert keeping is not None
            state = keyed_state.take_keys(world, keeping, giver, order.worksets(giver, receiver))
            if self._host_of[receiver] == host:
                machine.came[receiver, giver] = state.to_bytes()
            else:
                machine.leaving[giver, receiver] = Transfer(BASE_BYTES + state.state_bytes, state.to_bytes())
        for giver, receiver in list(machine.leaving):
            for _ in range(PIECES_AHEAD):
                self._send_piece(machine, giver, receiver, post)
        machine.shipped = True
        receivers = sorted({receiver for _, receiver in order.routes})
        for receiver in receivers:
            if self._host_of[receiver] == host:
                self._read_in(host, machine, receiver, post)
        for i in [] if order.stops else list(self._held(world, host)):
            if i not in receivers:
                release(world, i, now_ns)

    def _send_piece(self, machine: Machine, giver: int, receiver: int, post: Post) -> None:
        """Send the next piece, if one is left. The last one has the content, since parts are of no use."""
        transfer = machine.leaving[giver, receiver]
        if transfer.sent == transfer.pieces:
            return
        size_bytes = min(PIECE_BYTES, transfer.size_bytes - transfer.sent * PIECE_BYTES)
        transfer.sent += 1
        left = transfer.pieces - transfer.sent
        words = (PIECE, self._number, giver, receiver, left)
        post.send(self._addresses[self._host_of[receiver]], words, size_bytes, parcel=b"" if left else transfer.content)

    @property
    def _number(self) -> int:
        assert self._order is not None
        return self._order.number

    def _read_in(self, host: int, machine: Machine, receiver: int, post: Post) -> None:
        """Read what has come for a receiver, if that is all and its own part has left. Reading takes time."""
        order = self._order
        assert order is not None
        givers = [giver for giver, to in order.routes if to == receiver]
        if machine.shipped and all((receiver, giver) in machine.came for giver in givers):
            size_bytes = sum(KeyedState.from_bytes(machine.came[receiver, giver]).state_bytes for giver in givers)
            work_ns = size_bytes * self.costs.ps_per_byte // 1000
            post.send(self._addresses[host], (READY, order.number, receiver), 0, after_ns=max(work_ns, 1))

    def _put(self, world: World, host: int, machine: Machine, receiver: int, now_ns: int, post: Post) -> None:
        order = self._order
        assert order is not None
        keeping = world.keepings[self._operator_of[receiver]]
        assert keeping is not None
        moved_bytes = 0
        for to, giver in sorted(machine.came):
            if to == receiver:
                state = KeyedState.from_bytes(machine.came.pop((to, giver)))
                moved_bytes += state.state_bytes
                keyed_state.put(world, keeping, receiver, state)
        if not order.stops:
            release(world, receiver, now_ns)
        post.send(self._coordinator, (DONE, order.number, receiver, moved_bytes), MESSAGE_BYTES)

    # -- state ---------------------------------------------------------------------------------------------------------------------------

    def state(self) -> Any:
        machines = [
            [
                host, machine.shipped,
                [[*route, *vars(transfer).values()] for route, transfer in sorted(machine.leaving.items())],
                [[*route, content] for route, content in sorted(machine.came.items())],
            ]
            for host, machine in sorted(self._machines.items())
        ]  # fmt: skip
        return [None if self._order is None else self._order.to_bytes(), machines]

    def restore(self, state: Any) -> None:
        order, machines = state
        self._order = None if order is None else Order.from_bytes(order)
        self._machines = {
            host: Machine(
                shipped,
                {(giver, receiver): Transfer(*about) for giver, receiver, *about in leaving},
                {(receiver, giver): content for receiver, giver, content in came},
            )
            for host, shipped, leaving, came in machines
        }


def build_protocol(experiment: Experiment) -> ProtocolSetup | None:
    """The setup of a run whose worksets move with their records; None for any other."""
    about = experiment.policies.balancing
    if not isinstance(about, Balancing) or about.mechanism == "next_window" or not any(places(experiment)):
        return None
    restart_ns = seconds_ns(about.restart_s) if about.mechanism == "stop_restart" else None
    costs = capture_costs(about.capture_ms, about.serialise_mb_per_s)
    return ProtocolSetup((Coordinator(restart_ns),), Workers(costs), ("regions",))
