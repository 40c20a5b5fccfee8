"""Recovery of the tasks of a host that was lost: their stores are filled again, and their sources read on from the last commit.

All that feeds a store is on its host, so no other host has to go back. What was processed after the commit is processed again, and what of
it is already in the changelog counts twice (at least once).

Source: Chronarakis 2019, 2.2, 2.4 and 4.4 (specification of incremental checkpointing, A7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from engine.core import layout as L
from engine.core.control import instance_checkpoint, keyed_state
from engine.core.control.instance_checkpoint import READ
from engine.core.control.ranks import set_held
from engine.core.tables import Words
from engine.core.world import World

from .commits import Commits, closes, serves_since_ns
from .contents import Contents
from .operations import Operations
from .store import Restored, Store


@dataclass
class Task:
    """An instance with its store. host: its number. charged: requests of its sender that its host was charged for. contents: what its
    changes have made, where hosts may be lost. stalled_ns: how long it has stood still since all buffers of its store were
    full, or does until stalls_until_ns."""

    instance: int
    name: str
    host: int
    store: Store
    operations: Operations
    charged: int = 0
    contents: Contents | None = None
    stalled_ns: int = 0
    stalls_until_ns: int = L.FAR

    def stalled_until_ns(self, now_ns: int) -> int:
        """How long it has stood still by now."""
        return self.stalled_ns - (0 if self.stalls_until_ns == L.FAR else max(self.stalls_until_ns - now_ns, 0))

    def forget(self) -> None:
        """Drop the content of changes that no restore can come to any more."""
        if self.contents is not None:
            self.contents.keep(self.store.needed())


@dataclass
class Outage:
    """A loss of a host and the recovery from it. lost_changes: of its stores, which were in no log. results_again: of windows, which will
    come twice. started_ns: when its processes were up again; ready_ns: when the last store is filled. Both are FAR before that is known,
    and ready_ns for ever if the host was lost once more before. again: records that its sources read again. restored: by task."""

    host: int
    lost_ns: int
    disk_lost: bool
    lost_changes: int
    results_again: int
    started_ns: int = L.FAR
    ready_ns: int = L.FAR
    again: int = 0
    restored: dict[str, Restored] = field(default_factory=dict)

    @classmethod
    def revived(cls, state: dict[str, Any]) -> Outage:
        """The inverse of `dataclasses.asdict`."""
        return cls(**{**state, "restored": {name: Restored(**one) for name, one in state["restored"].items()}})


class Recovery:
    """outages: of the run, in order. open: by host, those that are not over. commits: by host."""

    def __init__(self, world: World, tasks: Sequence[Task], commits: Mapping[int, Commits]):
        self.tasks, self.commits = tasks, commits
        w = world.arrays
        cores = w.host[:, L.H_PROCESSOR_END] - w.host[:, L.H_PROCESSOR]
        self._cores = {host: int(cores[host]) for host in commits}
        self.outages: list[Outage] = []
        self.open: dict[int, Outage] = {}

    @property
    def next_ns(self) -> int:
        return min((outage.ready_ns for outage in self.open.values()), default=L.FAR)

    def is_down(self, host: int) -> bool:
        """Whether a host is lost, or fills its stores."""
        return host in self.open

    @property
    def restored_ns(self) -> int:
        """How long threads have filled stores, all of them together."""
        return sum(restored.took_ns for outage in self.outages for restored in outage.restored.values())

    def lost(self, world: World, host: int, now_ns: int, disk_lost: bool) -> None:
        """The processes of a host end. Call it before the core loses the host, with all changes until now in the stores."""
        self.commits[host].crash()
        w = world.arrays
        set_held(w, np.array([*self.commits[host].sources, *(task.instance for task in self._here(host))], np.int64), False)
        found = [
            task.store.crash(now_ns, disk_lost, serves_since_ns(w, task.instance), closes(w, task.instance)) for task in self._here(host)
        ]
        for task in self._here(host):
            task.stalls_until_ns = L.FAR
        before = self.open.get(host)
        if before is not None and before.started_ns == L.FAR:  # it is down already
            before.disk_lost |= disk_lost
            return
        if before is not None:
            before.ready_ns = L.FAR
        self.open[host] = Outage(host, now_ns, disk_lost, sum(lost.changes for lost in found), sum(lost.results for lost in found))
        self.outages.append(self.open[host])

    def started(self, world: World, host: int, now_ns: int) -> None:
        """The processes of a host are up. Its instances stand still until its stores are filled, as many at a time as it has cores."""
        instance_checkpoint.stop(world, host, now_ns, None)
        outage = self.open[host]
        outage.started_ns = now_ns
        free_ns = [now_ns] * self._cores[host]
        for task in self._here(host):
            n = free_ns.index(min(free_ns))
            restored = outage.restored[task.name] = task.store.restore(free_ns[n])
            free_ns[n] += restored.took_ns
        outage.ready_ns = max(max(free_ns), now_ns + 1)

    def act(self, world: World, now_ns: int) -> None:
        for host, outage in list(self.open.items()):
            if outage.ready_ns <= now_ns:
                outage.again = self._go_on(world, host, now_ns)
                del self.open[host]

    def read_again(self, world: World, host: int) -> int:
        """How many records the sources of a host would read again if it were lost now."""
        w, commits = world.arrays, self.commits[host]
        read = w.inst[:, L.I_IN] - w.inst[:, L.I_AGAIN]
        return sum(int(read[i]) - (int(commits.durable[i].words[READ]) if i in commits.durable else 0) for i in commits.sources)

    def _here(self, host: int) -> list[Task]:
        return [task for task in self.tasks if task.host == host]

    def _go_on(self, world: World, host: int, now_ns: int) -> int:
        """Put the content of the stores into their instances, and let the host resume. Returns how many records it reads again."""
        commits = self.commits[host]
        again = self.read_again(world, host)
        for i in np.flatnonzero(world.arrays.inst[:, L.I_HOST] == host).tolist():
            instance_checkpoint.forget_incoming(world, i)
        for i in commits.sources:
            instance_checkpoint.read_again(world, i, commits.durable.get(i))
        for task in self._here(host):
            _put(world, task)
        instance_checkpoint.resume(world, host, now_ns)
        return again

    # -- saving --------------------------------------------------------------------------------------------------------------------

    def state(self) -> Any:
        commits = [[host, one.state()] for host, one in self.commits.items()]
        return [commits, [asdict(outage) for outage in self.outages], list(self.open)]

    def restore(self, state: Any) -> None:
        commits, outages, is_open = state
        for host, one in commits:
            self.commits[host].restore(one)
        self.outages = [Outage.revived(outage) for outage in outages]
        self.open = newest_of(self.outages, is_open)


def newest_of(outages: Sequence[Outage], hosts: Sequence[int]) -> dict[int, Outage]:
    """By host, its last loss."""
    return {host: next(outage for outage in reversed(outages) if outage.host == host) for host in hosts}


def _put(world: World, task: Task) -> None:
    """Put what the store holds into the instance, whose state is empty."""
    assert task.contents is not None
    i, w = task.instance, world.arrays
    keeping = world.keepings[int(w.inst[i, L.I_OP])]
    assert keeping is not None
    alive = task.store.contents()
    task.operations.go_back(alive.keys)
    names = task.store.keys.of(alive.keys)  # key, window, sequence number or side
    order = np.lexsort((names[:, 2], names[:, 1], names[:, 0]))
    names, words = names[order], task.contents.of(alive.values[order])
    width = w.entry.shape[1]
    entries, rows = words[:, :width], words[:, width:]
    fresh = np.ones(len(names), bool)
    fresh[1:] = (names[1:, :2] != names[:-1, :2]).any(axis=1)
    own = np.cumsum(fresh) - 1  # by record: which entry it belongs to
    sides = len(keyed_state.counts_of_rows(w, i))
    newest = _newest(own, alive.values[order], int(fresh.sum()))
    counts = np.zeros((len(newest), sides), np.int64)
    if sides:
        np.add.at(counts, (own, names[:, 2] if sides == 2 else np.zeros(len(own), np.int64)), 1)
    state = keyed_state.assembled(world, keeping, i, entries[newest], rows if sides else rows[:0], counts)
    keyed_state.put(world, keeping, i, state)


def _newest(own: Words, changes: Words, count: int) -> Words:
    """By entry, the record of its newest change. own: (n,) the entry of each. changes: (n,) their numbers."""
    order = np.lexsort((changes, own))
    found: Words = np.zeros(count, np.int64)
    found[own[order]] = order  # of several, the last one stays
    return found
