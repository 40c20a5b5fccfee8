"""What exists once in a run: coordinators, masters, object stores (docs/event-core.md, section 12).

An actor is a host of its own. The loop returns at the end of a window in which an actor has something to do; what it sends takes at least
the look-ahead, so it lands behind that window, and the result is that of a sequential engine, however the run is cut.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from . import layout as L
from . import transmission
from .tools import free_message, take_message
from .world import World


class Message(NamedTuple):
    """A control message. sender: an address (`Directory`). words: at most CONTROL_WORDS whole numbers. parcel: content that goes with it,
    which may be shorter or longer than the bytes that the model sends."""

    sender: int
    words: tuple[int, ...]
    size_bytes: int
    parcel: bytes = b""


@dataclass(frozen=True)
class ActorHost:
    """Where an actor stands: its name, and its egress link to everybody else."""

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
    """Who has which address: instances come first, in the run's order, then actors.

    instances: operator id, index, host index. actors: address by name.
    """

    instances: tuple[tuple[str, int, int], ...]
    actors: dict[str, int]


class Post(Protocol):
    """How actors and agents send control messages."""

    def send(self, to: int, words: Sequence[int], size_bytes: int, *, parcel: bytes = b"", after_ns: int = 0) -> None:
        """Send a message to an address. It takes the sender's egress link and the network, like any message.

        after_ns: from now until it is sent; only actors can put off (an agent's messages leave when its instance's service ends).
        """
        ...

    def send_barrier(self, number: int) -> None:
        """Send a barrier on all channels that leave the instance, behind all that it has sent (`Agent.serve` only)."""
        ...


class Actor(Protocol):
    """Something global, on a host of its own. It knows what it is told by messages, nothing else.

    Handling takes no time of itself: what takes time puts its answer off. What an actor remembers is state of the run: `state` gives it as
    JSON values and bytes.
    """

    host: ActorHost

    @property
    def next_ns(self) -> int:
        """When its timer is due, later than now; `layout.FAR` for never. Timers alone do not keep a draining run going."""
        ...

    def start(self, directory: Directory) -> None:
        """Called once, before the run."""
        ...

    def wake(self, now_ns: int, post: Post) -> None:
        """Its timer is due; must move `next_ns` on."""
        ...

    def receive(self, message: Message, now_ns: int, post: Post) -> None:
        """A message has arrived."""
        ...

    def state(self) -> Any: ...

    def restore(self, state: Any) -> None: ...


class Agent(Protocol):
    """What instances do with control messages: the process around the operators.

    It is one object, but an instance has only its own: `serve` may read and write what belongs to it (and to others on its host), and what
    the agent remembers is kept apart by instance.
    """

    def start(self, directory: Directory) -> None: ...

    def serve(self, world: World, instance: int, message: Message, now_ns: int, post: Post) -> int:
        """The service of a control message begins. Returns its work in picoseconds, beyond the operator's price of a control element."""
        ...

    def aligned(self, world: World, instance: int, number: int, now_ns: int, post: Post) -> int:
        """The service of the barrier of this number begins that comes by the last input channel: what was sent before it on all of them
        has been served, and nothing that was sent behind it. It goes on when the service ends. Returns work in picoseconds, as `serve`."""
        ...

    def state(self) -> Any: ...

    def restore(self, state: Any) -> None: ...


@dataclass(order=True)
class _PutOff:
    """A message that an actor sends later; ordered by time, then by when it was put off."""

    time_ns: int
    serial: int
    to: int
    words: tuple[int, ...]
    size_bytes: int
    parcel: bytes


class Actors:
    """Runs the actors of a run, and answers the loop when an instance is handed a control message."""

    def __init__(self, actors: Sequence[Actor], agent: Agent | None, directory: Directory):
        self.actors, self.agent = list(actors), agent
        self._instances = len(directory.instances)
        self._agendas: list[list[_PutOff]] = [[] for _ in self.actors]
        self._sent = [0] * len(self.actors)  # messages, by actor
        self._serials = [0] * len(self.actors)
        self._parcels: dict[int, bytes] = {}  # under way
        self._parcel_counts: dict[int, int] = {}  # by sender
        for actor in self.actors:
            actor.start(directory)
        if agent is not None:
            agent.start(directory)

    def wind_up(self, world: World) -> None:
        """Before the run: set when each actor is due."""
        for k in range(len(self.actors)):
            self._set_due(world, k)

    @property
    def waiting(self) -> bool:
        """An actor has put something off."""
        return any(self._agendas)

    def act(self, world: World) -> None:
        """Do what is due up to the end of the last window, each actor for itself, in the order of time."""
        until_ns = int(world.arrays.g[L.G_WINDOW_END])
        for k, actor in enumerate(self.actors):
            while True:
                due_ns = self._set_due(world, k)
                if due_ns > until_ns:
                    break
                agenda = self._agendas[k]
                if agenda and agenda[0].time_ns == due_ns:
                    later = heapq.heappop(agenda)
                    self._dispatch(world, k, later.to, later.words, later.size_bytes, later.parcel, due_ns)
                elif actor.next_ns == due_ns:
                    actor.wake(due_ns, _ActorPost(self, world, k, due_ns))
                    if actor.next_ns <= due_ns:
                        raise ValueError(f"actor '{actor.host.name}' has left its timer at {actor.next_ns} ns, not after {due_ns} ns")
                else:
                    actor.receive(self._take(world, k), due_ns, _ActorPost(self, world, k, due_ns))

    def answer(self, world: World) -> None:
        """The loop has handed a control message to an instance, or the last barrier: let the agent serve it."""
        w = world.arrays
        i = int(w.g[L.G_NEED])
        slot = int(w.inst[i, L.I_QUEUE])
        h = int(w.inst[i, L.I_HOST])
        post = _AgentPost(self, world, i)
        extra_ps = 0
        now_ns = int(w.host[h, L.H_RESUME])
        if self.agent is not None and w.msg[slot, L.M_KIND] == L.BARRIER:
            extra_ps = self.agent.aligned(world, i, int(w.msg[slot, L.M_EVENT]), now_ns, post)
        elif self.agent is not None:
            extra_ps = self.agent.serve(world, i, self._read(world, slot), now_ns, post)
        answer = [L.H_ANSWERED, L.H_ANSWER, L.H_ANSWER_LAST, L.H_ANSWER_PS]
        world.arrays.host[h, answer] = 1, post.first, post.last, extra_ps

    def bury(self, world: World) -> None:
        """Forget the parcels of lost messages; their places are free again."""
        w = world.arrays
        slot = int(w.g[L.G_LOST])
        while slot >= 0:
            after = int(w.msg[slot, L.M_NEXT])
            self._parcels.pop(int(w.msg[slot, L.M_PAYLOAD + L.X_PARCEL]), None)
            free_message(w.free, w.g, slot)  # type: ignore[no-untyped-call]
            slot = after
        w.g[L.G_LOST] = -1

    # -- messages ---------------------------------------------------------------------------------------------------------

    def _set_due(self, world: World, k: int) -> int:
        """When the actor has something to do."""
        w = world.arrays
        h = int(w.g[L.G_ACTORS]) + k
        due_ns = min([self.actors[k].next_ns, *(later.time_ns for later in self._agendas[k][:1])])
        head = int(w.host[h, L.H_REMOTE])
        if head < w.host[h, L.H_REMOTE_SORTED]:
            due_ns = min(due_ns, int(w.rings[2 * h + 1, head & (w.rings.shape[1] - 1), 0]))
        w.next_ns[h] = due_ns
        return due_ns

    def _take(self, world: World, k: int) -> Message:
        """The first message of an actor's inbox; its place is free again."""
        w = world.arrays
        h = int(w.g[L.G_ACTORS]) + k
        slot = int(w.rings[2 * h + 1, int(w.host[h, L.H_REMOTE]) & (w.rings.shape[1] - 1), 2])
        w.host[h, L.H_REMOTE] += 1
        message = self._read(world, slot)
        free_message(w.free, w.g, slot)  # type: ignore[no-untyped-call]
        return message

    def _read(self, world: World, slot: int) -> Message:
        row = world.arrays.msg[slot]
        sender, parcel, count, *words = row[L.M_PAYLOAD : L.M_PAYLOAD + L.X_COLUMNS].tolist()
        return Message(sender, tuple(words[:count]), int(row[L.M_BYTES]), self._parcels.pop(parcel, b""))

    def _write(self, world: World, sender: int, to: int, words: Sequence[int], size_bytes: int, parcel: bytes) -> int:
        """A new message; returns its place."""
        if len(words) > L.CONTROL_WORDS:
            raise ValueError(f"a control message has {len(words)} words; at most {L.CONTROL_WORDS} fit, the rest belongs into a parcel")
        if size_bytes < 1:
            raise ValueError(f"a control message has {size_bytes} bytes; it must have at least 1")
        if not 0 <= to < self._instances + len(self.actors) or to == sender:
            raise ValueError(f"a control message from {sender} goes to {to}; it must go to another instance or actor, by its address")
        slot = _new_message(world)
        w = world.arrays
        number = -1
        if parcel:
            count = self._parcel_counts.get(sender, 0)
            self._parcel_counts[sender] = count + 1
            number = sender << 40 | count
            self._parcels[number] = parcel
        row = w.msg[slot]
        row[L.M_KIND] = L.CONTROL_MESSAGE
        row[L.M_RECEIVER], row[L.M_BYTES] = to, size_bytes
        row[L.M_PAYLOAD : L.M_PAYLOAD + L.X_WORDS] = sender, number, len(words)
        row[L.M_PAYLOAD + L.X_WORDS : L.M_PAYLOAD + L.X_WORDS + len(words)] = words
        return slot

    def _dispatch(self, world: World, k: int, to: int, words: Sequence[int], size_bytes: int, parcel: bytes, now_ns: int) -> None:
        """A message of an actor enters the network."""
        slot = self._write(world, self._instances + k, to, words, size_bytes, parcel)
        w = world.arrays
        h = int(w.g[L.G_ACTORS]) + k
        h2 = int(w.inst[to, L.I_HOST]) if to < self._instances else int(w.g[L.G_ACTORS]) + to - self._instances
        while w.host[h2, L.H_REMOTE_TAIL] - w.host[h2, L.H_REMOTE] == w.rings.shape[1]:
            world.grow(L.NEED_RING)
            w = world.arrays
        fifo = self._sent[k]
        self._sent[k] += 1
        w.msg[slot, L.M_FIFO] = fifo
        sender = self._instances + k
        transmission.post(w, slot, h, h2, sender, sender << 40 | fifo, now_ns)
        assert w.msg[slot, L.M_READY] > w.g[L.G_WINDOW_END], "an actor's message would arrive in a window that is over"

    # -- state ---------------------------------------------------------------------------------------------------------------

    def state(self) -> Any:
        """All that actors, agent and messages under way hold, as JSON values and bytes."""
        return {
            "actors": [actor.state() for actor in self.actors],
            "agent": None if self.agent is None else self.agent.state(),
            "agendas": [
                [[later.time_ns, later.serial, later.to, list(later.words), later.size_bytes, later.parcel] for later in sorted(agenda)]
                for agenda in self._agendas
            ],
            "sent": list(self._sent),
            "serials": list(self._serials),
            "parcels": [[number, self._parcels[number]] for number in sorted(self._parcels)],
            "parcel_counts": [list(item) for item in sorted(self._parcel_counts.items())],
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
        self._parcels = dict(state["parcels"])
        self._parcel_counts = dict(state["parcel_counts"])


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

    def send_barrier(self, number: int) -> None:
        raise ValueError(f"an actor sends barrier {number}; only an instance can, while its agent serves a control message")


class _AgentPost:
    """The post of an instance that serves a control message: what is sent leaves when the service ends."""

    def __init__(self, actors: Actors, world: World, instance: int):
        self._actors, self._world, self._instance = actors, world, instance
        self.first = self.last = -1

    def send(self, to: int, words: Sequence[int], size_bytes: int, *, parcel: bytes = b"", after_ns: int = 0) -> None:
        if after_ns:
            raise ValueError(f"after_ns is {after_ns}; an instance's messages leave when its service ends, so it must be 0")
        self._add(self._actors._write(self._world, self._instance, to, words, size_bytes, parcel))

    def send_barrier(self, number: int) -> None:
        slot = _new_message(self._world)
        self._world.arrays.msg[slot, [L.M_KIND, L.M_EVENT, L.M_TRIGGER]] = L.BARRIER, number, -1
        self._add(slot)

    def _add(self, slot: int) -> None:
        if self.first < 0:
            self.first = slot
        else:
            self._world.arrays.msg[self.last, L.M_NEXT] = slot
        self.last = slot


def _new_message(world: World) -> int:
    """A message in no channel and no list, of which nothing is said yet; its place."""
    g = world.arrays.g
    if g[L.G_FREE] == 0:
        g[L.G_NEED] = 1
        world.grow(L.NEED_MESSAGES)
    w = world.arrays
    slot = int(take_message(w.free, w.g))  # type: ignore[no-untyped-call]
    w.msg[slot, : L.M_PAYLOAD + L.X_COLUMNS] = 0
    w.msg[slot, [L.M_NEXT, L.M_CHANNEL]] = -1
    return slot


def packed(value: Any) -> tuple[Any, list[bytes]]:
    """A state as JSON values, and the bytes in it: each stands as {"$bytes": its number}."""
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
    """The inverse of `packed`; tuples have become lists."""
    if isinstance(value, dict):
        if value.keys() == {"$bytes"}:
            return contents[value["$bytes"]]
        return {key: unpacked(item, contents) for key, item in value.items()}
    return [unpacked(item, contents) for item in value] if isinstance(value, list) else value
