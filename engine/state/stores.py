"""The local stores of a run: takes the changes of operators, commits, and lets the broker compact.

A control. What stores and logs do depends on the times of the changes alone, so they may be taken whenever the loop hands back.
Source: Chronarakis 2019, 2.2 to 2.4 and 4.3 to 4.5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any, Protocol

import numpy as np

from engine.core import layout as L
from engine.core.control import keyed_state
from engine.core.control.background import add_background_work, background_ns
from engine.core.control.busy_time import accrue
from engine.core.control.changes import note_changes, taken_changes
from engine.core.control.ranks import hold
from engine.core.random import RandomStream
from engine.core.world import World
from engine.services.broker import Broker, BrokerSettings
from engine.services.cleaner import Cleaner, CleanerSettings, Pass, Thread
from engine.services.topics import Cleaning, LogSettings, Partition, Records, Segment
from engine.spec import Experiment, RecordSchema
from engine.spec.base.operator_kinds import operator
from engine.spec.base.units import megabytes_bytes, microseconds_ps, milliseconds_ns, scaled, seconds_ns
from engine.spec.experiment.query import OperatorSpec
from engine.spec.experiment.states.base import Changelog

from .adjusting import LADDER, Adjustments, Seen, Tuner, adjust_caches, adjust_cleaner, adjust_logs
from .cache import Cache, CacheSettings
from .commits import Commits
from .contents import Contents
from .operations import Operations, Sizes
from .recovery import Recovery, Task
from .saving import named, plain, revived
from .sender import Sender
from .store import Store, StoreSettings
from .store_keys import StoreKeys
from .tree import Buffer, DiskWrite, Entries, Job, Run, Tree, TreeSettings

PUTS = (L.CHANGE_FOLD, L.CHANGE_ADD, L.CHANGE_PUT)
"""Changes that have content."""
CHARGE_NS = 250_000_000
"""Time between two moments at which hosts are charged for what their senders have done, and buffers are looked at."""
FULL_NS = 10_000_000
"""The same for buffers, where only one is left."""
SAVED = named(
    [
        *(Buffer, Cache, CacheSettings, Cleaner, CleanerSettings, Cleaning, Contents, DiskWrite, Entries, Job, LogSettings, Partition),
        *(Pass, Records, Run, Segment, Sender, StoreKeys, Thread, Tree, TreeSettings),
    ]
)
NOT_SAVED = ("factor", "slow_down")
"""What a cleaner asks its broker for."""


class Loss(Protocol):
    """A fault that loses a host (`engine.faults.host_loss`). stores: whom it tells."""

    host: int
    stores: Any

    def strikes(self, commit: int, step: str) -> bool: ...
    def strike(self, now_ns: int) -> None: ...


class Stores:
    """tasks: the instances with stores. hosts: theirs. samples: counts at the ends of the last two frames. logged: bytes of all changelogs
    at the ends of frames: how many there were, their sum, the largest. committed_ns: when the last commit began, 0 before the first.
    losses: the faults that lose hosts."""

    def __init__(self, experiment: Experiment, world: World, schemas: Mapping[str, RecordSchema], texts: Callable[[], list[str]]):
        """schemas: by "operator.port". texts: of the codes of string keys."""
        about = experiment.policies.state
        assert isinstance(about, Changelog)
        self.about, w = about, world.arrays
        may_crash = any(fault.loses_host for fault in experiment.faults)
        self._end_ns = experiment.workload.end_ns
        specs = list(experiment.query.operators)
        stored = [
            (n, spec)
            for n, spec in enumerate(specs)
            if operator(spec.kind).keeping is not None and (not about.operators or spec.id in about.operators)
        ]
        here = [(n, spec, i) for n, spec in stored for i in np.flatnonzero(w.inst[:, L.I_OP] == n).tolist()]
        self.tasks: list[Task] = []
        for _, spec, i in here:
            h = int(w.inst[i, L.I_HOST])
            store = Store(_store_settings(about, may_crash), Partition(_log_settings(about)))
            operations = Operations(store.keys, _sizes(about, spec, schemas, texts))
            self.tasks.append(Task(i, f"{spec.id}[{w.inst[i, L.I_INDEX]}]", h, store, operations))
        self._of_instance = {task.instance: task for task in self.tasks}
        seed = experiment.workload.seed
        self.broker = Broker([task.store.log for task in self.tasks], _broker_settings(about), _cleaner_settings(about), seed)
        self.hosts = sorted({task.host for task in self.tasks})
        self.commit_period_ns = about.commit_ns
        self.adjustments = Adjustments(about.adjustments)
        self.tuner = None if about.tuning is None else Tuner(about.tuning)
        if self.tuner is not None:
            self._adjust(dict(LADDER[0]), 0)
        costs = about.costs
        prices = microseconds_ps(costs.scan_us), microseconds_ps(costs.get_us), microseconds_ps(costs.write_us)
        note_changes(world, dict.fromkeys((n for n, _ in stored), prices), with_content=may_crash)
        self.losses: list[Loss] = []
        if may_crash:
            for task in self.tasks:
                task.contents = _contents(world, task.instance)
        self.recovery = Recovery(world, self.tasks, self._commits_of_hosts(experiment, world))
        phases = RandomStream(seed, "commits").below(np.array(self.hosts, np.int64), about.commit_ns) + 1
        self._commits_ns = dict(zip(self.hosts, phases.tolist(), strict=True))  # by host: when its next one is due
        self._charge_ns = self._look_ns = CHARGE_NS
        self.full: tuple[int, int] | None = None  # when the broker's disk was full, and the bytes of all changelogs then
        self.commits = self.committed_ns = self.commit_ns = 0  # the last: how long all of them took together
        self._frame_ns = self._sample_ns = experiment.measurement.frame_ns
        self.samples = [self.counts(world, 0)] * 2
        self.logged = {"count": 0, "sum": 0, "max": 0}

    # -- as a control --------------------------------------------------------------------------------------------------------------

    @property
    def next_ns(self) -> int:
        due_ns = min([self._charge_ns, self._sample_ns, self.broker.next_ns, *self._commits_ns.values()])
        due_ns = min(due_ns, self.adjustments.next_ns, L.FAR if self.tuner is None else self.tuner.next_ns)
        due_ns = min([due_ns, self.recovery.next_ns, *(commits.next_ns for commits in self.recovery.commits.values())])
        due_ns = min([due_ns, self._look_ns, *(task.stalls_until_ns for task in self.tasks)])
        return due_ns if due_ns <= self._end_ns else L.FAR

    def act(self, world: World, now_ns: int) -> None:
        self.take(world)
        self._tune(now_ns)
        self.broker.wake(now_ns)
        for host, due_ns in self._commits_ns.items():
            if due_ns <= now_ns:
                self._commits_ns[host] = now_ns + self.commit_period_ns
                if not self.recovery.is_down(host):
                    self.recovery.commits[host].begin(world, now_ns)
        for host, commits in self.recovery.commits.items():
            commits.act(world, now_ns, OfHost(self, host))
        self.recovery.act(world, now_ns)
        if self._charge_ns <= now_ns:
            self._charge_ns = now_ns + CHARGE_NS
            self._charge(world, now_ns)
            self._measure(now_ns)
        if self._look_ns <= now_ns:
            self._stall(world, now_ns)
        self._go_on(world, now_ns)
        if self._sample_ns <= now_ns:
            self._sample_ns = min(now_ns + self._frame_ns, self._end_ns) if now_ns < self._end_ns else L.FAR
            self._sample(world, now_ns)

    def _tune(self, now_ns: int) -> None:
        """Change settings that are to change now."""
        self._adjust(self.adjustments.due(now_ns), now_ns)
        if self.tuner is not None and self.tuner.next_ns <= now_ns:
            logs = [task.store.log for task in self.tasks]
            busy_ns, span_ns = self.broker.busy_ns(now_ns), self.tuner.about.every_ns
            busy = self.broker.settings.base_share + (busy_ns - self.tuner.busy_ns) / (self.broker.settings.cores * span_ns)
            self.tuner.busy_ns = busy_ns
            longest_ns = max(task.store.settings.costs.expected_ns(task.store.log.count, task.store.log.bytes) for task in self.tasks)
            self._adjust(self.tuner.look(Seen(sum(log.bytes for log in logs), longest_ns / 1e9, busy), now_ns), now_ns)

    def _adjust(self, changed: dict[str, float], now_ns: int) -> None:
        if not changed:
            return
        adjust_logs([task.store.log for task in self.tasks], changed)
        adjust_caches([task.store for task in self.tasks], changed)
        adjust_cleaner(self.broker, changed, now_ns)
        if "commit_s" in changed:
            self.commit_period_ns = seconds_ns(changed["commit_s"])
            self._commits_ns = {host: min(due_ns, now_ns + self.commit_period_ns) for host, due_ns in self._commits_ns.items()}

    def take(self, world: World) -> None:
        """Bring all changes so far into the stores."""
        changes, contents = taken_changes(world)
        if not len(changes):
            return
        order = np.argsort(changes[:, L.CHANGE_INSTANCE], kind="stable")
        whose, first = np.unique(changes[order, L.CHANGE_INSTANCE], return_index=True)
        for i, rows in zip(whose.tolist(), np.split(order, first[1:]), strict=True):
            if (task := self._of_instance.get(i)) is None:
                continue
            if task.contents is not None and contents is not None:
                puts = np.isin(changes[rows, L.CHANGE_KIND], PUTS)
                task.contents.add(task.operations.changes + np.flatnonzero(puts), contents[rows[puts]])
            task.store.carry_out(task.operations.of(changes[rows]))
            if task.contents is not None and task.contents.is_full:
                task.forget()

    def catch_up(self, world: World, now_ns: int) -> None:
        """Bring all that has happened by now into the stores."""
        self.take(world)
        for task in self.tasks:
            task.store.advance(now_ns)

    def settle(self, world: World, now_ns: int) -> None:
        """The same, and forget how the run was cut, so that their state does not depend on it."""
        self.catch_up(world, now_ns)
        for task in self.tasks:
            store = task.store
            for part in (store.cache, store.tree, store.log, store.keys, task.operations):
                part.settle()
            task.forget()

    def commit(self, host: int, now_ns: int) -> int:
        """Write out the stores of a host. Returns when all of it is on disk and in the logs."""
        self.committed_ns, ends_ns = now_ns, now_ns
        for task in self.tasks:
            if task.host == host:
                self.commits += 1
                own_ns = task.store.commit(now_ns)
                self.commit_ns += own_ns - now_ns
                ends_ns = max(ends_ns, own_ns)
        return ends_ns

    # -- losses of hosts -----------------------------------------------------------------------------------------------------------

    def strikes(self, host: int, now_ns: int, commit: int, step: str) -> bool:
        """Let the host be lost now, if a fault comes at this step of its commit."""
        loss = next((loss for loss in self.losses if loss.host == host and loss.strikes(commit, step)), None)
        if loss is not None:
            loss.strike(now_ns)
        return loss is not None

    def lost(self, world: World, host: int, now_ns: int, disk_lost: bool) -> None:
        """The processes of a host end at `now_ns`. The core has not lost it yet."""
        if host in self.recovery.commits:
            self.catch_up(world, now_ns)
            self.recovery.lost(world, host, now_ns, disk_lost)

    def started(self, world: World, host: int, now_ns: int) -> None:
        """The processes of a host that was lost are up again, and its instances are empty."""
        if host in self.recovery.commits:
            self.recovery.started(world, host, now_ns)

    def watch(self, losses: Sequence[Loss]) -> None:
        """Be told when a host is lost and when it is up again, and say when a commit has come to a step at which one is to be lost."""
        self.losses = list(losses)
        for loss in losses:
            loss.stores = self

    def _commits_of_hosts(self, experiment: Experiment, world: World) -> dict[int, Commits]:
        """By host: its instances by distance from the sources, as far as they lead to stores. None where records come from another host or
        from a cycle: then no position could be noted here, and commits have nothing to wait for."""
        w, about = world.arrays, self.about
        request_ns = max(1, microseconds_ps(about.sender.request_us) // 1000)
        levels = _levels(experiment, {int(w.inst[task.instance, L.I_OP]) for task in self.tasks})
        found = {}
        for host in self.hosts:
            here = w.inst[:, L.I_HOST] == host
            instances = [np.flatnonzero(here & np.isin(w.inst[:, L.I_OP], level)).tolist() for level in levels]
            channels = np.concatenate([world.entering[i] for level in instances for i in level] or [np.zeros(0, np.int64)])
            own = here[w.chan[channels, L.C_SENDER]].all() and not w.edge[w.chan[channels, L.C_EDGE], L.E_FEEDBACK].any()
            found[host] = Commits(
                [level for level in instances if level and own], about.commit_order == "offset_then_flush", about.is_exact, request_ns
            )
        return found

    def _charge(self, world: World, now_ns: int) -> None:
        for task in self.tasks:
            assert task.store.sender is not None
            fresh = task.store.sender.requests - task.charged
            if fresh:
                task.charged += fresh
                add_background_work(world, task.host, fresh * microseconds_ps(self.about.sender.cpu_us), now_ns)

    def _measure(self, now_ns: int) -> None:
        """Note when the changelogs need more than the broker's disk has."""
        limit_mb = self.about.broker.disk_mb
        if limit_mb is not None and self.full is None:
            for task in self.tasks:
                task.store.advance(now_ns)
            needed = sum(task.store.log.bytes for task in self.tasks)
            self.full = (now_ns, needed) if needed > megabytes_bytes(limit_mb) else None

    def _stall(self, world: World, now_ns: int) -> None:
        """Let instances stand still until the last of their writes has a buffer, and look again soon where only one is left."""
        self._look_ns = now_ns + CHARGE_NS
        for task in self.tasks:
            task.store.advance(now_ns)
            if task.store.tree.is_nearly_full:
                self._look_ns = now_ns + FULL_NS
            ready_ns = task.store.tree.ready_ns
            begins_ns = now_ns if task.stalls_until_ns == L.FAR else task.stalls_until_ns
            if ready_ns > begins_ns and not self.recovery.is_down(task.host):
                task.stalled_ns, task.stalls_until_ns = task.stalled_ns + ready_ns - begins_ns, ready_ns
                hold(world, np.array([task.instance], np.int64), True, now_ns)

    def _go_on(self, world: World, now_ns: int) -> None:
        """End the stalls that are over."""
        for task in self.tasks:
            if task.stalls_until_ns <= now_ns:
                task.stalls_until_ns = L.FAR
                hold(world, np.array([task.instance], np.int64), False, now_ns)

    @property
    def may_fill(self) -> bool:
        return self.about.broker.disk_mb is not None

    @property
    def exhaustion(self) -> str:
        """Message that the broker's disk was full. Empty if it was not."""
        if self.full is None:
            return ""
        at_ns, needed = self.full
        limit = megabytes_bytes(self.about.broker.disk_mb or 0)
        return (
            f"the broker's disk was full at {at_ns / 1e9:.9g} s: the changelogs have {needed:,} bytes, above its {limit:,}; give it more "
            "(policies.state.broker.disk_mb), or compact them (policies.state.changelog.compacted)"
        )

    def _sample(self, world: World, now_ns: int) -> None:
        for task in self.tasks:
            task.store.advance(now_ns)
        self.samples = [self.samples[1], self.counts(world, now_ns)]
        logged = sum(task.store.log.bytes for task in self.tasks)
        self.logged = {
            "count": self.logged["count"] + 1,
            "sum": self.logged["sum"] + logged,
            "max": max(self.logged["max"], logged),
        }

    def counts(self, world: World, now_ns: int) -> dict[str, int]:
        """Since the start of the run. written: bytes that came to disks. broker_ns, worker_ns: what cores of the broker did beside its base
        load, and those of the hosts with stores."""
        w = world.arrays
        busy = w.inst[:, L.I_BUSY].copy()
        accrue(w, now_ns, busy, np.zeros_like(busy), np.zeros_like(busy))
        here = np.isin(w.inst[:, L.I_HOST], self.hosts)
        return {
            "written": sum(write.bytes for task in self.tasks for write in task.store.tree.written),
            "appended": sum(task.store.log.end for task in self.tasks),
            "requests": sum(task.store.sender.requests for task in self.tasks if task.store.sender is not None),
            "passes": 0 if self.broker.cleaner is None else len(self.broker.cleaner.passes),
            "commits": self.commits,
            "broker_ns": self.broker.busy_ns(now_ns),
            "worker_ns": int(busy[here].sum() + background_ns(w, now_ns)[self.hosts].sum()) + self.recovery.restored_ns,
        }

    # -- saving --------------------------------------------------------------------------------------------------------------------

    def state(self) -> Any:
        parts = [
            {
                "cache": task.store.cache,
                "tree": task.store.tree,
                "log": task.store.log,
                "sender": task.store.sender,
                "operations": task.operations.saved(),
                "counts": [
                    task.store.offset,
                    task.store.committed_ns,
                    task.store._under_way,
                    task.charged,
                    task.store.is_ahead,
                    task.store._committed_to,
                    task.stalled_ns,
                    task.stalls_until_ns,
                ],
                "recent": task.store.recent,
                "contents": task.contents,
            }
            for task in self.tasks
        ]
        broker = {"rolls": self.broker._rolls, "cleaner": self.broker.cleaner}
        counts = [self._charge_ns, self.commits, self.committed_ns, self.commit_ns, [[h, at_ns] for h, at_ns in self._commits_ns.items()]]
        counts += [self.full, self._look_ns]
        sampled = [self._sample_ns, self.samples, self.logged]
        adjusted = [self.adjustments.done, self.commit_period_ns, None if self.tuner is None else self.tuner.state()]
        stores = plain([parts, broker], SAVED, NOT_SAVED)
        return {"stores": stores, "counts": counts, "sampled": sampled, "adjusted": adjusted, "recovery": self.recovery.state()}

    def restore(self, state: Any) -> None:
        parts, broker = revived(state["stores"], SAVED)
        for task, part in zip(self.tasks, parts, strict=True):
            store = task.store
            store.cache, store.tree, store.log, store.sender = (part[name] for name in ("cache", "tree", "log", "sender"))
            store.keys = task.operations.keys = store.tree.keys
            store.offset, store.committed_ns, store._under_way, task.charged, store.is_ahead, store._committed_to, *stall = part["counts"]
            task.stalled_ns, task.stalls_until_ns = stall
            task.operations.take_over(*part["operations"])
            store.recent, task.contents = part["recent"], part["contents"]
        self.broker.take_over([task.store.log for task in self.tasks], broker["rolls"], broker["cleaner"])
        self._charge_ns, self.commits, self.committed_ns, self.commit_ns, commits, full, self._look_ns = state["counts"]
        self.full = None if full is None else (full[0], full[1])
        self._sample_ns, self.samples, self.logged = state["sampled"]
        self._commits_ns = {int(h): at_ns for h, at_ns in commits}
        self.recovery.restore(state["recovery"])
        self.adjustments.done, self.commit_period_ns, tuner = state["adjusted"]
        if self.tuner is not None:
            self.tuner.restore(tuner)


@dataclass(frozen=True)
class OfHost:
    """The stores of one host, for its commits."""

    stores: Stores
    host: int

    def write_out(self, now_ns: int) -> int:
        return self.stores.commit(self.host, now_ns)

    def end_commit(self) -> None:
        if self.stores.about.is_exact:
            for task in self.stores.tasks:
                if task.host == self.host:
                    task.store.end_transaction()

    def strikes(self, now_ns: int, commit: int, step: str) -> bool:
        return self.stores.strikes(self.host, now_ns, commit, step)


def _contents(world: World, i: int) -> Contents:
    w = world.arrays
    keeping = world.keepings[int(w.inst[i, L.I_OP])]
    assert keeping is not None
    of_entries, of_rows = keyed_state.places(w, keeping, i)
    width = w.entry.shape[1]
    return Contents(width + w.row.shape[1], [*of_entries, *(width + column for column in of_rows)])


def _levels(experiment: Experiment, stored: set[int]) -> list[list[int]]:
    """Numbers of operators by distance from the sources, of those with stores and all that lead to them."""
    number = {spec.id: n for n, spec in enumerate(experiment.query.operators)}
    before: dict[int, set[int]] = {n: set() for n in number.values()}
    for edge in experiment.query.edges:
        if not edge.feedback:
            before[number[edge.target]].add(number[edge.source])
    order = list(TopologicalSorter(before).static_order())
    leading = set(stored)
    for n in reversed(order):
        leading |= before[n] if n in leading else set()
    distance: dict[int, int] = {}
    for n in order:
        distance[n] = max((distance[other] + 1 for other in before[n]), default=0)
    return [[n for n in sorted(leading) if distance[n] == level] for level in range(max(distance.values()) + 1)]


def _sizes(about: Changelog, spec: OperatorSpec, schemas: Mapping[str, RecordSchema], texts: Callable[[], list[str]]) -> Sizes:
    kind, params = operator(spec.kind), spec.parameters
    inputs = [schemas[f"{spec.id}.{port}"] for port in kind.inputs]
    key = getattr(params, "key", None) if len(inputs) == 1 else params.left_key
    is_text = key is not None and inputs[0].type_of(key) == "string"
    text = about.record_text
    return Sizes(
        text=len(about.key_text.encode()),
        value=8 * len(getattr(params, "aggregates", ())) if about.value_bytes is None else about.value_bytes,
        record=(len(text.replace("{key}", "").encode()),) if text else tuple(schema.bytes for schema in inputs),
        repeats=text.count("{key}"),
        texts=texts if is_text else None,
    )


def _store_settings(about: Changelog, may_crash: bool) -> StoreSettings:
    tree = getattr(about, "tree", None)
    settings = TreeSettings()
    if tree is not None:
        settings = TreeSettings(
            buffer_bytes=max(1, megabytes_bytes(tree.buffer_mb)) if tree.absorbs else 1,
            buffers=tree.buffers,
            compaction=tree.compaction,
            runs_max=tree.runs_max if tree.absorbs else 10**9,
            flush_bytes=scaled(tree.flush_kb, 1000) if tree.absorbs else 0,
            put_share=tree.put_share,
            tombstone_bytes=tree.tombstone_bytes,
            disk_bytes_per_s=tree.disk_mb_per_s * 1e6,
        )
    cache = CacheSettings(batch=about.cache.batch, objects=about.cache.objects)
    stale_ns = milliseconds_ns(about.changelog.delete_retention_ms) if about.changelog.compacted else None
    request_ns = microseconds_ps(about.sender.request_us) // 1000
    return StoreSettings(
        cache,
        settings,
        stale_ns=stale_ns,
        request_ns=max(1, request_ns),
        on_disk=about.has_tree,
        may_crash=may_crash,
        transactional=about.is_exact,
    )


def _log_settings(about: Changelog) -> LogSettings:
    topic = about.changelog
    return LogSettings(
        segment_ns=max(1, milliseconds_ns(topic.segment_ms)),
        segment_bytes=megabytes_bytes(topic.segment_mb),
        dirty_share=topic.dirty_ratio,
        delete_retention_ns=milliseconds_ns(topic.delete_retention_ms),
        tombstone_rule=topic.tombstones,
    )


def _cleaner_settings(about: Changelog) -> CleanerSettings | None:
    """None if no cleaner looks at changelogs."""
    if not about.changelog.compacted:
        return None
    cleaner = about.cleaner
    return CleanerSettings(cleaner.threads, seconds_ns(cleaner.backoff_s), milliseconds_ns(cleaner.setup_ms))


def _broker_settings(about: Changelog) -> BrokerSettings:
    broker = about.broker
    return BrokerSettings(broker.cores, broker.base_share, milliseconds_ns(broker.roll_ms), about.cleaner.setup_spread)
