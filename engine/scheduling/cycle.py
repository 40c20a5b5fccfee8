"""The cycle of a scheduler: collect, select, rank, and pay for it (Farhat 2020, Algorithm 1; docs/scheduling.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from engine.core import layout as L
from engine.core.control.background import add_background_work
from engine.core.control.fair_threads import share_cores, works_in_background
from engine.core.control.links import send_beside
from engine.core.control.ranks import set_ranks, watch
from engine.core.tables import Words
from engine.core.world import World
from engine.spec.experiment.scheduling.base import Scheduling
from engine.spec.experiment.scheduling.default import FairThreads
from engine.spec.experiment.scheduling.none import NoScheduling

from .forwarding import Knowledge, Message
from .policy import Policy, Selection
from .slack import costs_ns
from .statistics import Service, Statistics
from .tasks import Tasks

PS_PER_US = 1_000_000
ASKED_AGAIN_AFTER = 1_000_000
"""How long, in ns, until a host whose cores are all busy is asked again whether the work of its last cycle has begun."""


class Stretch(NamedTuple):
    """A policy in force from a time on. about: None for no ranking. make: constructs the policy of a host. threads: whether instances share
    the cores as threads; nothing follows such a stretch."""

    from_ns: int
    about: Scheduling | None
    make: Callable[[], Policy] | None
    threads: bool = False


@dataclass
class Cycle:
    """The last cycle of a host, as JSON values. rows: by name of query its rank in the order from 1, whether it has work and cores were
    left for it (`runs`), items waiting, and the policy's reasons (`why`). heard_ms: how old what another host said last is, by its name."""

    host: str
    t_ms: float
    mode: str
    rows: dict[str, dict[str, Any]]
    heard_ms: dict[str, float]


class Scheduler:
    """A control (`engine.core.control.policy.Control`) with a service and a policy for each host with a pool.

    On a host that is down nothing is selected; when it is up again, its statistics begin anew.
    """

    features = ("background", "epochs", "heaps", "watching")

    def __init__(self, tasks: Sequence[Tasks], stretches: Sequence[Stretch], epochs_kept: int, until_ns: int):
        self.tasks, self._stretches, self.epochs_kept, self._until_ns = list(tasks), list(stretches), epochs_kept, until_ns
        self._stretch = 0
        self._next_ns = stretches[0].from_ns + (stretches[0].about.cycle_ns if stretches[0].about is not None else 0)
        names = {of.host: of.name for of in tasks}
        self._hosts = [_Host(of, names) for of in tasks]
        self._mail: list[Message] = []  # on its way, by when it was sent
        self._messages, self._message_bytes = 0, 0
        self._begin(0)

    def _begin(self, stretch: int) -> None:
        self._stretch = stretch
        make = self._stretches[stretch].make
        for host in self._hosts:
            host.policy = None if make is None else make()

    @property
    def next_ns(self) -> int:
        return self._next_ns if self._next_ns <= self._until_ns else L.FAR

    @property
    def cycles(self) -> list[Cycle]:
        """The last cycle of each host that had one."""
        return [host.last for host in self._hosts if host.last is not None]

    @property
    def policies(self) -> dict[str, Policy]:
        """By name of the host."""
        return {host.tasks.name: host.policy for host in self._hosts if host.policy is not None}

    @property
    def title(self) -> str:
        """Of the policy in force."""
        of = self._stretches[self._stretch]
        return FairThreads.title if of.threads else NoScheduling.title if of.about is None else of.about.title

    def counts(self) -> dict[str, float]:
        """Cycles, switches of tasks, messages between hosts, and what policies count (`Policy.counts`) so far, over all hosts."""
        found: dict[str, float] = {"cycles": 0, "switches": 0, "messages": self._messages, "message_bytes": self._message_bytes}
        for host in self._hosts:
            of_policy = {} if host.policy is None else host.policy.counts()
            for name, count in {"cycles": host.cycles, "switches": host.switches, **of_policy}.items():
                found[name] = found.get(name, 0) + count
        return found

    def act(self, world: World, now_ns: int) -> None:
        following = self._stretch + 1
        if following < len(self._stretches) and self._stretches[following].from_ns <= now_ns:
            self._begin(following)
            for host in self._hosts:
                host.forget(world, now_ns)
        about = self._stretches[self._stretch].about
        if about is None:
            self._next_ns = self._stretches[self._stretch + 1].from_ns if self._stretch + 1 < len(self._stretches) else L.FAR
            if self._stretches[self._stretch].threads:
                self._next_ns = min(host.share_cores(world, now_ns) for host in self._hosts)
            return
        arrived = [message for message in self._mail if message.arrival_ns <= now_ns]
        self._mail = [message for message in self._mail if message.arrival_ns > now_ns]
        for host in self._hosts:
            host.cycle(world, now_ns, about, [message for message in arrived if message.receiver == host.tasks.host])
        if about.forwards:
            self._forward(world)
        self._next_ns = now_ns + about.cycle_ns
        if self._stretch + 1 < len(self._stretches):
            self._next_ns = min(self._next_ns, self._stretches[self._stretch + 1].from_ns)

    def choose(self, world: World, host: int, now_ns: int) -> None:
        """Select anew on a host where a watermark has risen that its policy waited for."""
        about = self._stretches[self._stretch].about
        if about is not None:
            next(of for of in self._hosts if of.tasks.host == host).cycle(world, now_ns, about, ())

    def _forward(self, world: World) -> None:
        """Each host sends its neighbours what they are told. A message into a link that is down is lost."""
        for host in self._hosts:
            for message in host.messages():
                h, h2 = message.sender, message.receiver
                arrival_ns = send_beside(world, h, h2, message.size_bytes, message.sent_ns)
                if arrival_ns < L.FAR:
                    self._mail.append(replace(message, arrival_ns=arrival_ns))
                    self._messages, self._message_bytes = self._messages + 1, self._message_bytes + message.size_bytes

    def state(self) -> Any:
        return {
            "stretch": self._stretch,
            "next_ns": self._next_ns,
            "hosts": [host.state() for host in self._hosts],
            "mail": [message.state() for message in self._mail],
            "messages": [self._messages, self._message_bytes],
        }

    def restore(self, state: Any) -> None:
        self._begin(state["stretch"])
        self._next_ns = state["next_ns"]
        self._mail = [Message.restored(each) for each in state["mail"]]
        self._messages, self._message_bytes = state["messages"]
        for host, saved in zip(self._hosts, state["hosts"], strict=True):
            host.restore(saved)


class _Host:
    """The scheduler of one host. running: by task, whether it was started in the last cycle. collected: in the last cycle, on this host
    alone; None if there was none."""

    def __init__(self, tasks: Tasks, names: Mapping[int, str]):
        """names: of all hosts with a scheduler, by their numbers."""
        self.tasks, self._names = tasks, names
        self.service, self.knowledge = Service(tasks), Knowledge(tasks)
        self.collected: Statistics | None = None
        self.watched: set[int] = set()  # queries
        self.down = False  # in the last cycle
        self.policy: Policy | None = None
        self.ranks = np.zeros(tasks.count, np.int64)
        self.running = np.zeros(tasks.count, bool)
        self.cycles = self.switches = 0
        self.last: Cycle | None = None

    def cycle(self, world: World, now_ns: int, about: Scheduling, arrived: Sequence[Message]) -> None:
        w, h = world.arrays, self.tasks.host
        self.collected = None
        was_down, self.down = self.down, bool(w.host[h, L.H_BACK] > 0 or w.memory[h, L.Z_DIED] >= 0)
        if self.down:
            self.service, self.knowledge = Service(self.tasks), Knowledge(self.tasks)
            return
        assert self.policy is not None
        for message in () if was_down else arrived:  # in the cycle in which it came up, it may have been down when they arrived
            self.knowledge.receive(message)
        self.collected = self.service.collect(w, now_ns, about.cycle_ns)
        statistics = self.knowledge.added_to(self.collected, w.chan[:, L.C_WATERMARK]) if about.forwards else self.collected
        selection = self.policy.select(statistics)
        running = started(statistics, selection)
        switched = int(np.count_nonzero(running != self.running))
        self._rank(world, selection.ranks, now_ns)
        self._watch(world, selection.watched)
        work_us = about.collect_us * self.tasks.count + about.switch_us * switched + about.bin_cost_us * selection.bins
        add_background_work(world, h, round(work_us * PS_PER_US), now_ns)
        self.running, self.cycles, self.switches = running, self.cycles + 1, self.switches + switched
        heard_ms = {self._names[host]: age_ms for host, age_ms in self.knowledge.ages_ms(now_ns).items()}
        self.last = _told(statistics, selection, running, heard_ms)

    def messages(self) -> list[Message]:
        """What the host tells its neighbours after this cycle."""
        if self.collected is None or not (neighbours := sorted({*self.tasks.downstream, *self.tasks.upstream})):
            return []
        cost = costs_ns(self.collected)
        return [self.knowledge.message(to, self.collected, cost) for to in neighbours]

    def forget(self, world: World, now_ns: int) -> None:
        """Another policy is in force: nobody is ranked, and nothing is watched."""
        self._rank(world, np.zeros(self.tasks.count, np.int64), now_ns)
        self._watch(world, ())
        self.running = np.zeros(self.tasks.count, bool)
        self.last = None

    def share_cores(self, world: World, now_ns: int) -> int:
        """Let the instances share the cores as threads, once the work of the last cycle is done. Returns when to try again (FAR: never)."""
        if not works_in_background(world.arrays, self.tasks.host):
            share_cores(world, self.tasks.host, now_ns)
            return L.FAR
        ends_ns = int(world.arrays.host[self.tasks.host, L.H_BACKGROUND_END])
        return ends_ns if now_ns < ends_ns < L.FAR else now_ns + ASKED_AGAIN_AFTER

    def _rank(self, world: World, ranks: Words, now_ns: int) -> None:
        changed = ranks != self.ranks
        of_instances = changed[self.tasks.task_of]
        if changed.any():
            set_ranks(world, self.tasks.instances[of_instances], ranks[self.tasks.task_of][of_instances], now_ns)
        self.ranks = ranks

    def _watch(self, world: World, queries: Sequence[int]) -> None:
        """Watch the last tasks of these queries: what they have served has passed the others."""
        if set(queries) == self.watched:
            return
        self.watched = set(queries)
        last = np.isin(self.tasks.query, list(queries)) & ~np.isin(np.arange(self.tasks.count), self.tasks.sent)
        watch(world, self.tasks.host, self.tasks.instances[last[self.tasks.task_of]])

    def state(self) -> Any:
        return {
            "service": self.service.state(),
            "knowledge": self.knowledge.state(),
            "policy": None if self.policy is None else self.policy.state(),
            "ranks": self.ranks.tolist(),
            "running": self.running.tolist(),
            "watched": sorted(self.watched),
            "down": self.down,
            "counts": [self.cycles, self.switches],
            "last": None if self.last is None else list(vars(self.last).values()),
        }

    def restore(self, state: Any) -> None:
        self.service.restore(state["service"])
        self.knowledge.restore(state["knowledge"])
        if self.policy is not None:
            self.policy.restore(state["policy"])
        self.ranks, self.running = np.array(state["ranks"], np.int64), np.array(state["running"], bool)
        self.watched, self.down = set(state["watched"]), state["down"]
        self.cycles, self.switches = state["counts"]
        self.last = None if state["last"] is None else Cycle(*state["last"])


def started(statistics: Statistics, selection: Selection) -> Any:
    """By task, whether it is started: those with work, in the order of ranks, then of queries, until they fill the cores."""
    tasks = statistics.tasks
    able = (statistics.queued > 0) & statistics.open & (selection.ranks < L.FAR)
    found = np.zeros(tasks.count, bool)
    place = np.full(len(tasks.names), len(selection.order))
    place[list(selection.order)] = np.arange(len(selection.order))
    order = np.flatnonzero(able)[np.lexsort((place[tasks.query[able]], selection.ranks[able]))]
    found[order[np.cumsum(tasks.parallelism[order]) - tasks.parallelism[order] < tasks.cores]] = True
    return found


def _told(statistics: Statistics, selection: Selection, running: Any, heard_ms: dict[str, float]) -> Cycle:
    tasks, waiting = statistics.tasks, statistics.waiting().tolist()
    runs = set(tasks.query[running].tolist())
    rows = {
        tasks.names[q]: {"rank": k + 1, "runs": q in runs, "waiting": waiting[q], "why": selection.why.get(q, {})}
        for k, q in enumerate(selection.order)
    }
    return Cycle(tasks.name, statistics.now_ns / 1e6, selection.mode, rows, heard_ms)
