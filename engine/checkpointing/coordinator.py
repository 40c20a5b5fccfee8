"""The coordinator: detects lost machines and rolls all instances back to a consistent line of checkpoints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from engine.core.control.actors import ActorHost, Directory, Message, Post
from engine.core.layout import FAR
from engine.core.tables import Words

from . import messages as M
from .chains import linked
from .history import DurableCheckpoint, GivenUp, Recovery, Round, Useless
from .messages import GO, HELLO, RECOVER, RESTORED
from .worker import Worker

COORDINATOR = 0
"""Its index among the actors of a run."""


@dataclass(frozen=True)
class Line:
    """rows: the checkpoints (`messages.TAKEN`) to roll back to; instances without one roll back to the initial state. replays: channel,
    first and end of the records its sender must replay. search_ns: time to find the line."""

    rows: list[list[int]]
    replays: list[list[int]] = field(default_factory=list)
    search_ns: int = 0


@dataclass(frozen=True)
class Settled:
    """What no recovery can need any more, since lines only move forward: checkpoints with lower numbers, by instance, and records with
    lower numbers, by channel."""

    checkpoints: list[int]
    records: Words


class Coordinator(ABC):
    """Base of coordinators. Protocols decide when checkpoints are taken, and which of them form the line.

    machines: indices of hosts with instances. In a recovery all of them roll back, including those that were not lost.
    """

    settled: Settled | None = None  # what the engine may discard
    independent: ClassVar[bool] = False  # whether instances take checkpoints independently, not in rounds
    chained: bool = False  # whether checkpoints build on earlier ones
    skipped_ns: Sequence[int] = ()  # when a round was due but could not start
    searches: Sequence[dict[str, Any]] = ()  # how the line of each recovery was found, if it was searched

    def __init__(self, host: ActorHost, detect_ns: int, machines: Sequence[int]):
        self.host = host
        self.detect_ns = detect_ns
        self.machines = list(machines)
        self.recoveries: list[Recovery] = []
        self.down: list[int] = []
        self._suspected: list[list[int]] = []  # when the suspicion is confirmed, host
        self._searching = False  # orders are pending until the last recovery's `found_ns`
        self._orders: dict[int, tuple[list[list[int]], list[list[int]]]] = {}  # rows and replays of the line, by host

    def start(self, directory: Directory) -> None:
        self.addresses, self.store = directory.machines, directory.actors["store"]
        self.host_at = {address: h for h, address in enumerate(directory.machines)}
        self.host_of = [host for _, _, host in directory.instances]
        self.members = range(len(self.host_of)) if directory.active is None else set(directory.active)
        self.senders = [sender for sender, _ in directory.channels]

    @property
    def epoch(self) -> int:
        return self.recoveries[-1].epoch if self.recoveries else 0

    @property
    def recovering(self) -> bool:
        return bool(self.recoveries) and self.recoveries[-1].open

    @property
    def apart(self) -> list[list[int]]:
        """Part of a recovery order, see `messages.order_to_bytes`."""
        return []

    # -- defined by protocols -----------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def due_ns(self) -> int:
        """When `act` is due next."""

    @abstractmethod
    def act(self, now_ns: int, post: Post) -> None:
        """Act when due."""

    @abstractmethod
    def hear(self, message: Message, now_ns: int, post: Post) -> None:
        """Handle a message that is not about recovery."""

    @abstractmethod
    def line(self, now_ns: int) -> Line:
        """Return the line to roll back to."""

    # -- timers -------------------------------------------------------------------------------------------------------------------

    @property
    def next_ns(self) -> int:
        found_ns = self.recoveries[-1].found_ns if self._searching else FAR
        return min(self.due_ns, found_ns, *(believed_ns for believed_ns, _ in self._suspected))

    def wake(self, now_ns: int, post: Post) -> None:
        believed = [host for believed_ns, host in self._suspected if believed_ns <= now_ns]
        if believed:
            self._suspected = [item for item in self._suspected if item[0] > now_ns]
            self.recover(believed, now_ns, post)
        if self._searching and self.recoveries[-1].found_ns <= now_ns:
            self._order_all(now_ns, post)
        if self.due_ns <= now_ns:
            self.act(now_ns, post)

    # -- recovery -----------------------------------------------------------------------------------------------------------------

    def disconnected(self, host: int, now_ns: int, post: Post) -> None:
        if host not in self.machines:
            return
        if host not in self.down:
            self.down.append(host)
        if self.recovering:
            self.recoveries[-1].restored.pop(host, None)
        if self.detect_ns:
            self._suspected.append([now_ns + self.detect_ns, host])
        else:
            self.recover([host], now_ns, post)

    def receive(self, message: Message, now_ns: int, post: Post) -> None:
        verb, *words = message.words
        if message.sender == self.store:
            return
        if verb == HELLO:
            self._welcome(self.host_at[message.sender], now_ns, post)
        elif verb == RESTORED:
            self._restored(self.host_at[message.sender], words[0], now_ns, post)
        else:
            self.hear(message, now_ns, post)

    def _welcome(self, host: int, now_ns: int, post: Post) -> None:
        """Handle the start of a machine: its state is lost, whether or not its loss was detected."""
        self.down = [other for other in self.down if other != host]
        self._suspected = [item for item in self._suspected if item[1] != host]
        if self.recovering:
            self.recoveries[-1].restored.pop(host, None)
            if not self._searching:  # otherwise together with all others
                self._order(host, now_ns, post)
        else:
            self.recover([host], now_ns, post)

    def recover(self, hosts: Sequence[int], now_ns: int, post: Post) -> None:
        """Start a recovery to the line that follows from the checkpoints known now, once it is found. A search in progress is finished
        first."""
        begins_ns = max(now_ns, self.recoveries[-1].found_ns if self.recoveries else 0)
        self.recoveries.append(Recovery(self.epoch + 1, now_ns, list(hosts)))
        line = self.line(now_ns)
        self.recoveries[-1].search_ns = begins_ns + line.search_ns - now_ns
        numbers = {row[M.INSTANCE]: row[M.NUMBER] for row in line.rows}
        self.recoveries[-1].line = [numbers.get(i, 0 if i in self.members else -1) for i in range(len(self.host_of))]
        self._orders = {host: ([], []) for host in self.machines}
        for row in linked(line.rows, self.stored_rows()):
            self._orders[self.host_of[row[M.INSTANCE]]][0].append(row)
        for found in line.replays:
            self._orders[self.host_of[self.senders[found[0]]]][1].append(found)
        self._searching = self.recoveries[-1].search_ns > 0
        if not self._searching:
            self._order_all(now_ns, post)

    def _order_all(self, now_ns: int, post: Post) -> None:
        self._searching = False
        for host in self.machines:
            if host not in self.down:
                self._order(host, now_ns, post)

    def _order(self, host: int, now_ns: int, post: Post) -> None:
        recovery = self.recoveries[-1]
        recovery.ordered[host] = now_ns
        rows, replays = self._orders[host]
        size_bytes = M.MESSAGE_BYTES + M.ROW_BYTES * (len(rows) + len(replays))
        post.send(self.addresses[host], (RECOVER, recovery.epoch), size_bytes, parcel=M.order_to_bytes(rows, replays, self.apart))

    def _restored(self, host: int, epoch: int, now_ns: int, post: Post) -> None:
        if not self.recovering or epoch != self.epoch or host in self.down:
            return
        recovery = self.recoveries[-1]
        recovery.restored[host] = now_ns
        if len(recovery.restored) == len(self.machines):
            recovery.go_ns = now_ns
            for other in self.machines:
                post.send(self.addresses[other], (GO, recovery.epoch), M.MESSAGE_BYTES)

    # -- for telemetry ----------------------------------------------------------------------------------------------

    def rounds_after(self, after_ns: int) -> list[Round]:
        """Return the rounds that were open after a time."""
        return []

    def stored_rows(self) -> Iterator[list[int]]:
        """Yield `messages.TAKEN` rows of all checkpoints that it has heard of."""
        for opened in self.rounds_after(-1):
            yield from opened.taken

    def durable_after(self, after_ns: int) -> Iterator[DurableCheckpoint]:
        """Yield at least the checkpoints it heard of after a time."""
        for opened in self.rounds_after(after_ns):
            for row in opened.taken:
                yield DurableCheckpoint.from_row(row, "coordinated", opened.done[self.host_of[row[M.INSTANCE]]])

    def given_up(self, first: Recovery) -> GivenUp:
        """Return what the first recovery discarded: nothing of complete rounds."""
        rounds = [one for one in self.rounds_after(-1) if one.ended == "confirmed" and one.ended_ns <= first.detected_ns]
        return GivenUp(sum(len(one.taken) for one in rounds), 0, 0.0, 0, 0.0)

    def useless(self, worker: Worker, processed: Words, cyclic: bool) -> Useless | None:
        """Return the checkpoints that can be on no consistent line, None if unknown.

        processed: (channels,) number of the last record processed on each. cyclic: whether the query has a cycle.
        """
        return None

    def frame_fields(self) -> dict[str, Any]:
        """Return additional JSON fields of each frame for this protocol."""
        return {}

    def round_fields(self, opened: Round) -> dict[str, Any]:
        """Return additional JSON fields of a round in frames for this protocol."""
        return {}

    # -- state --------------------------------------------------------------------------------------------------------------------

    def state(self) -> Any:
        recoveries = [
            asdict(r) | {"ordered": [list(item) for item in r.ordered.items()], "restored": [list(item) for item in r.restored.items()]}
            for r in self.recoveries
        ]
        orders = [[host, *order] for host, order in self._orders.items()]
        suspected = [list(item) for item in self._suspected]
        return {
            "recoveries": recoveries, "down": list(self.down), "suspected": suspected, "orders": orders, "searching": self._searching,
        }  # fmt: skip

    def restore(self, state: Any) -> None:
        self.recoveries = [Recovery(**{**r, "ordered": dict(r["ordered"]), "restored": dict(r["restored"])}) for r in state["recoveries"]]
        self.down, self._suspected, self._searching = state["down"], state["suspected"], state["searching"]
        self._orders = {host: (rows, replays) for host, rows, replays in state["orders"]}


def coordinator_of(actors: Sequence[Any]) -> Coordinator | None:
    """Return the coordinator of a run, if it has one."""
    return next((actor for actor in actors if isinstance(actor, Coordinator)), None)
