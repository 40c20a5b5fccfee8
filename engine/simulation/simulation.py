"""A run of one experiment: divided into frames, saved and resumed, forked, and read."""

from __future__ import annotations

import hashlib
import json
import os
import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from engine import rescaling
from engine.autoscaling.telemetry import Watch
from engine.checkpointing.coordinator import COORDINATOR, coordinator_of
from engine.checkpointing.reclamation import reclaim
from engine.checkpointing.setup import ProtocolSetup, build_protocol
from engine.checkpointing.telemetry import telemetry_of
from engine.core import layout as L
from engine.core import weave
from engine.core.control.active_instances import active, set_parallelism
from engine.core.control.actors import Actor, ActorHost, Actors, Agent, Directory, packed, unpacked
from engine.core.control.changes import make_room
from engine.core.control.deadlock import standing_channels
from engine.core.control.host_failure import will_be_back
from engine.core.control.links import held
from engine.core.control.policy import Chooser, Control
from engine.core.tables import ROWS_AHEAD, Capacity, Words
from engine.core.world import World
from engine.faults import fault_controls
from engine.faults.death import Supervisor
from engine.faults.host_loss import HostLossControl
from engine.lowering import memory, plan
from engine.lowering.network import LinkFaults
from engine.lowering.prices import serialises
from engine.operators import BUILT_IN, OPERATORS
from engine.operators.similarity import place_of
from engine.prices import version_of
from engine.profiles import controls as engine_controls
from engine.profiles import under_engine
from engine.scheduling.telemetry import SchedulingWatch
from engine.similarity import hand_over
from engine.similarity.loop import balancer_of
from engine.similarity.spaces import spaces_of
from engine.simulation import scaling_setup, scheduling_setup
from engine.simulation.attribution import Delivery, Topology, Trace
from engine.simulation.collector import collectors
from engine.simulation.source_logs import Logs
from engine.spec import Experiment, RecordField, RecordSchema, canonical_json
from engine.spec.base.family import kind_of
from engine.spec.base.version import ENGINE_VERSION
from engine.spec.experiment.generation import Coordinated
from engine.spec.experiment.retention import KeepFor
from engine.spec.experiment.scaling.base import Scaling
from engine.spec.experiment.scaling.moving import Moving
from engine.spec.experiment.scaling.online_monitor import OnlineMonitor
from engine.spec.rules import max_layout
from engine.spec.rules.copies import written_out
from engine.spec.rules.event_time import calendar_text, event_zero_ns
from engine.spec.rules.validation import Context, load
from engine.state import setup as state_setup
from engine.telemetry.drawn import Drawn
from engine.telemetry.files import Telemetry
from engine.telemetry.frames import Counters, Observer, summary
from engine.telemetry.free_space import note_free_space
from engine.workloads.datasets import lookup
from engine.workloads.generation import GenerationEnds
from engine.workloads.retention import Retention

FIXTURES = Path(__file__).parents[2] / "fixtures" / "data"
EXAMPLES = FIXTURES.parent / "experiments"


class Simulation:
    """Runs one experiment in virtual time.

    document: path, mapping or `Experiment`. datasets: lookup of uploaded files by name (`engine.workloads.datasets.lookup`); default: the
    data sets that come with Millrace. keep_outputs: keep the sinks' deliveries, for `outputs`. trace: keep every service, for
    `service_trace`. capacity: initial sizes of the arrays.
    protocol: kernels woven in for each message (`engine.core.weave.HOOKS`). controls: policies that act between windows.
    actors: global parts such as coordinators, each on a host of its own. agent: handles control messages in instances
    (`engine.core.control.actors`).
    greatest: maximum parallelism of each operator that a control may rescale (`engine.core.control.active_instances`). It does not affect
    results by itself.
    kinds: operator kinds to weave in besides the query's own, so that runs of many queries share one compiled loop. They do not affect
    results.
    Raises `InvalidExperiment` with all problems of the document.
    """

    def __init__(
        self,
        document: Any,
        *,
        datasets: Callable[[str], Any] | None = None,
        keep_outputs: bool = False,
        trace: bool = False,
        capacity: Capacity | None = None,
        protocol: Any = None,
        controls: Sequence[Control] = (),
        actors: Sequence[Actor] = (),
        agent: Agent | None = None,
        kinds: Collection[str] = (),
        greatest: Mapping[str, int] | None = None,
    ):
        capacity = capacity or Capacity()
        self._made_with = {
            "datasets": datasets,
            "capacity": capacity,
            "protocol": protocol,
            "controls": deepcopy(list(controls)),
            "actors": deepcopy(list(actors)),
            "agent": deepcopy(agent),
            "kinds": tuple(kinds),
            "greatest": greatest,
        }
        context = Context(datasets=datasets or lookup([FIXTURES]))
        self.experiment: Experiment = document if isinstance(document, Experiment) else load(document, context)
        self.event_zero_ns = event_zero_ns(self.experiment.workload.sources, context.datasets)  # None: no source reads a data set
        self._executed = under_engine(self.experiment)
        self._written_out = written_out(self._executed)
        begun, scheduled = scaling_setup.beginning(self._written_out, context.datasets)
        most = max_layout.greatest(begun) if greatest is None else dict(greatest)
        laid_out = max_layout.laid_out(begun, most)
        setup = protocol_setup(begun, most)
        if setup.agent is not None and agent is not None:
            raise ValueError("the document names a checkpointing protocol, which has its own agent; pass no other")
        actors, agent = [*setup.actors, *actors], setup.agent or agent
        self._engine = engine_controls(self._written_out)
        faults_and_controls = [*fault_controls(self.experiment), *collectors(self.experiment), *self._engine, *controls]
        features = _features(self._written_out, setup, protocol, actors, agent, faults_and_controls)
        features += [*scheduling_setup.features(self._written_out), *state_setup.features(self._written_out)]
        hosts = [actor.host for actor in actors]
        begins_with, begins = {id: begun.operator(id).parallelism for id in most}, max_layout.begins(begun)
        epochs_kept = max([scheduling_setup.epochs_kept(self._written_out), *(getattr(control, "epochs_kept", 0) for control in controls)])
        self._lower(laid_out, context, capacity, keep_outputs, kinds, features, protocol, hosts, begins_with, begins, epochs_kept)
        if most:
            set_parallelism(self._world, self._plan.parallelism, begins=self._plan.begins)
        setup.prepare(self._world)
        self._start_measuring([host.name for host in hosts], capacity, trace, keep_outputs)

        self._controls: list[Control] = [*self._retention(), *self._generation_ends(), *faults_and_controls]
        self._scaling: Watch | None = None
        if (job := rescaling.job_of(actors)) is not None:
            scales = scaling_setup.scaled_by(self._written_out, begun, scheduled, job, agent, self._controls)
            self._controls, self._scaling = [*self._controls, *scales.controls], scales.watch
        self._balancer = balancer_of(self._written_out, actors)
        if self._balancer is not None:
            self._controls.append(self._balancer)
        self._spaces = spaces_of(self._written_out)
        self._scheduler = scheduling_setup.scheduler_of(self._written_out, self._world.arrays)
        if self._scheduler is not None:
            self._controls.append(self._scheduler)
        self._stores = state_setup.kept_state(self._written_out, self._world, self._plan.schemas, self._plan.strings.as_list)
        self._state = state_setup.watch_of(self._stores, self._world, self._plan.hosts)
        if self._stores is not None:
            self._controls.append(self._stores)
            self._stores.watch([control for control in faults_and_controls if isinstance(control, HostLossControl)])
        self._faults = LinkFaults(self._plan.network.changes)
        self._faults.act(self._world, self.now_ns)
        directory = self._directory([host.name for host in hosts])
        self._actors = Actors(actors, agent, directory, int(self._plan.arrays.g[L.G_ACTORS]))
        self._actors.wind_up(self._world)
        self._checkpoints = telemetry_of(setup.actors, setup.agent, directory.instances, self._plan.hosts, self._written_out)
        cyclic = any(edge.feedback for edge in self.experiment.query.edges)
        bounded = any(edge.capacity is not None for edge in self._written_out.query.edges)
        self._may_deadlock = cyclic and (bounded or self._written_out.policies.flow_control.bounded)
        self._may_die = memory.may_die(self._world.arrays)

    def _lower(
        self,
        laid_out: Experiment,
        context: Context,
        capacity: Capacity,
        keep_outputs: bool,
        kinds: Collection[str],
        features: list[str],
        protocol: Any,
        hosts: Sequence[ActorHost],
        begins_with: Mapping[str, int],
        begins: Mapping[str, int],
        epochs_kept: int,
    ) -> None:
        """Weave the loop and lay out its tables."""
        query = self._written_out.query
        used = {spec.kind for spec in query.operators} | set(kinds) | set(BUILT_IN if weave.shares_loops() else ())
        operators = {kind: operator for kind, operator in OPERATORS.items() if kind in used}
        partitionings = [edge.partitioning for edge in query.edges]
        choices = {kind_of(type(one)): one.choose_receiver for one in partitionings if hasattr(one, "choose_receiver")}
        self._kernels = weave.weave(operators, protocol, features=features, choices=choices)
        self._plan = plan.build(
            laid_out,
            context,
            context.datasets,
            capacity,
            keep_outputs,
            self._kernels,
            features,
            protocol,
            hosts,
            begins_with,
            begins,
            epochs_kept,
        )
        if (self._plan.arrays.host[:, L.H_DISPATCH] != L.DISPATCH_SCAN).any() and "heaps" not in self._kernels.features:
            self._kernels = weave.weave(operators, protocol, features=[*features, "heaps"], choices=choices)
        self._logs = Logs(self._plan)
        keepings = [getattr(OPERATORS[spec.kind], "keeping", None) for spec in laid_out.query.operators]
        self._world = World(self._plan.arrays, keepings, self._logs, self._plan.bounds)

    def _start_measuring(self, actor_hosts: list[str], capacity: Capacity, trace: bool, keep_outputs: bool) -> None:
        """Set the clock to the start of the run, and all counters to zero."""
        workload, measurement = self.experiment.workload, self.experiment.measurement
        services = sum(feed.count for feed in self._plan.feeds.values()) * len(self._plan.operators)
        self._trace_rows = capacity.trace or min(max(services, 1 << 16), ROWS_AHEAD)
        self.observed = trace and keep_outputs  # all outputs and services since the start are kept
        if trace:
            self._world.start_tracing(self._trace_rows)
        self.horizon_ns, self.end_ns, self.frame_ns = workload.horizon_ns, workload.end_ns, measurement.frame_ns
        self.now_ns = -1  # everything up to and including this moment has happened
        self.frame_number = 0
        self.telemetry = Telemetry()
        self._latencies = [further.name for further in measurement.also]
        self._drawn = Drawn(self._executed, self._plan.operators, self._plan.sinks)
        self._observer = Observer(self._drawn, self._plan.hosts, self._plan.network.trunks, actor_hosts, self._latencies)
        self._before = Counters.zero(self._world.arrays)
        self._warm: Counters | None = Counters.zero(self._world.arrays) if workload.warmup_ns == 0 else None
        self._outputs: list[Words] = []
        self.wall_s = 0.0

    # -- running -----------------------------------------------------------------------------------------------------

    @property
    def drained(self) -> bool:
        """Nothing is left to do, now or later. False in a deadlock: its records are left."""
        w = self._world.arrays
        hosts = int(w.g[L.G_ACTORS])  # an actor's timer alone does not keep the run going
        inboxes = w.host[hosts:, L.H_REMOTE_TAIL] > w.host[hosts:, L.H_REMOTE]
        due = any(not self._world.rests(h, self.now_ns) for h in np.flatnonzero(w.next_ns[:hosts] < L.FAR).tolist())
        under_way = due or held(w) > 0 or inboxes.any() or self._actors.waiting or will_be_back(w)
        readers = w.host[w.inst[:, L.I_HOST], L.H_BACK] < L.FAR
        unread = (readers & (w.inst[:, L.I_LOG] < w.inst[:, L.I_LOG_END])).any()  # a full host leaves records in its logs
        passed_over = (w.align[:, L.ALIGN_ASIDE] >= 0).any()  # it waits for a barrier that will never come
        left = under_way or unread or passed_over or self._waits_for_rank() or any(control.holds(self._world) for control in self._engine)
        rescales = self.job is not None and self.job.open is not None
        return self._logs.exhausted and not left and not rescales and not self.deadlock and not self.exhaustion

    def _waits_for_rank(self) -> bool:
        """Whether items wait for an instance that a scheduling policy has not let run; it will."""
        w = self._world.arrays
        paused = (w.tally[:, L.Y_RANK] == L.FAR) & (w.inst[:, L.I_STATUS] != L.DOWN)
        return bool(paused.any() and (w.inst[paused, L.I_QUEUE_COUNT] > 0).any())

    @property
    def _scheduling(self) -> SchedulingWatch:
        assert self._scheduler is not None
        return SchedulingWatch(self._scheduler)

    @property
    def job(self) -> rescaling.Job | None:
        """The rescaling job, or None if the run cannot rescale."""
        return rescaling.job_of(self._actors.actors)

    @property
    def checkpointing(self) -> dict[str, Any] | None:
        """State of the checkpoint coordinator as JSON values (`Coordinator.state`); None without a coordinator."""
        coordinator = coordinator_of(self._actors.actors)
        return None if coordinator is None else coordinator.state()

    @property
    def frame_end_ns(self) -> int:
        """Time at which the next frame is complete."""
        return min((self.frame_number + 1) * self.frame_ns, self.end_ns)

    @property
    def finished(self) -> bool:
        if self.now_ns >= self.end_ns:
            return True
        if self.now_ns <= 0 or self.now_ns % self.frame_ns:
            return False  # only at times that do not depend on how the run is cut
        return (self.now_ns >= self.horizon_ns and self.drained) or bool(self.deadlock or self.exhaustion)

    @property
    def deadlock(self) -> str:
        """Message naming the channels of a cycle that wait for one another and so end the run. Empty without a deadlock."""
        if not self._may_deadlock:
            return ""
        w = self._world.arrays
        channels = standing_channels(w)
        if not len(channels):
            return ""
        names = [f"{self._plan.operators[o]}[{index}]" for o, index in w.inst[:, [L.I_OP, L.I_INDEX]].tolist()]
        standing = [
            f"{names[sender]} -> {names[receiver]}" for sender, receiver in w.chan[channels][:, [L.C_SENDER, L.C_RECEIVER]].tolist()
        ]
        shown = ", ".join(standing[:8]) + (f" and {len(standing) - 8} more" if len(standing) > 8 else "")
        return (
            f"deadlock at {self.now_ns / 1e9:g} s: the channels {shown} are full, and each sender waits for the next; give the channels of "
            "the cycle more credits (policies.flow_control.per_channel), choose unbounded channels, or let fewer records circulate"
        )

    @property
    def deaths(self) -> list[dict[str, Any]]:
        """Hosts that died of running out of memory, by time: host, at_s, used_bytes, limit_bytes, restart_at_s (None: never)."""
        return self._deaths(-1)

    def _deaths(self, since_ns: int) -> list[dict[str, Any]]:
        """Deaths later than `since_ns`."""
        rows = self._world.arrays.memory
        found = [(*rows[h, [L.Z_DIED, L.Z_USED]].tolist(), h, None) for h in memory.dead(self._world.arrays)]
        for supervisor in self._supervisors:
            found += [(died_ns, used, supervisor.host, supervisor.back_ns(died_ns) / 1e9) for died_ns, used in supervisor.deaths]
        return [
            {
                "host": self._plan.hosts[h],
                "at_s": died_ns / 1e9,
                "used_bytes": used,
                "limit_bytes": int(rows[h, L.Z_LIMIT]),
                "restart_at_s": back_s,
            }
            for died_ns, used, h, back_s in sorted(found, key=lambda death: (death[0], death[2]))
            if died_ns > since_ns
        ]

    @property
    def exhaustion(self) -> str:
        """Message naming the hosts that ran out of memory permanently, or the disk that was full, and so ended the run. Empty if there are
        none."""
        if self._stores is not None and self._stores.exhaustion:
            return self._stores.exhaustion
        if not self._may_die or not memory.dead(self._world.arrays):
            return ""
        told = [
            f"{death['host']} at {death['at_s']:.9g} s with {death['used_bytes']:,} bytes, above its limit of {death['limit_bytes']:,}"
            for death in self.deaths
            if death["restart_at_s"] is None
        ]
        shown = "; ".join(told[:8]) + (f"; and {len(told) - 8} more" if len(told) > 8 else "")
        return (
            f"out of memory: {shown}. Give the hosts more memory (cluster.hosts.memory), bound the channels (policies.flow_control), "
            "limit the ingress (policies.ingress), or keep less state"
        )

    def run_until(self, t_ns: int) -> None:
        """Run everything at times <= t_ns (at most the end of the run). The result does not depend on how the run is cut."""
        started = time.perf_counter()
        t_ns = min(t_ns, self.end_ns)
        while self.now_ns < t_ns and not self.finished:
            self._run(min(t_ns, self._next_stop_ns()))
            if self._warm is None and self.now_ns == self.experiment.workload.warmup_ns:
                self._warm = self._counters(self.now_ns)
                self._world.arrays.latency_sums[:, L.SUM_MAX_NS] = 0  # the maximum counts from here
        self.wall_s += time.perf_counter() - started

    def _next_stop_ns(self) -> int:
        """The next time to stop at: the end of the warm-up, the horizon, and the edges of frames at which the run may end."""
        stops = [self.experiment.workload.warmup_ns, self.horizon_ns]
        may_fill = self._stores is not None and self._stores.may_fill
        if self._may_deadlock or self._may_die or may_fill or self.now_ns >= self.horizon_ns:
            stops.append((self.now_ns // self.frame_ns + 1) * self.frame_ns)
        return min(stop for stop in [*stops, self.end_ns] if stop > self.now_ns)

    def _run(self, t_ns: int) -> None:
        supervisors = self._supervisors
        while self.now_ns < t_ns:
            if self.now_ns + 1 >= self._logs.until_ns:
                self._world.arrays = self._logs.load(self._world.arrays)
                reclaim(self._actors.actors, self._world)
            constants = self._plan.texts.cover(self._world.arrays.constants)
            if constants is not self._world.arrays.constants:
                self._world.arrays = self._world.arrays._replace(constants=constants)
            due_ns = min(self._faults.next_ns(self.now_ns), self._actors.next_ns)
            for control in self._controls:
                due_ns = min(due_ns, control.next_ns)
            stop = min(t_ns, self._logs.until_ns - 1, due_ns)
            reason = self._kernels.advance(self._world.arrays, stop)
            if supervisors:
                for supervisor in supervisors:
                    supervisor.look(self._world)
                self._actors.notice(self._world, stop)
            if reason == L.DONE:
                self.now_ns = stop
                due = [control for control in self._controls if control.next_ns == stop]
                for control in due:
                    control.act(self._world, stop)
                if due:
                    self._actors.look(self._world)
                self._faults.act(self._world, stop)
                if due:
                    self._actors.notice(self._world, stop)
                self._actors.deliver(self._world, stop)
            elif reason == L.ACTORS:
                self._actors.act(self._world)
            elif reason == L.CALL_OUT:
                self._actors.answer(self._world)
            elif reason == L.RISEN:
                self._choose_anew()
            elif reason == L.NEED_OUTPUTS:
                self._flush_outputs()
            elif reason == L.NEED_CHANGES and self._stores is not None:
                self._stores.take(self._world)
                make_room(self._world)
            elif reason != L.DEATH:
                self._world.grow(reason)
            if self._world.arrays.g[L.G_LOST] >= 0:
                self._actors.drop_lost_parcels(self._world)

    def _settle_stores(self) -> None:
        if self._stores is not None:
            self._stores.settle(self._world, self.now_ns)

    def _choose_anew(self) -> None:
        """On one host a watched watermark has risen."""
        w = self._world.arrays
        h = int(w.g[L.G_NEED])
        now_ns = int(w.host[h, L.H_RISEN])
        w.host[h, L.H_RISEN] = L.FAR
        for control in self._controls:
            if isinstance(control, Chooser):
                control.choose(self._world, h, now_ns)

    def advance(self) -> dict[str, Any] | None:
        """Run to the end of the next frame (or of the run) and return the live frame; None if the run has ended."""
        if self.finished:
            return None
        edge = self.frame_end_ns
        self.run_until(edge)
        w = self._world.arrays
        now = self._counters(edge)
        since_ns = self._before.t_ns if self.frame_number else -1
        appended = {operator: self._logs.appended(w, operator, edge) for operator in self._plan.feeds}
        frame, rows = self._observer.frame(self.frame_number, w, self._before, now, self._deaths(since_ns), appended)
        if self._checkpoints is not None:
            frame["checkpoints"] = self._checkpoints.frame(w, since_ns, edge, self.finished)
        if self._scaling is not None:
            frame["scaling"] = self._scaling.frame(w, self._logs, now.since(self._before).waits(w), since_ns, edge)
        if self._scheduler is not None:
            frame["scheduling"] = self._scheduling.frame(w, edge)
        if self._balancer is not None:
            frame["balancing"] = self._balancer.frame(since_ns, edge)
        if self._spaces is not None:
            frame["spaces"] = self._spaces.frame(w, since_ns, edge)
        if self._state is not None:
            frame[self._state.name] = self._state.frame(since_ns, edge)
        if self._engine:
            frame["engine"] = {name: value for control in self._engine for name, value in control.frame(since_ns, edge).items()}
        self.telemetry.add(frame, rows, self._plan.sinks, self._latencies, now.histogram - self._before.histogram)
        self._before = now
        self.frame_number += 1
        return frame

    def _directory(self, actors: Sequence[str]) -> Directory:
        w = self._plan.arrays
        rows = w.inst[:, [L.I_OP, L.I_INDEX, L.I_HOST]].tolist()
        instances = tuple((self._plan.operators[o], index, host) for o, index, host in rows)
        first_machine = len(instances) + len(actors)
        machines = tuple(range(first_machine, first_machine + len(self._plan.hosts)))
        channels = tuple(map(tuple, w.chan[:, [L.C_SENDER, L.C_RECEIVER]].tolist()))
        in_use = tuple(np.flatnonzero(active(w)).tolist())
        return Directory(instances, {name: len(instances) + k for k, name in enumerate(actors)}, machines, channels, in_use)

    def _retention(self) -> list[Control]:
        """The controls that drop old records from the logs, if any log does."""
        w = self._plan.arrays
        logs: dict[int, KeepFor] = {}
        for number, operator in enumerate(self._plan.operators):
            source = self._written_out.workload.sources.get(operator)
            if source is not None and isinstance(source.retention, KeepFor):
                first = int(w.op[number, L.O_FIRST])
                logs |= dict.fromkeys(range(first, first + int(w.op[number, L.O_STRIDE])), source.retention)
        return [Retention(logs, len(w.inst))] if logs else []

    @property
    def _supervisors(self) -> list[Supervisor]:
        return [control for control in self._controls if isinstance(control, Supervisor)]

    def _generation_ends(self) -> list[Control]:
        """The controls that stop the generators of sources with coordinated generation, if any."""
        waiting = np.flatnonzero(self._plan.arrays.inst[:, L.I_SHIFT] >= 0).tolist()
        return [GenerationEnds(waiting, self.horizon_ns)] if waiting else []

    def _counters(self, t_ns: int) -> Counters:
        w = self._world.arrays
        dropped = next((control.dropped for control in self._controls if isinstance(control, Retention)), np.zeros(len(w.inst), np.int64))
        active_ns = None if self.job is None else self.job.active_ns(max(t_ns, 0))
        return Counters.read(w, max(t_ns, 0), self._logs.offered(t_ns, w), dropped, active_ns, self._before)

    def again(self, **options: Any) -> Simulation:
        """A new simulation of the same run, at its start. options: additional observation (keep_outputs, trace)."""
        made_with: dict[str, Any] = {
            **self._made_with,
            **{part: deepcopy(self._made_with[part]) for part in ("controls", "actors", "agent")},
        }
        return Simulation(self.experiment, **made_with, **options)

    # -- observing -----------------------------------------------------------------------------------------------------

    def start_tracing(self) -> None:
        """Trace every service that begins from now on; discard the earlier trace."""
        self._world.start_tracing(self._trace_rows)
        self.observed = False

    def stop_tracing(self) -> None:
        """Stop tracing and discard the trace."""
        self._world.stop_tracing()
        self.observed = False

    def drop_trace(self, before_ns: int) -> None:
        """Discard services that ended before a time, as far as that saves memory."""
        self._world.drop_trace(before_ns)
        self.observed = False

    def trace(self) -> Trace:
        """The services traced so far; valid until the run continues. Needs trace=True."""
        self._world.plan_ends()
        w = self._world.arrays
        rows = int(w.g[L.G_TRACE])
        return Trace(w.trace[:rows], self._topology())

    def taken_outputs(self) -> Words:
        """Deliveries since the last call: (n, ..) sink, instance, end_ns, event_ns, trigger, latency_ns. They are not kept here."""
        rows, self._outputs, self.observed = self.output_rows(), [], False
        return rows

    # -- results -----------------------------------------------------------------------------------------------------

    def digest(self) -> str:
        """Hash of the whole logical state, in hex: equal for equal experiments, however they were run."""
        self._settle_stores()
        hasher = hashlib.blake2b(digest_size=32)
        hasher.update(f"{self.experiment.hash} {ENGINE_VERSION} {self.now_ns}".encode())
        for part in ([control.state() for control in self._controls], self._actors.state()):
            state, contents = packed(part)
            hasher.update(canonical_json(state))
            for content in contents:
                hasher.update(hashlib.blake2b(content).digest())
        hasher.update(self._world.digest())
        return hasher.hexdigest()

    def summary(self) -> dict[str, Any]:
        """Metrics by name, after the warm-up where that applies."""
        w = self._world.arrays
        now = self._counters(self.now_ns)
        start = self._warm if self._warm is not None else Counters.zero(w)
        ended = {"drained": self.drained, "deadlock": self.deadlock or None, "exhaustion": self.exhaustion or None}
        found = summary(self._drawn, self._latencies, self._plan.hosts, w, start, now)
        deaths = Counter(death["host"] for death in self.deaths)
        for name, of_host in found["memory"].items():
            of_host["deaths"] = deaths[name]
        if self._checkpoints is not None:
            exchanged_bytes = self._actors.exchanged_bytes[COORDINATOR]
            found["checkpointing"] = self._checkpoints.summary(w, exchanged_bytes, start.t_ns, self.now_ns)
        if self._scaling is not None:
            found["scaling"] = self._scaling.summary(self.now_ns)
        if self._scheduler is not None:
            found["scheduling"] = self._scheduling.summary(w, self.now_ns)
        if self._balancer is not None:
            found["balancing"] = self._balancer.summary()
        if self._state is not None:
            found[self._state.name] = self._state.summary(self._world, self.now_ns)
        if self._engine:
            found["engine"] = {name: value for one in self._engine for name, value in one.summary(start.t_ns, self.now_ns).items()}
        if self.event_zero_ns is not None:
            found["event_zero"] = calendar_text(self.event_zero_ns)
        return {**found, **ended, "wall_s": round(self.wall_s, 3)}

    def service_trace(self, with_trigger: bool = False) -> Words:
        """Every service so far: (n, 4) instance, start_ns, end_ns, kind (0 record, 1 watermark, 2 tick, 3 end of log), by start, then
        instance. The end of a service in progress is the planned one, or 2^62 under processor sharing.

        with_trigger adds a column with the identity of the input record (-1 for control elements). Needs trace=True.
        """
        columns = self.trace().columns()
        names = ("instance", "start_ns", "end_ns", "kind", "trigger")[: 5 if with_trigger else 4]
        return np.stack([columns[name] for name in names], axis=1)

    @property
    def sinks(self) -> list[str]:
        return self._plan.sinks

    def _topology(self) -> Topology:
        w = self._world.arrays
        operators = [self._plan.operators[o] for o in w.inst[:, L.I_OP]]
        senders, receivers = (np.ascontiguousarray(w.chan[:, end]) for end in (L.C_SENDER, L.C_RECEIVER))
        ingests = np.array([spec.kind == "receiver" for spec in self._plan.experiment.query.operators], np.int64)[w.inst[:, L.I_OP]]
        clock = self.experiment.measurement.latency.clock
        return Topology(operators, w.inst[:, L.I_INDEX], ingests, senders, receivers, clock)

    def deliveries(self) -> list[Delivery]:
        """The records that all sinks delivered, by end, then instance. Needs keep_outputs=True."""
        return self.as_deliveries(self.output_rows())

    def as_deliveries(self, rows: Words) -> list[Delivery]:
        """Rows of `taken_outputs` as records, by end, then instance."""
        index_of = self._world.arrays.inst[:, L.I_INDEX]
        return [
            Delivery(self._plan.sinks[sink], int(index_of[instance]), trigger, end_ns, latency_ns)
            for sink, instance, end_ns, _, trigger, latency_ns in rows[np.lexsort((rows[:, 1], rows[:, 2])), :6].tolist()
        ]

    def sink_rows(self, sink: str) -> Words:
        """Deliveries of a sink, in words: instance, end_ns, event_ns, trigger, latency_ns, then the fields, then the
        further latencies; by end, then instance."""
        rows = self.output_rows()
        rows = rows[rows[:, 0] == self._plan.sinks.index(sink)]
        rows = rows[np.lexsort((rows[:, 1], rows[:, 2]))]
        width = len(self.sink_schema(sink).fields)
        last = rows.shape[1] - 1
        further = range(last, last - len(self._latencies), -1)
        chosen: Words = rows[:, [1, 2, 3, 4, 5, *range(L.OUTPUT_HEADER, L.OUTPUT_HEADER + width), *further]]
        return chosen

    def sink_schema(self, sink: str) -> RecordSchema:
        return self._plan.schemas[f"{sink}.in"]

    def outputs(self, sink: str) -> pa.Table:
        """The records that a sink delivered, decoded; with end_ns, event_ns, trigger, latency_ns and instance as `_end_ns`, ..., and the
        further latencies as `_name_ns`. Needs keep_outputs=True."""
        rows, schema = self.sink_rows(sink), self.sink_schema(sink)
        columns: dict[str, Any] = {field.name: self._decode(rows[:, 5 + c], field) for c, field in enumerate(schema.fields)}
        for c, name in enumerate(("instance", "end_ns", "event_ns", "trigger", "latency_ns")):
            columns[f"_{name}"] = pa.array(rows[:, c])
        for c, name in enumerate(self._latencies):
            columns[f"_{name}_ns"] = pa.array(rows[:, 5 + len(schema.fields) + c])
        return pa.table(columns)

    def sink_records(self, sink: str) -> list[dict[str, Any]]:
        """The same as a list of dicts: end_ns, instance, event_ns, trigger, latency_ns, values (tuple in the schema's order), further_ns
        (the further latencies)."""
        rows, schema = self.sink_rows(sink), self.sink_schema(sink)
        fields = [self._decode(rows[:, 5 + c], field).to_pylist() for c, field in enumerate(schema.fields)]
        values = list(zip(*fields, strict=True)) if fields else [()] * len(rows)
        names = ("end_ns", "instance", "event_ns", "trigger", "latency_ns")
        return [
            dict(zip(names, (row[1], row[0], *row[2:5]), strict=True)) | {"values": v, "further_ns": tuple(row[5 + len(schema.fields) :])}
            for row, v in zip(rows.tolist(), values, strict=True)
        ]

    def _decode(self, words: Words, field: RecordField) -> pa.Array:
        words, type = np.ascontiguousarray(words), field.type
        if type == "vector":
            w = self._world.arrays
            places = np.array([place_of(w.point_first, word, field.dimensions) for word in words.tolist()], np.int64)
            coordinates = w.points_f[places[:, None] + np.arange(field.dimensions)]
            return pa.FixedSizeListArray.from_arrays(coordinates.reshape(-1), field.dimensions)
        if type == "float":
            return pa.array(words.view(np.float64))
        if type == "bool":
            return pa.array(words != 0)
        if type == "string":
            return pa.array(self._plan.strings.texts(words), pa.string())
        return pa.array(words)

    def output_parts(self) -> list[Words]:
        """All deliveries not yet taken, in consecutive pieces. Columns as in `taken_outputs`, followed by the words of the fields."""
        self._flush_outputs()
        return self._outputs

    def output_rows(self) -> Words:
        """The rows of `output_parts` in one array."""
        self._outputs = [np.concatenate(self.output_parts())]
        return self._outputs[0]

    def _flush_outputs(self) -> None:
        self._outputs.append(self._world.taken_outputs())

    # -- saving, resuming, forking ----------------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Words]:
        """All state as arrays, for `restore`."""
        self._flush_outputs()
        self._settle_stores()
        state = {f"world.{name}": array for name, array in self._world.snapshot().items()}
        for name, counters in (("before", self._before), ("warm", self._warm)):
            if counters is not None:
                state |= {f"{name}.{key}": words.copy() for key, words in counters.as_words().items()}
        state["outputs"] = np.concatenate(self._outputs)
        about = {
            "experiment": self.experiment.hash,
            "engine": version_of(self.experiment.price_list),
            "layout": weave.WIDTHS,
            "now_ns": self.now_ns,
            "frame_number": self.frame_number,
            "logs": self._logs.state(),
            "wall_s": self.wall_s,
            "telemetry": self.telemetry.state(),
            "observed": self.observed,
        }
        parts, contents = packed({"controls": [control.state() for control in self._controls], "actors": self._actors.state()})
        about |= parts
        for number, content in enumerate(contents):
            state[f"content.{number}"] = np.frombuffer(content, np.uint8)
        state["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
        return state

    def restore(self, state: dict[str, Words]) -> None:
        """Restore a snapshot of the same experiment. Raises ValueError for another experiment or engine version."""
        about = json.loads(state["about"].tobytes())
        for what, mine in (("experiment", self.experiment.hash), ("engine", version_of(self.experiment.price_list))):
            if about[what] != mine:
                raise ValueError(f"the snapshot's {what} is {about[what]}, this run's is {mine}; restore it into the run that wrote it")
        if about.get("layout") != weave.WIDTHS:
            raise ValueError("the snapshot was written by a build of the engine with other tables; restore it into that one")
        self._world.restore({name.removeprefix("world."): array for name, array in state.items() if name.startswith("world.")})
        groups = {
            name: {k.removeprefix(f"{name}."): v for k, v in state.items() if k.startswith(f"{name}.")} for name in ("before", "warm")
        }
        self._before = Counters.from_words(groups["before"])
        self._warm = Counters.from_words(groups["warm"]) if groups["warm"] else None
        self._outputs = [state["outputs"].copy()]
        self.observed = self.observed and about["observed"]
        self.now_ns, self.frame_number, self.wall_s = about["now_ns"], about["frame_number"], about["wall_s"]
        self._logs.restore(about["logs"])
        self.telemetry = Telemetry.from_state(about["telemetry"])
        contents = [state[f"content.{n}"].tobytes() for n in range(sum(name.startswith("content.") for name in state))]
        for control, state_of_control in zip(self._controls, unpacked(about["controls"], contents), strict=True):
            control.restore(state_of_control)
        self._actors.restore(unpacked(about["actors"], contents))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a snapshot as one file, array by array. Readers see the old file or the new one, never a partial one.

        A process killed while writing leaves a file `<name>.<random>.tmp` next to it. Raises OSError.
        """
        target = Path(path)
        temporary = target.with_name(f"{target.name}.{uuid.uuid4().hex[:12]}.tmp")
        try:
            with temporary.open("xb") as file:
                np.savez(file, **self.snapshot())  # type: ignore[arg-type]
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException as error:
            note_free_space(error, target.parent)
            temporary.unlink(missing_ok=True)
            raise

    @classmethod
    def resume(cls, document: Any, path: str | os.PathLike[str], **options: Any) -> Simulation:
        """A simulation that continues from a saved snapshot, with identical results."""
        simulation = cls(document, **options)
        with np.load(path) as state:
            simulation.restore(dict(state))
        return simulation

    def fork(self) -> Simulation:
        """An independent copy of the current state."""
        copy = object.__new__(Simulation)
        copy.__dict__.update(self.__dict__)
        copy._logs = self._logs.fork()
        copy._world = World(self._world.arrays, self._world.keepings, copy._logs, self._world.bounds)
        parts = self._controls, self._actors, self._checkpoints, self._scaling, self._scheduler, self._balancer, self._stores
        parts = deepcopy(parts)  # some refer to one another
        copy._controls, copy._actors, copy._checkpoints, copy._scaling, copy._scheduler, copy._balancer, copy._stores = parts
        copy._state = state_setup.watch_of(copy._stores, copy._world, copy._plan.hosts)
        copy.restore(self.snapshot())
        return copy


def protocol_setup(experiment: Experiment, greatest: Mapping[str, int]) -> ProtocolSetup:
    """The setup of a run's checkpointing protocol, with a job manager if its parallelism may change; of balancing that moves records."""
    scaling = experiment.policies.scaling
    if isinstance(scaling, Scaling | Moving):
        return rescaling.build_protocol(experiment, scaling, greatest, max_layout.begins(experiment))
    return hand_over.build_protocol(experiment) or build_protocol(experiment, greatest)


def _features(
    experiment: Experiment, setup: ProtocolSetup, protocol: Any, actors: Sequence[Actor], agent: Agent | None, controls: Sequence[Any]
) -> list[str]:
    """Features of the event loop that the run needs (`engine.core.weave.FEATURES`)."""
    features = ["actors", *setup.features] if actors or agent is not None or getattr(protocol, "messages_max", 0) > 0 else []
    if any(isinstance(source.generation, Coordinated) for source in experiment.workload.sources.values()):
        features.append("coordinated")
    if isinstance(experiment.policies.scaling, Moving):
        features.append("moves")
    if isinstance(experiment.policies.scaling, OnlineMonitor):
        features.append("counting")  # it reads the traffic of edges
    if experiment.measurement.also:
        features.append("latencies")
    if memory.is_looked_at(experiment):
        features.append("memory")
    if any(spec.cost is not None and spec.cost.attainable < 1 for spec in experiment.query.operators):
        features.append("stolen")
    if any(hasattr(OPERATORS[spec.kind], "make_output") for spec in experiment.query.operators):
        features.append("pending")
    if serialises(experiment) and len(experiment.expanded_hosts()) > 1:
        features.append("serialising")
    features += [feature for edge in experiment.query.edges for feature in edge.partitioning.features]
    return features + [feature for control in controls for feature in getattr(control, "features", ())]
