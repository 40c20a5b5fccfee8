"""The job manager: rescales by stopping the job with a savepoint and restarting it (docs/autoscaling.md, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from engine.checkpointing import messages as M
from engine.checkpointing.coordinated import CoordinatedRounds
from engine.checkpointing.coordinator import Line
from engine.checkpointing.history import Round
from engine.core.control.actors import ActorHost, Directory, Message, Post
from engine.core.layout import FAR
from engine.core.tables import Words

from .messages import RELEASE, RESCALE, STOP, Mark, Restart
from .savepoint_assignment import OperatorSlots, Savepoint, Stored, fetches, marks


@dataclass
class Rescale:
    """A rescale order and its progress. Times in ns, -1 until known.

    who: policy or document. begun: the sources are ordered to stop. stopped: the first source has stopped. drained: the last instance has
    stopped, with no records in flight. stored: its checkpoint is in the store. arranged: all machines are ordered to restart. restored:
    they have fetched their state. ended: all have resumed, or the order was aborted. before, after: parallelism by operator. begins_before,
    begins_after: index of the first active instance of operators that move. state_bytes: size of the state in the savepoint; moved_bytes:
    the part that another instance owns afterwards. read: records that each source had read when it stopped. outcome: done, aborted, or ""
    while open; why: the reason in words. changed_ns: time of the last change. savepoint: its number, 0 before it has started.
    """

    number: int
    kind: str
    who: str
    ordered_ns: int
    before: dict[str, int]
    after: dict[str, int]
    begun_ns: int = -1
    stopped_ns: int = -1
    drained_ns: int = -1
    stored_ns: int = -1
    arranged_ns: int = -1
    restored_ns: int = -1
    ended_ns: int = -1
    state_bytes: int = 0
    moved_bytes: int = 0
    read: dict[str, int] = field(default_factory=dict)
    outcome: str = ""
    why: str = ""
    changed_ns: int = -1
    savepoint: int = 0
    begins_before: dict[str, int] = field(default_factory=dict)
    begins_after: dict[str, int] = field(default_factory=dict)

    @property
    def waits(self) -> bool:
        return not self.outcome and self.begun_ns < 0

    def end(self, outcome: str, now_ns: int, why: str = "") -> None:
        self.outcome, self.why = outcome, why
        self.ended_ns = self.changed_ns = now_ns


Order = tuple[int, Mapping[str, int], Mapping[str, int]]
"""Of the document: at_ns, parallelism by operator, and the index of the first active instance of operators that move."""


class Times(NamedTuple):
    """Durations of a rescale. restart_ns: from the savepoint until the new job starts to fetch it, plus pod_start_ns if there are more
    instances than before."""

    restart_ns: int
    pod_start_ns: int
    timeout_ns: int


class Start(NamedTuple):
    """A restart, or the end of a stop. operators: those concerned, None for all."""

    go_ns: int
    operators: frozenset[str] | None


class Job(CoordinatedRounds):
    """Job manager. Takes savepoints for rescales and, between them, checkpoint rounds if the interval is not FAR; both share one numbering.

    parallelism: current parallelism by operator. begins: index of the first active instance of operators that move, by operator. actions:
    all orders and their progress. orders: from the document.
    """

    kind = "stop_and_restart"

    def __init__(
        self,
        host: ActorHost,
        interval_ns: int,
        until_ns: int,
        detect_ns: int,
        operators: Sequence[OperatorSlots],
        parallelism: Mapping[str, int],
        times: Times,
        orders: Sequence[Order] = (),
        names: Sequence[str] = (),
        workers_max: int = FAR,
        begins: Mapping[str, int] = MappingProxyType({}),
    ):
        """names: host names. workers_max: maximum number of instances, whoever gives the order."""
        super().__init__(host, interval_ns, until_ns, detect_ns, [], [])
        self.operators, self.times, self.names = list(operators), times, list(names)
        self.workers_max = workers_max
        self.parallelism, self.begins = dict(parallelism), dict(begins)
        self.actions: list[Rescale] = []
        self._orders_due = sorted(((at_ns, dict(wanted), dict(begin)) for at_ns, wanted, begin in orders), key=itemgetter(0))
        self._look_ns = self._deadline_ns = self._restart_ns = FAR
        self._heard: tuple[list[Mark], list[list[int]]] = [], []  # for the savepoint in progress
        self._saved: Savepoint | None = None  # rollback target, if no round has been confirmed since
        # records read by each source instance when it last stopped
        self._read = {i: 0 for laid in operators if laid.is_source for i in range(laid.first, laid.first + laid.most)}

    def start(self, directory: Directory) -> None:
        super().start(directory)
        self._take_over()

    def _take_over(self) -> None:
        """Set members, sources and machines to those of the current parallelism."""
        in_use = [i for laid in self.operators for i in self._active(laid)]
        self.members = set(in_use)
        self.sources = [i for laid in self.operators if laid.is_source for i in self._active(laid)]
        self.machines = sorted({self.host_of[i] for i in in_use})

    def _active(self, laid: OperatorSlots) -> range:
        return laid.active(self.parallelism, self.begins)

    # -- orders --------------------------------------------------------------------------------------------------------------------

    @property
    def open(self) -> Rescale | None:
        """The rescale in progress or waiting."""
        return next((one for one in self.actions if not one.outcome), None)

    @property
    def under_way(self) -> Rescale | None:
        opened = self.open
        return None if opened is None or opened.waits else opened

    @property
    def starts(self) -> list[Start]:
        """Restarts in order of time."""
        return [Start(recovery.go_ns, None) for recovery in self.recoveries if not recovery.open]

    @property
    def standing(self) -> frozenset[str]:
        """The operators that are stopped, or about to stop."""
        stand = self.under_way is not None or self.recovering
        return frozenset(laid.id for laid in self.operators) if stand else frozenset()

    @property
    def begins_anew_ns(self) -> int:
        """When the savepoint will be fetched, FAR if unknown."""
        return self._restart_ns

    def order(self, parallelism: Mapping[str, int], now_ns: int, who: str, begins: Mapping[str, int] = MappingProxyType({})) -> None:
        """Order a parallelism by operator, or of operators that move, index of the first active instance; operators that are not named keep
        theirs. Called between two windows. A newer order replaces a waiting one. An order for more than workers_max instances is aborted.
        After the horizon, orders are ignored. Raises ValueError."""
        wanted = self._wanted(parallelism)
        if now_ns >= self.until_ns:
            return
        opened = self.under_way
        begin = (self.begins if opened is None else opened.begins_after) | dict(begins)
        number, before, workers = len(self.actions) + 1, dict(self.parallelism), sum(wanted.values())
        action = Rescale(number, self.kind, who, now_ns, before, wanted, changed_ns=now_ns)
        action.begins_before, action.begins_after = dict(self.begins), begin
        if workers > self.workers_max:
            action.end("aborted", now_ns, f"it needs {workers} instances, but workers_max is {self.workers_max}")
        else:
            for one in self.actions:
                if one.waits:
                    one.end("aborted", now_ns, "a newer order arrived before it started")
            self._look_ns = now_ns + 1
        self.actions.append(action)

    def _wanted(self, parallelism: Mapping[str, int]) -> dict[str, int]:
        """Return the requested parallelism of all operators, based on the parallelism after the rescale in progress."""
        opened = self.under_way
        wanted = dict(self.parallelism if opened is None else opened.after)
        known = {laid.id: laid for laid in self.operators}
        for id, p in parallelism.items():
            if id not in known:
                raise ValueError(f"an order names operator '{id}', which does not exist; choose from {', '.join(known)}")
            if not 1 <= p <= known[id].most:
                raise ValueError(f"an order requests {p} instances of operator '{id}'; it can have 1 to {known[id].most}")
            wanted |= dict.fromkeys(known[id].together, p)
        return wanted

    def active_ns(self, t_ns: int) -> Words:
        """Return how long each instance was active until t_ns."""
        moved = [action for action in self.actions if 0 <= action.arranged_ns < t_ns]
        found = np.zeros(sum(laid.most for laid in self.operators), np.int64)
        since_ns = 0
        now = (moved[0].before, moved[0].begins_before) if moved else (self.parallelism, self.begins)
        for until_ns, after in [*((action.arranged_ns, (action.after, action.begins_after)) for action in moved), (t_ns, now)]:
            for laid in self.operators:
                here = laid.active(*now)
                found[here.start : here.stop] += until_ns - since_ns
            since_ns, now = until_ns, after
        return found

    # -- timers --------------------------------------------------------------------------------------------------------------------

    @property
    def due_ns(self) -> int:
        ordered_ns = self._orders_due[0][0] if self._orders_due else FAR
        return min(super().due_ns, ordered_ns, self._look_ns, self._deadline_ns, self._restart_ns)

    @property
    def busy(self) -> bool:
        return super().busy or self.under_way is not None

    def act(self, now_ns: int, post: Post) -> None:
        if self._deadline_ns <= now_ns:
            self._give_up(now_ns, f"the savepoint was not complete after {self.times.timeout_ns / 1e9:g} s", post)
        if self._restart_ns <= now_ns:
            self._begin_anew(now_ns, post)
        while self._orders_due and self._orders_due[0][0] <= now_ns:
            _, wanted, begins = self._orders_due.pop(0)
            self.order(wanted, now_ns, "document", begins)
        self._look_ns = FAR
        if super().due_ns <= now_ns:
            super().act(now_ns, post)
        self._begin_next(now_ns, post)

    def _begin_next(self, now_ns: int, post: Post) -> None:
        """Start the waiting order, if nothing else is in progress."""
        waiting = self.open
        if waiting is None or self.busy:
            return
        if now_ns >= self.until_ns:
            waiting.end("aborted", now_ns, "the load ended before it started")
            return
        waiting.before, waiting.begins_before = dict(self.parallelism), dict(self.begins)
        if waiting.after == waiting.before and waiting.begins_after == waiting.begins_before:
            waiting.end("aborted", now_ns, "its operators are there already" if self.begins else "the job already has this parallelism")
            return
        waiting.begun_ns = waiting.changed_ns = now_ns
        self._heard = [], []
        opened = self.begin_round(now_ns, STOP, post)
        opened.savepoint, waiting.savepoint = True, opened.number
        self._deadline_ns = now_ns + self.times.timeout_ns

    # -- the savepoint ---------------------------------------------------------------------------------------------------------------

    def hear(self, message: Message, now_ns: int, post: Post) -> None:
        opened = self.open_round
        super().hear(message, now_ns, post)
        if opened is not None and opened.savepoint and opened.ended == "failed":
            self._give_up(now_ns, "the store is full", post)
        self._begin_next(now_ns, post)

    def heard(self, rows: Words, counters: list[Words]) -> None:
        if counters:
            self._heard[0].extend(Mark(*mark) for mark in counters[0].tolist())
            self._heard[1].extend(counters[1].tolist())

    def confirmed(self, last: Round, post: Post) -> None:
        super().confirmed(last, post)
        action = self.under_way
        if not last.savepoint:
            self._saved = None
            return
        assert action is not None
        seen = {mark.instance: mark for mark in sorted(self._heard[0])}
        stored = {row[M.INSTANCE]: Stored(row[M.BYTES], row[M.PIECES], {}) for row in sorted(last.taken)}
        for i, group, size_bytes in sorted(self._heard[1]):
            stored[i].groups[group] = size_bytes
        self._heard = [], []
        self._saved = saved = Savepoint(last.number, action.before, action.after, seen, stored, action.begins_before, action.begins_after)
        self._read |= {i: seen[i].read for i in self.sources}
        captured_ns = {row[M.INSTANCE]: row[M.CAPTURED_NS] for row in last.taken}
        action.stopped_ns, action.drained_ns = min(captured_ns[i] for i in self.sources), max(captured_ns.values())
        action.stored_ns = action.changed_ns = last.ended_ns
        taken = list(fetches(saved, self.operators))
        action.state_bytes = sum(fetch.bytes for fetch in taken)
        action.moved_bytes = sum(fetch.bytes for fetch in taken if fetch.instance != fetch.old)
        assert action.state_bytes == sum(sum(one.groups.values()) for one in stored.values()), "some group has no owner, or two"
        sources = [laid for laid in self.operators if laid.is_source]
        action.read = {laid.id: sum(self._read[i] for i in range(laid.first, laid.first + laid.most)) for laid in sources}
        more = sum(action.after.values()) > sum(action.before.values())
        self._deadline_ns = FAR
        self._restart_ns = last.ended_ns + max(1, self.times.restart_ns + more * self.times.pod_start_ns)

    def _give_up(self, now_ns: int, why: str, post: Post) -> None:
        """Abort: all instances resume where they are."""
        last = self.rounds[-1]
        if not last.ended:
            last.ended, last.ended_ns = "aborted", now_ns
        self._abort(now_ns, why)
        for host in self.machines:
            post.send(self.addresses[host], (RELEASE, last.epoch, last.number), M.MESSAGE_BYTES)

    def _abort(self, now_ns: int, why: str) -> None:
        action = self.under_way
        assert action is not None
        action.end("aborted", now_ns, why)
        self._deadline_ns, self._heard = FAR, ([], [])

    # -- restarting ----------------------------------------------------------------------------------------------------------------

    def _begin_anew(self, now_ns: int, post: Post) -> None:
        """Order all machines with instances before or after the rescale into a new epoch."""
        action = self.under_way
        assert action is not None
        self._restart_ns = FAR
        action.arranged_ns = action.changed_ns = now_ns
        before, self.parallelism, self.begins = self.machines, dict(action.after), dict(action.begins_after)
        self._take_over()
        self.machines = sorted({*before, *self.machines})
        super().recover([], now_ns, post)
        self.recoveries[-1].planned = True

    def recover(self, hosts: Sequence[int], now_ns: int, post: Post) -> None:
        hosts = [host for host in hosts if host in self.machines]  # others have nothing to roll back
        action = self.under_way
        if not hosts or self._restart_ns < FAR:  # then all are stopped and restart anyway
            return
        if action is not None and action.stored_ns < 0:
            lost = ", ".join(self.names[host] for host in hosts)
            self._abort(now_ns, f"{lost} was lost before the savepoint was complete")
        super().recover(hosts, now_ns, post)

    def line(self, now_ns: int) -> Line:
        line = super().line(now_ns)
        if self._saved is None:
            return line
        return Line([[i, self._saved.number, *[0] * (M.COLUMNS - 2)] for i in sorted(self.members)])  # what is fetched: `_restart`

    def _welcome(self, host: int, now_ns: int, post: Post) -> None:
        if host in self.machines:
            super()._welcome(host, now_ns, post)

    def _order(self, host: int, now_ns: int, post: Post) -> None:
        recovery = self.recoveries[-1]
        if self._saved is None:
            super()._order(host, now_ns, post)
            return
        recovery.ordered[host] = now_ns
        restart = self._restart(self._saved, host)
        words = (RESCALE, recovery.epoch, self._saved.number, int(not recovery.hosts))
        size_bytes = M.MESSAGE_BYTES + M.ROW_BYTES * restart.rows
        post.send(self.addresses[host], words, size_bytes, parcel=restart.to_bytes())

    def _restart(self, saved: Savepoint, host: int) -> Restart:
        own = [fetch for fetch in fetches(saved, self.operators) if self.host_of[fetch.instance] == host]
        reads = [[i, read] for i, read in sorted(self._read.items())]
        parallelism, begins = ([of[laid.id] for laid in self.operators if laid.id in of] for of in (self.parallelism, self.begins))
        return Restart(parallelism, own, list(marks(saved, self.operators)), reads, self.floors(saved), begins)

    def floors(self, saved: Savepoint) -> list[list[int]]:
        """Return `Restart.floors`; empty: partitions continue where they are."""
        return []

    def _restored(self, host: int, epoch: int, now_ns: int, post: Post) -> None:
        super()._restored(host, epoch, now_ns, post)
        if self.recovering:
            return
        action = self.under_way
        if action is not None and action.arranged_ns >= 0:
            action.restored_ns = now_ns
            action.end("done", now_ns)
            self._take_over()
        self._begin_next(now_ns, post)

    # -- state -----------------------------------------------------------------------------------------------------------------------

    def state(self) -> Any:
        return {
            **super().state(),
            "parallelism": dict(self.parallelism),
            "begins": dict(self.begins),
            "machines": list(self.machines),
            "actions": [asdict(action) for action in self.actions],
            "orders_due": [[at_ns, dict(wanted), dict(begins)] for at_ns, wanted, begins in self._orders_due],
            "timers": [self._look_ns, self._deadline_ns, self._restart_ns],
            "heard": [[list(mark) for mark in self._heard[0]], list(self._heard[1])],
            "saved": None if self._saved is None else self._saved.state(),
            "read": [list(item) for item in sorted(self._read.items())],
        }

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.parallelism, self.begins = dict(state["parallelism"]), dict(state["begins"])
        self._take_over()
        self.machines = list(state["machines"])
        self.actions = [Rescale(**action) for action in state["actions"]]
        self._orders_due = [(at_ns, wanted, begins) for at_ns, wanted, begins in state["orders_due"]]
        self._look_ns, self._deadline_ns, self._restart_ns = state["timers"]
        seen, groups = state["heard"]
        self._heard = [Mark(*mark) for mark in seen], list(groups)
        self._saved = None if state["saved"] is None else Savepoint.from_state(state["saved"])
        self._read = dict(state["read"])
