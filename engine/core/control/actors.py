"""Actors, which exist once in a run: coordinators, masters, object stores (docs/event-core.md, section 12).

An actor is a host of its own. The loop returns at the end of a window in which an actor has something to do. An actor's messages take at
least the look-ahead, so they arrive after that window. The result is that of a sequential engine, however the run is cut.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from engine.core import layout as L
from engine.core.control import links
from engine.core.control.host_failure import is_down, lost_at_ns
from engine.core.kernels import transmission
from engine.core.kernels.messages import free_message, take_message
from engine.core.world import World


class Message(NamedTuple):
    """A control message. sender: an address (`Directory`). words: at most CONTROL_WORDS integers. parcel: attached content, which may be
    shorter or longer than the bytes that the model sends."""

    sender: int
    words: tuple[int, ...]
    size_bytes: int
    parcel: bytes = b""


@dataclass(frozen=True)
class ActorHost:
    """Host of an actor: its name and its egress link to all other hosts."""

    name: str
    egress_mbit_per_s: int = 1000
    egress_latency_ns: int = 500_000

    def __post_init__(self) -> None:
        for what, value, unit in (
            ("egress_mbit_per_s", self.egress_mbit_per_s, "Mbit/s"),
            ("egress_latency_ns", self.egress_latency_ns, "ns"),
        ):
            if value < 1:
                raise ValueError(f"{what} of actor '{self.name}' is {value}; it must be at least 1 {unit}")


@dataclass(frozen=True)
class Directory:
    """Addresses: instances first, in the run's order, then actors, then the processes of machines.

    instances: operator id, index, host index. actors: address by name. machines: address by host index. channels: sender and receiver.
    active: instances that are active when the run begins (`engine.core.control.active_instances`); None: all.
    """

    instances: tuple[tuple[str, int, int], ...]
    actors: dict[str, int]
    machines: tuple[int, ...] = ()
    channels: tuple[tuple[int, int], ...] = ()
    active: tuple[int, ...] | None = None


class Post(Protocol):
    """Interface through which actors and agents send control messages."""

    def send(self, to: int, words: Sequence[int], size_bytes: int, *, parcel: bytes = b"", after_ns: int = 0) -> None:
        """Send a message to an address: an actor or, from an actor or a process, the process of a machine; to an instance, from an actor,
        another instance, or the process of its machine. It takes the sender's egress link and the network, like any message.

        after_ns: delay until it is sent. Only actors and processes can delay messages; an instance's messages leave when its service ends.
        A process that sends to itself sets a reminder, which uses no network and does not keep a draining run going.
        """
        ...

    def ask(self, to: int, words: Sequence[int], size_bytes: int, *, parcel: bytes = b"") -> None:
        """Send a request whose answer goes to the process of the instance's machine (`Agent.serve` and `aligned` only)."""
        ...

    def send_barrier(self, number: int) -> None:
        """Send a barrier on all outbound channels of the instance, behind its earlier messages (`Agent.serve` only)."""
        ...


class Actor(Protocol):
    """A global part of the run on a host of its own. It learns only from messages.

    Handling a message takes no time by itself; an actor models time by delaying its answer. An actor's memory is part of the run's state:
    `state` returns it as JSON values and bytes.
    """

    host: ActorHost

    @property
    def next_ns(self) -> int:
        """Time at which its timer is due, later than now; `layout.FAR` for never. Timers alone do not keep a draining run going."""
        ...

    def start(self, directory: Directory) -> None:
        """Called once, before the run."""
        ...

    def wake(self, now_ns: int, post: Post) -> None:
        """Handle the timer. Must advance `next_ns`."""
        ...

    def receive(self, message: Message, now_ns: int, post: Post) -> None:
        """Handle a message that has arrived."""
        ...

    def state(self) -> Any: ...

    def restore(self, state: Any) -> None: ...


class Agent(Protocol):
    """Handles control messages in instances: the process around the operators.

    One object serves all instances, but each has a memory of its own: `serve` may read and write only the data of the instance and of
    others on its host, and the agent keeps its memory separately by instance.
    """

    def start(self, directory: Directory) -> None: ...

    def serve(self, world: World, instance: int, message: Message, now_ns: int, post: Post) -> int:
        """Begin the service of a control message. Returns its work in ps, in addition to the operator's price of a control element."""
        ...

    def aligned(self, world: World, instance: int, number: int, now_ns: int, post: Post) -> int:
        """Begin the service of barrier `number` from the last input channel. On all input channels, everything sent before the barrier has
        been served, and nothing sent after it. The barrier is forwarded when the service ends. Returns work in picoseconds, as `serve`."""
        ...

    def state(self) -> Any: ...

    def restore(self, state: Any) -> None: ...


@runtime_checkable
class Watcher(Protocol):
    """An actor that notices when a machine is gone."""

    def disconnected(self, host: int, now_ns: int, post: Post) -> None:
        """Handle a broken connection to a machine, which was lost one latency of its link earlier."""
        ...


@runtime_checkable
class Process(Protocol):
    """An agent that acts by itself, whatever its instances have in hand: the process around them, one per machine.

    It acts between instants and uses no processor time of the machine; it models time by delaying messages. Its memory about a machine is
    part of that machine's memory and lost with it.
    """

    def begin(self, host: int, post: Post) -> None:
        """Called once, before the run. The process may set a reminder."""
        ...

    def obey(self, world: World, host: int, message: Message, now_ns: int, post: Post) -> None:
        """Handle a message to the process. During a pause of the machine, messages wait."""
        ...

    def lost(self, host: int, now_ns: int) -> None:
        """The machine is lost, with the process's memory and delayed messages."""
        ...

    def started(self, world: World, host: int, now_ns: int, post: Post) -> None:
        """The machine is up again, and its instances are as at the start of the run."""
        ...


@runtime_checkable
class Forced(Protocol):
    """An agent whose instances may have to take a checkpoint before they serve a record (`engine.core.kernels.dependency_vectors`)."""

    def forced(self, world: World, instance: int, received_row: int, now_ns: int, post: Post) -> int:
        """Begin the service of a record before which a checkpoint must be taken. Row `received_row` of `vectors` is the record's vector.
        Returns work, as `Agent.serve`. Messages leave before the record's outputs."""
        ...


class _Errand(NamedTuple):
    """A message to the process of a machine, or one that it has delayed. Ordered by time, sender and its count, without ties."""

    time_ns: int
    sender: int
    serial: int
    host: int
    to: int
    words: tuple[int, ...]
    size_bytes: int
    parcel: bytes


class _PutOff(NamedTuple):
    """A message that an actor sends later. Ordered by time, then by when it was delayed."""

    time_ns: int
    serial: int
    to: int
    words: tuple[int, ...]
    size_bytes: int
    parcel: bytes


class Actors:
    """Runs the actors of a run, and answers the loop when an instance receives a control message."""

    def __init__(self, actors: Sequence[Actor], agent: Agent | None, directory: Directory, first_row: int):
        """first_row: row of the first actor in `host`."""
        self.actors, self.agent = list(actors), agent
        self._instances = len(directory.instances)
        self._agendas: list[list[_PutOff]] = [[] for _ in self.actors]
        self._sent = [0] * len(self.actors)  # messages, by actor
        self._serials = [0] * len(self.actors)
        self._first_machine = self._instances + len(self.actors)
        self._first_row = first_row
        of_actors = range(first_row, first_row + len(self.actors))
        self._host_of = [*(host for _, _, host in directory.instances), *of_actors, *range(len(directory.machines))]  # by address
        self._errands: list[_Errand] = []
        self._process_sent = [0] * len(directory.machines)
        self._down = np.zeros(len(directory.machines), bool)
        self._process: Process | None = agent if isinstance(agent, Process) else None
        self._forced: Forced | None = agent if isinstance(agent, Forced) else None
        self._watchers = [k for k, actor in enumerate(self.actors) if isinstance(actor, Watcher)]
        self.exchanged_bytes = [0] * len(self.actors)  # control messages, by actor: with machines and with the actors before it
        self._parcels: dict[int, bytes] = {}  # in flight
        self._parcel_counts: dict[int, int] = {}  # by sender
        for actor in self.actors:
            actor.start(directory)
        if agent is not None:
            agent.start(directory)

    def wind_up(self, world: World) -> None:
        """Before the run: set the due time of each actor."""
        for k in range(len(self.actors)):
            self._set_due(world, k)
        if self._process is not None:
            for h in range(len(self._process_sent)):
                self._process.begin(h, _ProcessPost(self, world, h, 0))

    def look(self, world: World) -> None:
        """Update the due times of all actors, since a control may have given one an order between two windows."""
        for k in range(len(self.actors)):
            self._set_due(world, k)

    @property
    def waiting(self) -> bool:
        """Whether an actor or process has a delayed message, or a message is in flight to a process. Reminders do not count."""
        return any(self._agendas) or any(errand.sender != errand.to for errand in self._errands)

    @property
    def next_ns(self) -> int:
        """Time at which the process of a machine next has something to do. The loop must stop then."""
        return self._errands[0].time_ns if self._errands else L.FAR

    def act(self, world: World) -> None:
        """Run everything due up to the end of the last window: actor by actor, each in order of time."""
        until_ns = int(world.arrays.g[L.G_WINDOW_END])
        for k, actor in enumerate(self.actors):
            if world.arrays.next_ns.item(self._first_row + k) > until_ns:
                continue
            while (due_ns := self._set_due(world, k)) <= until_ns:
                agenda = self._agendas[k]
                if agenda and agenda[0].time_ns == due_ns:
                    later = heapq.heappop(agenda)
                    if later.to < 0:
                        self.actors[k].disconnected(-1 - later.to, due_ns, _ActorPost(self, world, k, due_ns))  # type: ignore[attr-defined]
                    else:
                        self._dispatch(world, k, later.to, later.words, later.size_bytes, later.parcel, due_ns)
                elif actor.next_ns == due_ns:
                    actor.wake(due_ns, _ActorPost(self, world, k, due_ns))
                    if actor.next_ns <= due_ns:
                        raise ValueError(f"actor '{actor.host.name}' has left its timer at {actor.next_ns} ns, not after {due_ns} ns")
                else:
                    actor.receive(self._take(world, k), due_ns, _ActorPost(self, world, k, due_ns))

    def answer(self, world: World) -> None:
        """Let the agent serve the message that the loop handed to an instance: a control message, the last barrier, or a record that forces
        a checkpoint."""
        w = world.arrays
        i = int(w.g[L.G_NEED])
        slot = int(w.inst[i, L.I_QUEUE])
        h = int(w.inst[i, L.I_HOST])
        post = _AgentPost(self, world, i)
        extra_ps, rank = 0, int(w.inst[i, L.I_RANK])
        now_ns = int(w.host[h, L.H_RESUME])
        if self.agent is not None and w.msg[slot, L.M_KIND] == L.BARRIER:
            extra_ps = self.agent.aligned(world, i, int(w.msg[slot, L.M_EVENT]), now_ns, post)
        elif self._forced is not None and w.msg[slot, L.M_KIND] == L.RECORD:
            extra_ps = self._forced.forced(world, i, int(w.msg[slot, int(w.g[L.G_VECTOR])]), now_ns, post)
        elif self.agent is not None:
            extra_ps = self.agent.serve(world, i, self._read(world, slot), now_ns, post)
        w = world.arrays
        call = L.CALL_DONE_HOLD if w.inst[i, L.I_RANK] == L.FAR else L.CALL_DONE  # the loop must still choose it for this service
        w.inst[i, L.I_RANK] = rank
        w.host[h, L.H_CALL : L.H_ANSWER_PS + 1] = call, post.first, post.last, extra_ps

    def drop_lost_parcels(self, world: World) -> None:
        """Discard the parcels of lost messages and free their slots."""
        w = world.arrays
        slot = int(w.g[L.G_LOST])
        while slot >= 0:
            after = int(w.msg[slot, L.M_NEXT])
            self._parcels.pop(int(w.msg[slot, L.M_PAYLOAD + L.X_PARCEL]), None)
            free_message(w.free, w.g, slot)  # type: ignore[no-untyped-call]
            slot = after
        w.g[L.G_LOST] = -1

    # -- processes of machines ---------------------------------------------------------------------------------------------

    def notice(self, world: World, now_ns: int) -> None:
        """Notify the processes of machines that were lost or have restarted, and the watchers."""
        if self._process is None and not self._watchers:
            return
        w = world.arrays
        down = w.host[: len(self._down), L.H_BACK] > 0
        for h in np.flatnonzero(down != self._down).tolist():
            before, own = bool(self._down[h]), self._first_machine + h
            self._down[h] = not before
            # its delayed messages are lost with it; on a restart, so are the messages in flight to it
            self._errands = [errand for errand in self._errands if errand.host != h or (errand.to if before else errand.sender) != own]
            heapq.heapify(self._errands)
            if before and self._process is not None:
                self._process.started(world, h, now_ns, _ProcessPost(self, world, h, now_ns))
            elif not before:
                lost_ns = lost_at_ns(w, h)
                if self._process is not None:
                    self._process.lost(h, lost_ns)
                for k in self._watchers:
                    heard_ns = lost_ns + int(w.latency[h, self._first_row + k])
                    heapq.heappush(self._agendas[k], _PutOff(heard_ns, self._serials[k], -1 - h, (), 0, b""))
                    self._serials[k] += 1
                    self._set_due(world, k)

    def deliver(self, world: World, now_ns: int) -> None:
        """Run what is due for processes, after everything else at `now_ns`."""
        while self._errands and self._errands[0].time_ns <= now_ns:
            errand = heapq.heappop(self._errands)
            h = errand.host
            w = world.arrays
            if is_down(w, h) or w.memory[h, L.Z_DIED] >= 0 or self._process is None:
                continue
            paused_ns = int(w.host[h, L.H_PAUSED])
            if paused_ns > now_ns:
                heapq.heappush(self._errands, errand._replace(time_ns=paused_ns))
                continue
            post = _ProcessPost(self, world, h, now_ns)
            if errand.to == self._first_machine + h:
                message = Message(errand.sender, errand.words, errand.size_bytes, errand.parcel)
                self._process.obey(world, h, message, now_ns, post)
            else:
                post.send(errand.to, errand.words, errand.size_bytes, parcel=errand.parcel)

    def _put_off(self, world: World, h: int, to: int, words: Sequence[int], size_bytes: int, parcel: bytes, time_ns: int) -> None:
        own = self._first_machine + h
        heapq.heappush(self._errands, _Errand(time_ns, own, self._process_sent[h], h, to, tuple(words), size_bytes, parcel))
        self._process_sent[h] += 1

    def _send_from_machine(self, world: World, h: int, to: int, words: Sequence[int], size_bytes: int, parcel: bytes, now_ns: int) -> None:
        """Send a message of a process into the network, or hand it over to an instance of its machine, as urgent."""
        w = world.arrays
        if to >= self._first_machine:
            self._send_to_machine(world, h, to, words, size_bytes, parcel, now_ns)
            return
        here = to < self._instances and self._host_of[to] == h
        if not here and to < self._instances:
            raise ValueError(f"the process of machine {h} sends to {to}; it can send only to its own instances, actors and processes")
        own, fifo = self._first_machine + h, self._process_sent[h]
        self._process_sent[h] += 1
        slot = self._write(world, own, to, words, size_bytes, parcel)
        if not here:
            self._post(world, slot, h, to, own, fifo, now_ns)
            return
        while world.arrays.host[h, L.H_LOCAL_TAIL] - world.arrays.host[h, L.H_LOCAL] == world.arrays.rings.shape[1]:
            world.grow(L.NEED_RING)
        w = world.arrays
        w.msg[slot, [L.M_FIFO, L.M_TRIGGER]] = fifo, L.URGENT
        arrival_ns = now_ns + int(w.g[L.G_LOCAL_NS])
        transmission.hand_over(w, h, arrival_ns, own << 40 | fifo, slot)  # type: ignore[no-untyped-call]
        w.next_ns[h] = min(int(w.next_ns[h]), arrival_ns)

    def _send_to_machine(self, world: World, h: int, to: int, words: Sequence[int], size_bytes: int, parcel: bytes, now_ns: int) -> None:
        """Send a message of a process to that of another machine. For a link that is down it waits until that is up, and enters it then."""
        h2 = to - self._first_machine
        arrival_ns = links.send_beside(world, h, h2, size_bytes, now_ns)
        if arrival_ns == L.FAR:
            up_ns = links.up_ns(world.arrays, h, h2)
            if up_ns < L.FAR:
                self._put_off(world, h, to, words, size_bytes, parcel, up_ns)
            return
        assert arrival_ns > world.arrays.g.item(L.G_WINDOW_END), "a message would arrive in a past window"
        own = self._first_machine + h
        heapq.heappush(self._errands, _Errand(arrival_ns, own, self._process_sent[h], h2, to, tuple(words), size_bytes, parcel))
        self._process_sent[h] += 1

    # -- messages ---------------------------------------------------------------------------------------------------------

    def _set_due(self, world: World, k: int) -> int:
        """Set and return the time at which the actor next has something to do."""
        w = world.arrays
        h = self._first_row + k
        agenda, due_ns = self._agendas[k], self.actors[k].next_ns
        if agenda and agenda[0].time_ns < due_ns:
            due_ns = agenda[0].time_ns
        head = w.host.item(h, L.H_REMOTE)
        if head < w.host.item(h, L.H_REMOTE_SORTED):
            due_ns = min(due_ns, w.rings.item(2 * h + 1, head & (w.rings.shape[1] - 1), 0))
        w.next_ns[h] = due_ns
        return due_ns

    def _take(self, world: World, k: int) -> Message:
        """Take the first message of an actor's inbox and free its slot."""
        w = world.arrays
        h = self._first_row + k
        head = w.host.item(h, L.H_REMOTE)
        slot = w.rings.item(2 * h + 1, head & (w.rings.shape[1] - 1), 2)
        w.host[h, L.H_REMOTE] = head + 1
        message = self._read(world, slot)
        free_message(w.free, w.g, slot)  # type: ignore[no-untyped-call]
        return message

    def _read(self, world: World, slot: int) -> Message:
        row = world.arrays.msg[slot]
        sender, parcel, count, *words = row[L.M_PAYLOAD : L.M_PAYLOAD + L.X_COLUMNS].tolist()
        return Message(sender, tuple(words[:count]), row.item(L.M_BYTES), self._parcels.pop(parcel, b""))

    def _write(self, world: World, sender: int, to: int, words: Sequence[int], size_bytes: int, parcel: bytes) -> int:
        """Write a new message. Returns its slot."""
        if len(words) > L.CONTROL_WORDS:
            raise ValueError(f"a control message has {len(words)} words; at most {L.CONTROL_WORDS} fit, so put the rest into the parcel")
        if size_bytes < 1:
            raise ValueError(f"a control message has {size_bytes} bytes; it must have at least 1")
        if not 0 <= to < self._first_machine or to == sender:
            raise ValueError(f"a control message from {sender} goes to {to}; it must go to another instance or actor, by its address")
        number = -1
        if parcel:
            count = self._parcel_counts.get(sender, 0)
            self._parcel_counts[sender] = count + 1
            number = sender << 40 | count
            self._parcels[number] = parcel
        row = list(_BLANK)
        row[L.M_KIND], row[L.M_RECEIVER], row[L.M_BYTES] = L.CONTROL_MESSAGE, to, size_bytes
        row[L.M_PAYLOAD : L.M_PAYLOAD + L.X_WORDS + len(words)] = [sender, number, len(words), *words]
        slot = _new_message(world, row)
        self._count(sender, to, size_bytes)
        return slot

    def _count(self, sender: int, to: int, size_bytes: int) -> None:
        """Count a control message between an actor and another host."""
        here, there = self._host_of[sender], self._host_of[to]
        k = max(here, there) - self._first_row
        if here != there and k >= 0:
            self.exchanged_bytes[k] += size_bytes

    def _dispatch(self, world: World, k: int, to: int, words: Sequence[int], size_bytes: int, parcel: bytes, now_ns: int) -> None:
        """Send a message of an actor into the network."""
        sender = self._instances + k
        fifo = self._sent[k]
        self._sent[k] += 1
        if not self._first_machine <= to < self._first_machine + len(self._process_sent):
            self._post(world, self._write(world, sender, to, words, size_bytes, parcel), self._first_row + k, to, sender, fifo, now_ns)
            return
        if self._process is None:
            raise ValueError(f"a control message from {sender} goes to the process of a machine, but the run's agent is not a `Process`")
        w = world.arrays
        self._count(sender, to, size_bytes)
        h, h2 = self._first_row + k, to - self._first_machine
        host = w.host[h]
        departure_ns = max(host.item(L.H_LINK_FREE), now_ns) - (-size_bytes * 8000 // host.item(L.H_MBIT))
        host[L.H_LINK_FREE] = departure_ns
        host[L.H_SENT_BYTES] += size_bytes
        arrival_ns = departure_ns + w.latency.item(h, h2)
        assert arrival_ns > w.g.item(L.G_WINDOW_END), "an actor's message would arrive in a past window"
        heapq.heappush(self._errands, _Errand(arrival_ns, sender, fifo, h2, to, tuple(words), size_bytes, parcel))

    def _post(self, world: World, slot: int, h: int, to: int, sender: int, fifo: int, now_ns: int) -> None:
        """Send message `slot` from host `h` to an instance or an actor, between two windows."""
        w = world.arrays
        h2 = self._host_of[to]
        while w.host[h2, L.H_REMOTE_TAIL] - w.host[h2, L.H_REMOTE] == w.rings.shape[1]:
            world.grow(L.NEED_RING)
            w = world.arrays
        w.msg[slot, L.M_FIFO] = fifo
        transmission.post(w, slot, h, h2, sender, sender << 40 | fifo, now_ns)
        assert w.msg[slot, L.M_READY] > w.g[L.G_WINDOW_END], "a message would arrive in a past window"

    # -- state ---------------------------------------------------------------------------------------------------------------

    def state(self) -> Any:
        """State of actors, agent and messages in flight, as JSON values and bytes."""
        return {
            "actors": [actor.state() for actor in self.actors],
            "agent": None if self.agent is None else self.agent.state(),
            "agendas": [
                [[later.time_ns, later.serial, later.to, list(later.words), later.size_bytes, later.parcel] for later in sorted(agenda)]
                for agenda in self._agendas
            ],
            "sent": list(self._sent),
            "serials": list(self._serials),
            "errands": [[getattr(errand, name) for name in _ERRAND] for errand in sorted(self._errands)],
            "process_sent": list(self._process_sent),
            "down": self._down.tolist(),
            "parcels": [[number, self._parcels[number]] for number in sorted(self._parcels)],
            "parcel_counts": [list(item) for item in sorted(self._parcel_counts.items())],
            "exchanged_bytes": list(self.exchanged_bytes),
        }

    def restore(self, state: Any) -> None:
        for actor, held in zip(self.actors, state["actors"], strict=True):
            actor.restore(held)
        if self.agent is not None:
            self.agent.restore(state["agent"])
        self._agendas = [
            [_PutOff(time_ns, serial, to, tuple(words), size, parcel) for time_ns, serial, to, words, size, parcel in agenda]
            for agenda in state["agendas"]
        ]
        self._sent, self._serials = list(state["sent"]), list(state["serials"])
        self._errands = [
            _Errand(time_ns, sender, serial, host, to, tuple(words), size, parcel)
            for time_ns, sender, serial, host, to, words, size, parcel in state["errands"]
        ]
        self._process_sent, self._down = list(state["process_sent"]), np.array(state["down"], bool)
        self._parcels = dict(state["parcels"])
        self._parcel_counts = dict(state["parcel_counts"])
        self.exchanged_bytes = list(state["exchanged_bytes"])


_ERRAND = ("time_ns", "sender", "serial", "host", "to", "words", "size_bytes", "parcel")


class _ProcessPost:
    """The post of a machine's process at one moment."""

    def __init__(self, actors: Actors, world: World, host: int, now_ns: int):
        self._actors, self._world, self._host, self._now_ns = actors, world, host, now_ns

    def send(self, to: int, words: Sequence[int], size_bytes: int, *, parcel: bytes = b"", after_ns: int = 0) -> None:
        if after_ns > 0 or to == self._actors._first_machine + self._host:
            self._actors._put_off(self._world, self._host, to, words, size_bytes, parcel, self._now_ns + after_ns)
        else:
            self._actors._send_from_machine(self._world, self._host, to, words, size_bytes, parcel, self._now_ns)

    def ask(self, to: int, words: Sequence[int], size_bytes: int, *, parcel: bytes = b"") -> None:
        self.send(to, words, size_bytes, parcel=parcel)

    def send_barrier(self, number: int) -> None:
        raise ValueError(f"a process sends barrier {number}; only an instance can, while its agent serves a control message")


class _ActorPost:
    """The post of an actor at one moment."""

    def __init__(self, actors: Actors, world: World, k: int, now_ns: int):
        self._actors, self._world, self._k, self._now_ns = actors, world, k, now_ns

    def send(self, to: int, words: Sequence[int], size_bytes: int, *, parcel: bytes = b"", after_ns: int = 0) -> None:
        actors, k = self._actors, self._k
        if after_ns <= 0:
            actors._dispatch(self._world, k, to, words, size_bytes, parcel, self._now_ns)
            return
        later = _PutOff(self._now_ns + after_ns, actors._serials[k], to, tuple(words), size_bytes, parcel)
        actors._serials[k] += 1
        heapq.heappush(actors._agendas[k], later)

    def ask(self, to: int, words: Sequence[int], size_bytes: int, *, parcel: bytes = b"") -> None:
        self.send(to, words, size_bytes, parcel=parcel)

    def send_barrier(self, number: int) -> None:
        raise ValueError(f"an actor sends barrier {number}; only an instance can, while its agent serves a control message")


class _AgentPost:
    """The post of an instance that serves a control message. Messages leave when the service ends."""

    def __init__(self, actors: Actors, world: World, instance: int):
        self._actors, self._world, self._instance = actors, world, instance
        self.first = self.last = -1

    def send(self, to: int, words: Sequence[int], size_bytes: int, *, parcel: bytes = b"", after_ns: int = 0) -> None:
        if after_ns:
            raise ValueError(f"after_ns is {after_ns}; an instance's messages leave when its service ends, so it must be 0")
        self._add(self._actors._write(self._world, self._instance, to, words, size_bytes, parcel))

    def ask(self, to: int, words: Sequence[int], size_bytes: int, *, parcel: bytes = b"") -> None:
        slot = self._actors._write(self._world, self._instance, to, words, size_bytes, parcel)
        w = self._world.arrays
        w.msg[slot, L.M_PAYLOAD + L.X_SENDER] = self._actors._first_machine + self._actors._host_of[self._instance]
        self._add(slot)

    def send_barrier(self, number: int) -> None:
        row = list(_BLANK)
        row[L.M_KIND], row[L.M_EVENT], row[L.M_TRIGGER] = L.BARRIER, number, -1
        self._add(_new_message(self._world, row))

    def _add(self, slot: int) -> None:
        if self.first < 0:
            self.first = slot
        else:
            self._world.arrays.msg[self.last, L.M_NEXT] = slot
        self.last = slot


_BLANK = tuple(-1 if column in (L.M_NEXT, L.M_CHANNEL) else 0 for column in range(L.M_PAYLOAD + L.X_COLUMNS))
"""Initial row of a message that is in no channel and no list."""


def _new_message(world: World, row: list[int]) -> int:
    """Allocate a message with this start of its row. Returns its slot."""
    g = world.arrays.g
    if g[L.G_FREE] == 0:
        g[L.G_NEED] = 1
        world.grow(L.NEED_MESSAGES)
    w = world.arrays
    slot = int(take_message(w.free, w.g))  # type: ignore[no-untyped-call]
    w.msg[slot, : len(row)] = row
    return slot


def packed(value: Any) -> tuple[Any, list[bytes]]:
    """A state as JSON values, and its bytes objects, each replaced by {"$bytes": its number}."""
    contents: list[bytes] = []

    def visit(part: Any) -> Any:
        if isinstance(part, bytes):
            contents.append(part)
            return {"$bytes": len(contents) - 1}
        if isinstance(part, dict):
            return {key: visit(item) for key, item in part.items()}
        return [visit(item) for item in part] if isinstance(part, list | tuple) else part

    return visit(value), contents


def unpacked(value: Any, contents: Sequence[bytes]) -> Any:
    """The inverse of `packed`, except that tuples become lists."""
    if isinstance(value, dict):
        if value.keys() == {"$bytes"}:
            return contents[value["$bytes"]]
        return {key: unpacked(item, contents) for key, item in value.items()}
    return [unpacked(item, contents) for item in value] if isinstance(value, list) else value
