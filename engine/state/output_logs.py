"""The output logs of a run's operators, and recovery from them: windows come from the log, and their senders send again what is missing.

A control, as `engine.state.stores`. An output log outlives hosts, and so do the channels' logs of what senders have sent
(`engine.core.kernels.channel_log`). A record that is sent again changes only those windows whose checkpoint does not include it.

Source: Chronarakis 2019, 3.3 (specification of incremental checkpointing, A9 and B8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from engine.core import layout as L
from engine.core.control import instance_checkpoint, keyed_state
from engine.core.control.background import add_background_work
from engine.core.control.changes import note_changes, taken_changes
from engine.core.control.under_way import ends_under_way
from engine.core.kernels import channel_log, host_failure
from engine.core.tables import Words
from engine.core.world import World
from engine.spec import Experiment, RecordSchema
from engine.spec.base.operator_kinds import operator
from engine.spec.base.units import microseconds_ps, seconds_ns
from engine.spec.experiment.query import OperatorSpec
from engine.spec.experiment.states.replayed import ReplayedState

from .commits import serves_since_ns
from .output_log import Bounds, LogRecord, OutputLog
from .recovery import Outage, newest_of
from .saving import named, plain, revived
from .store import Restored
from .stores import CHARGE_NS, Loss
from .windows_log import Content, Sizes, WindowsLog

SAVED = named([Bounds, Content, LogRecord, OutputLog, Sizes, WindowsLog])


@dataclass
class LoggedInstance:
    """An instance with its output log. senders: by channel, the index of who sends on it. charged: records that its host was charged for.
    floor: what no recovery needed when it was noted, and when that was: number of a log record, records by sender."""

    instance: int
    name: str
    host: int
    output: WindowsLog
    senders: dict[int, int]
    charged: int = 0
    floor: tuple[int, int, list[int]] = field(default=(0, 0, []))


class OutputLogs:
    """tasks: the instances with output logs. hosts: theirs, and those that receive their results. samples: counts at the ends of the last
    two frames. outages: of the run, in order. open: by host, those that are not over."""

    may_fill, exhaustion = False, ""  # their logs have as much room as they need

    def __init__(self, experiment: Experiment, world: World, schemas: Mapping[str, RecordSchema]):
        """schemas: by "operator.port"."""
        about = experiment.policies.state
        assert isinstance(about, ReplayedState)
        self.about, w = about, world.arrays
        self._may_crash = any(fault.loses_host for fault in experiment.faults)
        self._end_ns = experiment.workload.end_ns
        stored = {
            n: spec
            for n, spec in enumerate(experiment.query.operators)
            if operator(spec.kind).keeping is not None and (not about.operators or spec.id in about.operators)
        }
        here = np.flatnonzero(np.isin(w.inst[:, L.I_OP], list(stored))).tolist()
        self.tasks = [self._task(world, i, stored[int(w.inst[i, L.I_OP])], schemas) for i in here]
        self._of_instance = {task.instance: task for task in self.tasks}
        self._sender_of = w.inst[w.chan[:, L.C_SENDER], L.I_INDEX]
        self._kept = self._kept_channels(world)
        self.hosts = np.unique(w.inst[w.chan[self._kept, L.C_RECEIVER], L.I_HOST]).tolist()
        w.gate[: len(w.chan), L.Q_LOG] = np.where(self._kept & self._may_crash, 0, -1)
        note_changes(world, dict.fromkeys(stored, (0, 0, 0)), with_content=self._may_crash)
        self.losses: list[Loss] = []
        self.outages: list[Outage] = []
        self.open: dict[int, Outage] = {}
        self._charge_ns = CHARGE_NS
        self._frame_ns = self._sample_ns = experiment.measurement.frame_ns
        self.samples = [self.counts()] * 2

    def _task(self, world: World, i: int, spec: OperatorSpec, schemas: Mapping[str, RecordSchema]) -> LoggedInstance:
        w, about = world.arrays, self.about
        params: Any = spec.parameters
        channels = world.entering[i].tolist()
        senders = {c: int(w.inst[w.chan[c, L.C_SENDER], L.I_INDEX]) for c in channels}
        value = 8 * len(params.aggregates) if about.value_bytes is None else about.value_bytes
        sizes = Sizes(len(about.key_text.encode()), value, schemas[f"{spec.id}.out"].bytes, seconds_ns(params.window.size_s))
        log = WindowsLog(OutputLog(Bounds(*about.bounds)), sizes, np.zeros(max(senders.values(), default=0) + 1, np.int64))
        return LoggedInstance(i, f"{spec.id}[{w.inst[i, L.I_INDEX]}]", int(w.inst[i, L.I_HOST]), log, senders)

    def _kept_channels(self, world: World) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which channels lead to an instance with an output log, or from one."""
        w = world.arrays
        logged = np.zeros(len(w.inst), bool)
        logged[[task.instance for task in self.tasks]] = True
        found: np.ndarray[Any, np.dtype[np.bool_]] = logged[w.chan[:, L.C_SENDER]] | logged[w.chan[:, L.C_RECEIVER]]
        return found

    # -- as a control --------------------------------------------------------------------------------------------------------------

    @property
    def next_ns(self) -> int:
        ready_ns = min((outage.ready_ns for outage in self.open.values()), default=L.FAR)
        due_ns = min(self._charge_ns, self._sample_ns, ready_ns)
        return due_ns if due_ns <= self._end_ns else L.FAR

    def act(self, world: World, now_ns: int) -> None:
        self.take(world)
        for host, outage in list(self.open.items()):
            if outage.ready_ns <= now_ns:
                outage.again = self._go_on(world, host, now_ns)
                del self.open[host]
        if self._charge_ns <= now_ns:
            self._charge_ns = now_ns + CHARGE_NS
            self._charge(world, now_ns)
            self._trim(world, now_ns)
        if self._sample_ns <= now_ns:
            self._sample_ns = min(now_ns + self._frame_ns, self._end_ns) if now_ns < self._end_ns else L.FAR
            self.samples = [self.samples[1], self.counts()]

    def take(self, world: World) -> None:
        """Bring all changes so far into the logs."""
        changes, words = taken_changes(world)
        if not len(changes):
            return
        senders = self._sender_of[changes[:, L.CHANGE_CHANNEL]]
        order = np.argsort(changes[:, L.CHANGE_INSTANCE], kind="stable")
        whose, first = np.unique(changes[order, L.CHANGE_INSTANCE], return_index=True)
        for i, rows in zip(whose.tolist(), np.split(order, first[1:]), strict=True):
            if (task := self._of_instance.get(i)) is not None:
                task.output.take(changes[rows], senders[rows], None if words is None else self._content(world, task, words[rows]))

    def _content(self, world: World, task: LoggedInstance, words: Words) -> Words:
        """Of changes, (n, columns of entries and rows), what they have made of the entry, without where that lies."""
        w = world.arrays
        keeping = world.keepings[int(w.inst[task.instance, L.I_OP])]
        assert keeping is not None
        found = words[:, : w.entry.shape[1]].copy()
        found[:, keyed_state.places(w, keeping, task.instance)[0]] = 0
        return found

    def catch_up(self, world: World, now_ns: int) -> None:
        self.take(world)

    def settle(self, world: World, now_ns: int) -> None:
        """The same, and order what is in no order of its own, so that the state does not depend on how the run was cut."""
        self.take(world)
        for task in self.tasks:
            task.output.settle()

    def _charge(self, world: World, now_ns: int) -> None:
        """Let hosts work for the records about windows that were written."""
        for task in self.tasks:
            written = task.output.log.end - task.output.results
            if written > task.charged and task.host not in self.open:
                add_background_work(world, task.host, (written - task.charged) * microseconds_ps(self.about.costs.write_us), now_ns)
            task.charged = max(task.charged, written)

    def _trim(self, world: World, now_ns: int) -> None:
        """Forget what no recovery needs any more, of logs and of what senders keep. A crash takes the service in progress back, so what was
        needed before it began stays."""
        w = world.arrays
        first = np.zeros(len(w.gate), np.int64)
        served = w.carried[: len(w.chan), L.SEQ_PROCESSED] - 1  # less the one in service, which a lost sink asks for again
        first[: len(w.chan)] = np.where(self._kept, served, 0)
        for task in self.tasks:
            since_ns = serves_since_ns(w, task.instance)
            noted_ns, number, seen = task.floor
            is_safe = task.host not in self.open and (since_ns is None or since_ns > noted_ns)
            if is_safe:
                task.output.trim(number)
                task.floor = now_ns, task.output.log.end - task.output.log.extent, task.output.least_seen().tolist()
            for c, sender in task.senders.items():
                first[c] = seen[sender] if is_safe and seen else 0
        if self._may_crash:
            channel_log.forget_before(w, first)

    # -- losses of hosts -----------------------------------------------------------------------------------------------------------

    def watch(self, losses: Sequence[Loss]) -> None:
        """Be told when a host is lost and when it is up again."""
        self.losses = list(losses)
        for loss in losses:
            loss.stores = self

    def lost(self, world: World, host: int, now_ns: int, disk_lost: bool) -> None:
        """The processes of a host end at `now_ns`. The core has not lost it yet."""
        if host not in self.hosts:
            return
        self.take(world)
        for task in self._here(host):
            task.output.crash(serves_since_ns(world.arrays, task.instance))
        self._not_delivered(world, host)
        before = self.open.get(host)
        if before is not None and before.started_ns == L.FAR:  # it is down already
            return
        if before is not None:
            before.ready_ns = L.FAR
        self.open[host] = Outage(host, now_ns, disk_lost, 0, 0)
        self.outages.append(self.open[host])

    def _not_delivered(self, world: World, host: int) -> None:
        """Results in service at a sink of the host do not count as served: they are to be sent again."""
        w = world.arrays
        for p in range(*w.host[host, [L.H_PROCESSOR, L.H_PROCESSOR_END]].tolist()):
            slot = int(w.proc[p, L.P_SLOT])
            if w.proc[p, L.P_INSTANCE] >= 0 and slot >= 0 and w.msg[slot, L.M_KIND] == L.RECORD:
                c = int(w.msg[slot, L.M_CHANNEL])
                w.carried[c, L.SEQ_PROCESSED] = min(w.carried[c, L.SEQ_PROCESSED], w.msg[slot, L.M_SEQUENCE])

    def started(self, world: World, host: int, now_ns: int) -> None:
        """The processes of a host are up. Its instances stand still until their logs are read, as many at a time as it has cores."""
        if host not in self.hosts:
            return
        instance_checkpoint.stop(world, host, now_ns, None)
        outage, costs = self.open[host], self.about.costs
        outage.started_ns = now_ns
        first, end = world.arrays.host[host, [L.H_PROCESSOR, L.H_PROCESSOR_END]].tolist()
        free_ns = [now_ns] * (end - first)
        for task in self._here(host):
            records, read_bytes = task.output.recover()
            took_ns = records * costs.read_us * 1000 + read_bytes * costs.read_byte_ns
            took_ns += len(task.output.contents) * costs.load_us * 1000
            outage.restored[task.name] = Restored("output_log", "", records, read_bytes, round(took_ns))
            free_ns[free_ns.index(min(free_ns))] += round(took_ns)
        outage.ready_ns = max(max(free_ns), now_ns + 1)

    def _here(self, host: int) -> list[LoggedInstance]:
        return [task for task in self.tasks if task.host == host]

    def _go_on(self, world: World, host: int, now_ns: int) -> int:
        """Put the windows into the instances, and let senders send again what is missing. Returns how many records that is."""
        host_failure.lose_incoming(world.arrays, host)  # all that is for this host is sent again, in its order
        instance_checkpoint.stop(world, host, now_ns, None)  # and so is what has come in the meantime
        w = world.arrays
        for task in self._here(host):
            _put(world, task)
            for c, sender in task.senders.items():
                w.carried[c, L.SEQ_PROCESSED] = task.output.seen[sender]
        of_host = w.inst[:, L.I_HOST] == host
        into, out_of = of_host[w.chan[:, L.C_RECEIVER]], of_host[w.chan[:, L.C_SENDER]]
        channels = np.flatnonzero(self._kept & (into | out_of))
        first_missing = np.maximum(w.carried[channels, L.SEQ_PROCESSED], ends_under_way(world)[channels])
        ends = w.carried[channels, L.SEQ_SENT].tolist()
        missing = [[c, first, end] for c, first, end in zip(channels.tolist(), first_missing.tolist(), ends, strict=True) if end > first]
        again = [one for one in missing if into[one[0]]]
        instance_checkpoint.send_again(world, missing, now_ns)
        marked = world.arrays.inst[world.arrays.chan[channels, L.C_SENDER], L.I_WATERMARK] > -L.FAR
        instance_checkpoint.send_marks_on(world, channels[into[channels] & marked], now_ns)
        instance_checkpoint.resume(world, host, now_ns)
        return sum(end - first for _, first, end in again)

    # -- for telemetry -------------------------------------------------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        """Since the start of the run. written: records of all logs. about: those about windows, the others are results."""
        return {
            "written": sum(task.output.log.end for task in self.tasks),
            "about": sum(task.output.log.end - task.output.results for task in self.tasks),
            "checkpoints": sum(task.output.log.checkpoints for task in self.tasks),
            "bytes": sum(task.output.written_bytes for task in self.tasks),
        }

    # -- saving --------------------------------------------------------------------------------------------------------------------

    def state(self) -> Any:
        tasks = [[task.output, task.charged, list(task.floor)] for task in self.tasks]
        return {
            "tasks": plain(tasks, SAVED),
            "times": [self._charge_ns, self._sample_ns, self.samples],
            "outages": [asdict(outage) for outage in self.outages],
            "open": list(self.open),
        }

    def restore(self, state: Any) -> None:
        for task, (output, charged, floor) in zip(self.tasks, revived(state["tasks"], SAVED), strict=True):
            task.output, task.charged, task.floor = output, charged, tuple(floor)
        self._charge_ns, self._sample_ns, self.samples = state["times"]
        self.outages = [Outage.revived(outage) for outage in state["outages"]]
        self.open = newest_of(self.outages, state["open"])


def _put(world: World, task: LoggedInstance) -> None:
    """Put the windows that the log has checkpoints of into the instance, whose state is empty."""
    i, w = task.instance, world.arrays
    w.inst[i, L.I_WATERMARK] = task.output.closed_ns
    inputs = w.inputs[w.input_first[i] : w.input_first[i + 1]]
    w.chan[inputs, L.C_WATERMARK] = np.maximum(w.chan[inputs, L.C_WATERMARK], task.output.closed_ns)
    if not task.output.contents:
        return
    keeping = world.keepings[int(w.inst[i, L.I_OP])]
    assert keeping is not None
    windows = sorted(task.output.contents, key=lambda window: (window[1], window[0]))
    first = int(w.g[L.G_COVERED])
    entries = np.array([task.output.contents[window] for window in windows])
    covered = np.array([task.output.covered[window] for window in windows])
    entries[:, first : first + covered.shape[1]] = covered
    sides = len(keyed_state.counts_of_rows(w, i))
    counts = np.zeros((len(entries), sides), np.int64)
    keyed_state.put(world, keeping, i, keyed_state.assembled(world, keeping, i, entries, w.row[:0].copy(), counts))
