"""The model of docs/event-core.md, one record at a time, on SimPy. Slow, and short enough to be checked against the page by eye.

It shares with the engine the document's models, placement, the price lists and the generated input; nothing of how events are ordered,
served, sent, computed or aggregated.
"""

from __future__ import annotations

import functools
import heapq
import math
import types
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from engine.profiles import under_engine
from engine.spec import Experiment
from engine.spec.rules.copies import written_out

from .actors import Actors, Control, Party, Wire
from .build import Network, behaviour_of, build
from .environment import Phase, StructuralEnvironment
from .noise import drift_factor, noise_factor, noise_word
from .plan import AFTER_DEATH, Channel, Edge, Epochs, Host, Instance, Link, Log, Processor, integer, milliseconds, seconds
from .records import (
    CONTROL_BYTES,
    END_OF_LOG_WATERMARK,
    LOWEST_WATERMARK,
    Anchors,
    Barrier,
    Item,
    ItemClass,
    Kind,
    Marker,
    Record,
    Watermark,
)
from .sharing import SharedCores

UNKNOWN_NS = 1 << 62


def no_work() -> bool:
    return False


def unsent_of(control: list[Any]) -> list[tuple[int, int]]:
    """Of control messages and barriers to be sent, with all copies of each: how many, and the bytes."""
    return [(len(copies), getattr(copies[0][1], "size_bytes", CONTROL_BYTES)) for copies in control if copies]


@dataclass(frozen=True)
class Delivery:
    """A record that a sink delivered. trigger: the input record that caused it, as its feed numbers it."""

    end_ns: int
    instance: int
    event_ns: int
    trigger: int
    latency_ns: int
    values: tuple[Any, ...]
    further_ns: tuple[int, ...] = ()  # the latencies of `measurement.also`, in order


@dataclass
class Packet:
    """A message on its way. fifo: the sender's running count. transmission_ns: how long FIFOs took over it."""

    channel: Channel | Wire
    message: Record | int | Control | Barrier
    fifo: int
    sent_ns: int
    transmission_ns: int = 0
    left_ns: float = math.inf  # when it left its host ...
    arrival_ns: float = math.inf  # ... and when it is to arrive
    sender_life: int = 0
    lost: bool = False

    @property
    def bytes(self) -> int:
        if isinstance(self.message, Control):
            return self.message.size_bytes
        return self.channel.edge.bytes + self.channel.edge.envelope_bytes if isinstance(self.message, Record) else CONTROL_BYTES


@dataclass
class OracleResult:
    """What a run did.

    services: (instance, start_ns, end_ns, kind), by start, then instance; kind as in `Kind`. Services that the end cut off are in it,
    with the planned end (under processor sharing: 2^62).
    triggers: for each service the trigger of its record, None for other items.
    origins: for each service where its item came from (`Item.origin`), then since when the instance had been idle, and the service's work.
    outputs: per sink its deliveries, by end, then instance.
    late, lost, unsent: dropped or lost records per operator. errors: evaluations that met one, of all operators.
    state_bytes: of each instance at the end.
    queued: per instance, how many items of each kind wait at the end, those in the log included. marks_in_logs: of them, watermarks and
    latency markers there.
    served: per operator, records whose service started. topic_waits_ns: of those of logs, in that order, from their append to then.
    blocked_count: how often a sender had to wait for a credit.
    end_ns: the time of the last event, at least the horizon. drained: nothing was left to do.
    memory: of each host that was looked at its number, bytes used, most bytes used, whether it is full, and since when it is dead for ever
    (-1: it is not). deaths: of each its time, the host's number and the bytes used.
    shed: records that sources on full hosts threw away, per operator.
    deadlock: (sender, receiver) of the channels of a cycle whose senders wait for one another at the end.
    watermark_waits_ns: per sink, for each sweeping watermark its latencies from event, append and ingest.
    marker_waits_ns: likewise of latency markers.
    epochs: per source instance (number), what `Epochs` says of each.
    background: per host.
    """

    services: list[tuple[int, int, int, int]] = field(default_factory=list)
    triggers: list[int | None] = field(default_factory=list)
    origins: list[tuple[int, ...]] = field(default_factory=list)
    outputs: dict[str, list[Delivery]] = field(default_factory=dict)
    late: dict[str, int] = field(default_factory=dict)
    lost: Counter[str] = field(default_factory=Counter)
    unsent: Counter[str] = field(default_factory=Counter)
    errors: int = 0
    state_bytes: list[int] = field(default_factory=list)
    memory: list[tuple[int, int, int, bool, int]] = field(default_factory=list)
    deaths: list[tuple[int, int, int]] = field(default_factory=list)
    shed: Counter[str] = field(default_factory=Counter)
    queued: list[Counter[Kind]] = field(default_factory=list)
    marks_in_logs: int = 0
    served: Counter[str] = field(default_factory=Counter)
    topic_waits_ns: list[int] = field(default_factory=list)
    blocked_count: int = 0
    end_ns: int = 0
    drained: bool = False
    deadlock: list[tuple[int, int]] = field(default_factory=list)
    watermark_waits_ns: dict[str, list[dict[str, int]]] = field(default_factory=dict)
    marker_waits_ns: dict[str, list[dict[str, int]]] = field(default_factory=dict)
    epochs: dict[int, list[tuple[int, ...]]] = field(default_factory=dict)
    background: list[BackgroundAtEnd] = field(default_factory=list)


@dataclass(frozen=True)
class BackgroundAtEnd:
    """spent_ns: with all of the work that is under way, which ends at end_ns (None: there is none). waiting_ns: how long the next will
    take. died_ns: of a host that is dead for ever. paused_until_ns: until then the host does nothing."""

    spent_ns: int
    end_ns: int | None
    waiting_ns: int
    died_ns: int | None
    paused_until_ns: int = 0

    def before_ns(self, at_ns: int) -> int:
        """What was spent before a time at which nothing but background work can have gone on."""
        until_ns = at_ns if self.died_ns is None else self.died_ns
        if self.end_ns is None:
            return self.spent_ns
        if self.end_ns <= until_ns and self.waiting_ns and self.died_ns is None:
            return self.spent_ns + min(self.waiting_ns, until_ns - self.end_ns)
        return self.spent_ns - max(0, self.end_ns - max(until_ns, self.paused_until_ns))


def simulate(
    experiment: Experiment,
    datasets: Any = None,
    actors: Sequence[Any] = (),
    agent: Any = None,
    orders: Sequence[Any] = (),
    chooser: Callable[[Any, int], None] | None = None,
) -> OracleResult:
    """Run the experiment to its end (section 9), with actors and an agent of its own (section 12).

    orders: (time, order) of a scheduler; an order is called with the model, after everything else at its time. chooser: called with the
    model and the number of a host on which a watched watermark has risen.
    """
    model = Model(build(written_out(under_engine(experiment)), datasets), actors, agent)
    model.chooser = chooser
    for at_ns in sorted({at_ns for at_ns, _ in orders}):
        model.environment.at(at_ns, Phase.CONTROL, (len(experiment.faults),), functools.partial(model.obey, orders, at_ns), no_work)
    return model.run()


class Model:
    """The state of the world and its five kinds of events, one method for each phase of an instant (section 2)."""

    def __init__(self, network: Network, actors: Sequence[Any] = (), agent: Any = None):
        self.network = network
        self.experiment = network.experiment
        self.chooser: Callable[[Any, int], None] | None = None
        self.watched: set[int] = set()
        self.choosing: set[int] = set()  # hosts on which a watched watermark has risen at this instant
        self.environment = StructuralEnvironment()
        self.result = OracleResult(outputs={operator.id: [] for operator in self.experiment.query.operators if operator.kind == "sink"})
        flow_control = self.experiment.policies.flow_control
        self.flow_control = flow_control if flow_control.kind in ("credits", "buffers") else None
        self.local_latency_ns = self.experiment.cluster.local_latency_ns
        self.latency, self.further = self.experiment.measurement.latency, self.experiment.measurement.also
        for host, template in zip(network.hosts, [t for t in self.experiment.cluster.hosts for _ in range(t.count or 1)], strict=True):
            if template.processor.kind == "processor_sharing":
                host.sharing = SharedCores(self.environment, template.cores, template.processor)
        self.services: list[list[Any]] = []  # instance, start, end, kind, trigger, origin
        self.under_way: dict[int, Packet] = {}
        self.actors = Actors(self, actors, agent)

    def run(self) -> OracleResult:
        workload = self.experiment.workload
        horizon_ns = seconds(workload.horizon_s)
        self.actors.start()
        for log in self.network.logs:
            if log.coordinated:
                self.make_next(log)
                self.end_log(log)
                self.environment.at(
                    horizon_ns - 1, Phase.CONTROL, (-1, log.instance.number), functools.partial(self.stop_making, log), no_work
                )
            else:
                self.append_next(log)
            if log.period_ns and self.experiment.policies.engine.kind != "spark_structured":
                self.tick_source(log, log.start_ns + log.period_ns, horizon_ns)
        for number, fault in enumerate(self.experiment.faults):
            if fault.kind in ("pause", "slow_host", "host_loss"):
                self.fault(number, fault)
        end_ns = horizon_ns + (seconds(workload.drain_limit_s) if workload.drain else 0)
        for instance in self.network.instances:
            if instance.operator.kind == "block_receiver":
                period_ns = seconds(instance.operator.parameters.batch_s)
                self.tell_time(instance, period_ns, period_ns)
        cyclic = any(edge.feedback for edge in self.network.edges)
        mortal = any(host.memory is not None and host.memory.model is not None for host in self.network.hosts)
        bounded = self.flow_control is not None or any(edge.capacity is not None for edge in self.network.edges)
        if (bounded and cyclic) or mortal:
            frame_ns = milliseconds(self.experiment.measurement.frame_ms)
            for edge_ns in range(frame_ns, end_ns, frame_ns):
                drained = self.environment.run_through(edge_ns)
                over = drained and edge_ns >= horizon_ns  # before it timers go on
                if over or self.deadlock() or any(host.dead for host in self.network.hosts):
                    break
            else:
                drained = self.environment.run_through(end_ns)
            self.result.deadlock = self.deadlock() if cyclic else []
            whole = not self.result.deadlock and not any(host.dead for host in self.network.hosts)
            return self.finish(horizon_ns, drained and whole)
        return self.finish(horizon_ns, self.environment.run_through(end_ns))

    def deadlock(self) -> list[tuple[int, int]]:
        """Channels whose senders wait for a record that only their own progress could let be taken (section 9)."""
        waits_for = {i.number: i.waiting_for[0].receiver.number for i in self.network.instances if i.waiting_for}
        found = []
        for start in waits_for:
            here, steps = start, 0
            while here in waits_for and steps <= len(waits_for):
                here, steps = waits_for[here], steps + 1
                if here == start:
                    found.append((start, waits_for[start]))
                    break
        return found

    # A scheduler's orders, between instants (section 17)

    def obey(self, orders: Sequence[Any], now_ns: int) -> None:
        """All orders of one time, before anybody chooses anew."""
        for at_ns, order in orders:
            if at_ns == now_ns:
                order(self)

    def rank(self, ranks: dict[int, int]) -> None:
        """By instance; their hosts choose anew."""
        for number, rank in ranks.items():
            self.network.instances[number].rank = rank
        self.choose_anew({self.network.instances[number].host.number for number in ranks})

    def hold(self, number: int, held: bool) -> None:
        self.network.instances[number].held = held
        if not held:
            self.choose_anew({self.network.instances[number].host.number})

    def watch(self, number: int) -> None:
        """This instance of its host, and no other one of it."""
        host = self.network.instances[number].host
        self.watched = {number} | {n for n in self.watched if self.network.instances[n].host is not host}

    def has_risen(self, host: Host) -> None:
        """After everything else at this instant, the scheduler chooses anew on this host, once."""
        if host.number not in self.choosing:
            self.choosing.add(host.number)
            self.environment.at(self.environment.now, Phase.CONTROL, (-1, host.number), functools.partial(self.let_choose, host), no_work)

    def let_choose(self, host: Host) -> None:
        self.choosing.discard(host.number)
        assert self.chooser is not None
        self.chooser(self, host.number)

    def choose_anew(self, hosts: set[int]) -> None:
        """An instant of these hosts, at which what they hold is looked at, too."""
        for h in sorted(hosts):
            self.look_when_it_goes_on(self.network.hosts[h])
        for processor in [p for h in sorted(hosts) for p in self.network.hosts[h].processors if p.instances]:
            self.environment.at(self.environment.now, Phase.DISPATCH, (processor.number,), functools.partial(self.dispatch, processor))

    def look_when_it_goes_on(self, host: Host) -> None:
        if host.memory is not None:
            goes_on_ns = max(self.environment.now, host.paused_until_ns)
            self.environment.at(goes_on_ns, Phase.LOOK, (host.number,), lambda: self.look(host))

    def share_cores(self, h: int, processor: Any) -> None:
        """The instances of a host with a pool share its cores from now on (section 3.1)."""
        host = self.network.hosts[h]
        if host.sharing is not None or host.dead:
            return
        template = [template for template in self.experiment.cluster.hosts for _ in range(template.count or 1)][h]
        host.sharing = SharedCores(self.environment, template.cores, processor)
        host.sharing.pause(host.paused_until_ns)
        for core in host.processors:
            core.busy = True  # it takes nothing any more
        host.processors = []
        for instance in [instance for instance in self.network.instances if instance.host is host]:
            thread = Processor(len(self.network.instances) * (h + 1) + len(host.processors), [instance])
            host.processors.append(thread)
            instance.processors = [thread]
            if instance.serving:
                instance.served_by, thread.busy, instance.service[2] = thread, True, UNKNOWN_NS
                left_ns = instance.end_ns - max(self.environment.now, host.paused_until_ns)
                host.sharing.start(instance, left_ns, instance.finish)
        self.choose_anew({h})

    def add_background_work(self, h: int, work_ps: int) -> None:
        host = self.network.hosts[h]
        if not host.down and not host.dead:
            host.background.waiting_ps += work_ps
            self.background_later(host)
            self.look_when_it_goes_on(host)

    def tell(self, source: int, target: int, size_bytes: int) -> float:
        """A message of a scheduler to another host takes the links, and a trunk at once. When it arrives, infinity for never."""
        now_ns = self.environment.now
        link = self.network.hosts[source].links[target]
        if link.passes_from(now_ns) > now_ns:
            return math.inf
        message = types.SimpleNamespace(bytes=size_bytes, transmission_ns=0)
        passed_ns = link.fifo.pass_through(now_ns, message)
        if link.trunk is not None:
            passed_ns = link.trunk.pass_through(passed_ns, message)
        link.last_arrival_ns = max(passed_ns + link.latency_ns(now_ns), link.last_arrival_ns)
        return link.last_arrival_ns

    def background_later(self, host: Host) -> None:
        """Before the other processors choose."""
        self.environment.at(
            self.environment.now, Phase.DISPATCH, (-1, host.number), functools.partial(self.do_background_work, host), no_work
        )

    def do_background_work(self, host: Host) -> None:
        """All of it that waits takes the first idle processor, one at a time."""
        work, idle = host.background, [processor for processor in host.processors if not processor.busy]
        if host.down or host.dead or not work.waiting_ps or work.processor is not None or not idle:
            return
        if self.paused(host, Phase.DISPATCH, (-1, host.number), functools.partial(self.do_background_work, host), no_work):
            return
        lasts_ns = max(1, -(-work.waiting_ps // host.speed_milli))
        work.waiting_ps, work.processor, work.end_ns = 0, idle[0], self.environment.now + lasts_ns
        work.spent_ns += lasts_ns
        idle[0].busy = True
        life = host.life

        def something_waits() -> bool:
            """For the processor that does this work, perhaps; otherwise background work keeps no draining run going."""
            return any(instance.queue for instance in self.network.instances if instance.host is host)

        def end() -> None:
            if host.life != life or host.dead or work.processor is None:
                return
            if self.environment.now < work.end_ns:  # there was a pause
                self.environment.at(work.end_ns, Phase.COMPLETION, (-1, host.number), end, something_waits)
                return
            done, work.processor = work.processor, None
            done.busy = False
            self.background_later(host)
            if done.instances:
                self.environment.at(self.environment.now, Phase.DISPATCH, (done.number,), functools.partial(self.dispatch, done))

        self.environment.at(work.end_ns, Phase.COMPLETION, (-1, host.number), end, something_waits)

    # Faults, between instants

    def fault(self, number: int, fault: Any) -> None:
        host = next(host for host in self.network.hosts if host.name == fault.host)
        at_ns = seconds(fault.when.at_s)
        if fault.kind == "host_loss":
            span_ns = math.inf if fault.restart_after_s is None else seconds(fault.restart_after_s)
            self.environment.at(at_ns, Phase.CONTROL, (number,), lambda: self.kill(host, number, at_ns + span_ns), no_work)
            if span_ns < math.inf:
                self.restart_at(at_ns + span_ns, (number,), host, number)
            return
        span_ns = milliseconds(fault.for_ms)
        if fault.kind == "pause":
            self.environment.at(at_ns, Phase.CONTROL, (number,), lambda: self.pause(host, span_ns), no_work)
        else:
            factor = integer(fault.factor, 1000)
            self.environment.at(at_ns, Phase.CONTROL, (number,), lambda: self.change_speed(host, number, factor), no_work)
            self.environment.at(at_ns + span_ns, Phase.CONTROL, (number,), lambda: self.change_speed(host, number, 1000), no_work)

    def change_speed(self, host: Host, number: int, factor: int) -> None:
        host.factors[number], host.speed_milli = factor, host.own_speed_milli
        for _, factor_milli in sorted(host.factors.items()):
            host.speed_milli = max(1, host.speed_milli * factor_milli // 1000)

    def pause(self, host: Host, span_ns: int) -> None:
        """What is being served ends later; everything else waits for the end of the pause (`paused`)."""
        if host.down or host.dead:
            return
        now_ns, before_ns = self.environment.now, host.paused_until_ns
        host.paused_until_ns = max(before_ns, now_ns + span_ns)
        if host.sharing is not None:
            host.sharing.pause(host.paused_until_ns)
            return
        for instance in self.network.instances:
            if instance.host is host and instance.serving:
                instance.end_ns += host.paused_until_ns - max(now_ns, before_ns)
        if host.background.processor is not None:
            host.background.end_ns += host.paused_until_ns - max(now_ns, before_ns)

    def paused(
        self, host: Host, phase: Phase, numbers: tuple[int, ...], callback: Callable[[], None], is_work: Callable[[], bool] = lambda: True
    ) -> bool:
        """Whether the host stands still now; the callback then comes when it goes on, if ever."""
        if host.dead:
            return True
        if self.environment.now >= host.paused_until_ns:
            return False
        life = host.life
        self.environment.at(host.paused_until_ns, phase, numbers, callback, lambda: host.life == life and is_work())
        return True

    # Hosts that are lost

    def restart_at(self, time_ns: int, order: tuple[int, ...], host: Host, number: int) -> None:
        will_be_back = lambda: host.down and max(host.losses.values()) < math.inf  # noqa: E731
        self.environment.at(time_ns, Phase.CONTROL, order, lambda: self.restart(host, number), will_be_back)

    def die(self, host: Host) -> None:
        """Of what it held, at the end of this instant: for ever, or until it is started again (section 13.2)."""
        now_ns = self.environment.now
        self.result.deaths.append((now_ns, host.number, host.memory.used))
        after_s = host.memory.model.restart_after_s
        if after_s is not None:
            host.memory.died_ns = -1
            self.kill(host, AFTER_DEATH, now_ns + seconds(after_s))
            self.restart_at(now_ns + seconds(after_s), (AFTER_DEATH, host.number), host, AFTER_DEATH)
        elif host.sharing is not None:
            host.sharing.stop()

    def kill(self, host: Host, number: int, back_ns: float) -> None:
        """All that is in the memory of the host is gone."""
        if host.dead:
            return
        already_down = host.down
        host.losses[number] = back_ns
        if already_down:
            return
        now_ns = self.environment.now
        host.life += 1
        work = host.background
        if work.processor is not None:
            work.spent_ns -= work.end_ns - max(now_ns, host.paused_until_ns)
            work.processor.busy = False
        work.processor, work.waiting_ps = None, 0
        for instance in self.network.instances:
            if instance.host is host and instance.serving:
                left_ns = -(-(instance.end_ns - max(now_ns, host.paused_until_ns)) * instance.prices.attainable >> 16)
                if host.sharing is not None:
                    left_ns = host.sharing.left_ns(instance)
                *origin, service_ns = instance.service[-1]
                instance.service[-1] = (*origin, service_ns - left_ns)
        host.paused_until_ns = 0
        if host.sharing is not None:
            host.sharing.empty()
        for packet in list(self.under_way.values()):
            channel = packet.channel
            unsent = channel.sender.host is host and (channel.local or packet.left_ns > now_ns)
            came_in_a_pause = channel.receiver.host is host and packet.arrival_ns <= now_ns
            if unsent or came_in_a_pause:
                self.lose(packet)
        for target, link in host.links.items():
            link.fifo.free_ns = min(link.fifo.free_ns, now_ns)
            link.waiting.clear()
            link.last_arrival_ns = self.last_arrival_ns(host.number, target)
        for instance in self.network.instances:
            if instance.host is host:
                self.empty(instance)
        if host.memory is not None:
            host.memory.look(now_ns)
            host.memory.full = False

    def last_arrival_ns(self, source: int, target: int) -> int:
        on_link = [
            packet.arrival_ns
            for packet in self.under_way.values()
            if (packet.channel.sender.host.number, packet.channel.receiver.host.number) == (source, target) and packet.arrival_ns < math.inf
        ]
        return max(on_link, default=0)

    def empty(self, instance: Instance) -> None:
        """An instance loses what it has in hand, its queue and its state."""
        instance.lost_unsent += sum(isinstance(message, Record) for _, message in instance.to_send)
        if instance.serving:
            instance.serving = instance.served_by.busy = False
            instance.service[2] = self.environment.now
            instance.lost_unsent += instance.delivers
            for record in instance.outputs_made:
                edges = [edge for edge in instance.outputs if edge.source_port == record.port]
                instance.lost_unsent += sum(
                    len(edge.channels[instance.index]) if edge.partitioning.kind == "broadcast" else 1 for edge in edges
                )
        instance.to_send.clear()
        instance.unsent.clear()
        instance.state_bytes = 0
        instance.waiting_for = None
        instance.lost += sum(item.kind is Kind.RECORD and item.channel is not None for item in instance.queue)
        instance.barred.clear()
        instance.queue = sorted(item for item in instance.queue if item.order[1] == ItemClass.LOG)
        before, instance.behaviour = instance.behaviour, behaviour_of(self.network, instance, self.network.schemas)
        instance.behaviour.late, instance.behaviour.errors = before.late, before.errors
        instance.watermark_ns = LOWEST_WATERMARK
        instance.epochs = Epochs()
        instance.records = 0
        for channel in instance.inputs:
            channel.watermark_ns = LOWEST_WATERMARK
        for edge in instance.outputs:
            edge.sent_by_index.pop(instance.index, None)
        for log in self.network.logs:
            if log.instance is instance:
                log.newest_event_ns = LOWEST_WATERMARK

    def restart(self, host: Host, number: int) -> None:
        """The host is up again, unless it is down by another loss, too."""
        if host.losses.pop(number, None) is None or host.down:
            return
        now_ns = host.started_ns = self.environment.now
        if host.memory is not None:
            self.environment.at(now_ns + 1, Phase.LOOK, (host.number,), lambda: self.look(host))
        for packet in list(self.under_way.values()):
            if packet.channel.receiver.host is host:
                self.lose(packet)
        for other in self.network.hosts:
            if other is not host:
                link = other.links[host.number]
                link.waiting = [packet for packet in link.waiting if not packet.lost]
                link.last_arrival_ns = 0
        for edge in self.network.edges:
            for channel in [channel for channels in edge.channels.values() for channel in channels]:
                if channel.sender.host is host:
                    channel.renew(0)
                elif channel.receiver.host is host:
                    channel.renew(self.credit_back_ns(channel))
                    if channel.sender.waiting_for is not None and channel.sender.waiting_for[0] is channel:
                        channel.sender.waiting_for = None
                    if channel.sender.blocked:  # perhaps on another channel; then it finds that it has to wait
                        self.wake_at(channel.opens_ns, channel.sender)
        for instance in self.network.instances:
            if instance.host is host:
                instance.idle_since_ns = now_ns
        for log in self.network.logs:
            if log.instance.host is host and log.period_ns:
                self.tick_again(log, seconds(self.experiment.workload.horizon_s))
        for processor in [processor for processor in host.processors if processor.instances]:
            self.environment.at(now_ns + 1, Phase.DISPATCH, (processor.number,), functools.partial(self.dispatch, processor))

    def lose(self, packet: Packet) -> None:
        packet.lost = True
        del self.under_way[id(packet)]
        if isinstance(packet.message, Record):
            packet.channel.receiver.lost += 1

    def finish(self, horizon_ns: int, drained: bool) -> OracleResult:
        result = self.result
        for log in self.network.logs:
            if log.coordinated:  # what was not taken is not made; a deadlock may end the run before the generators' own end
                self.stop_making(log)
        for instance in self.network.instances:
            if instance.serving and instance.host.sharing is None:
                next(service for service in reversed(self.services) if service[0] == instance.number)[2] = instance.end_ns
        for *service, trigger, origin in sorted(self.services, key=lambda service: (service[1], service[0])):
            result.services.append(tuple(service))
            result.triggers.append(trigger)
            result.origins.append(origin)
        for instance in self.network.instances:
            result.late[instance.operator.id] = result.late.get(instance.operator.id, 0) + instance.behaviour.late
            result.lost[instance.operator.id] += instance.lost
            result.unsent[instance.operator.id] += instance.lost_unsent
            result.errors += instance.behaviour.errors
            result.state_bytes.append(instance.behaviour.state_bytes())
            result.queued.append(Counter(item.kind for item in instance.queue))
            if instance.operator.kind == "source":
                result.epochs[instance.number] = instance.epochs.ended
            result.marks_in_logs += sum(item.kind in (Kind.WATERMARK, Kind.MARKER) and item.channel is None for item in instance.queue)
        for deliveries in result.outputs.values():
            deliveries.sort(key=lambda delivery: (delivery.end_ns, delivery.instance))
        for host in self.network.hosts:
            if host.memory is not None:
                memory = host.memory
                result.memory.append((host.number, memory.used, memory.peak, memory.full, memory.died_ns))
        readers = [i for i in self.network.instances if max(i.host.losses.values(), default=0) < math.inf]
        unread = any(item.order[1] == ItemClass.LOG for instance in readers for item in instance.queue)
        result.deaths.sort()
        passed_over = any(item.channel in i.barred for i in self.network.instances for item in i.queue if item.channel is not None)
        result.end_ns, result.drained = max(horizon_ns, self.environment.now), drained and not unread and not passed_over
        for host in self.network.hosts:
            work = host.background
            end_ns = None if work.processor is None else work.end_ns
            waiting_ns = -(-work.waiting_ps // host.speed_milli)
            died_ns = host.memory.died_ns if host.dead else None
            result.background.append(BackgroundAtEnd(work.spent_ns, end_ns, waiting_ns, died_ns, host.paused_until_ns))
        return result

    # Phase 1: completions

    def complete(
        self, instance: Instance, control: list[Any], outputs: list[Record], watermark_ns: int | None, marker: Marker | None
    ) -> None:
        """The item of the instance ends; its emission begins (section 4)."""
        instance.serving = instance.served_by.busy = False
        self.background_later(instance.host)
        instance.to_send.extend(copy for copies in control for copy in copies)
        instance.unsent = deque(unsent_of(control))
        for record in outputs:
            to_send = [
                (channel, record.to_port("out"))
                for edge in instance.outputs
                if edge.source_port == record.port
                for channel in self.receivers(edge, instance, record)
            ]
            instance.to_send += to_send
            instance.unsent.append((len(to_send), self.edge_of(instance, record)))
        if watermark_ns is not None and instance.outputs:
            mark = Watermark.of(watermark_ns, instance.clocks_ns)
            marks = [(channel, mark) for edge in instance.outputs if not edge.feedback for channel in edge.channels[instance.index]]
            instance.to_send += marks
            instance.unsent.append((len(marks), CONTROL_BYTES))
        if marker is not None and instance.outputs:
            copies = marker.on_channels_of(instance)
            instance.to_send += copies
            instance.unsent.append((len(copies), CONTROL_BYTES))
        self.send(instance)

    def serialising_ps(self, instance: Instance, edge: Edge, outputs: list[Record]) -> int:
        """The work of serialising these outputs for receivers on other hosts (section 3.3)."""
        count = sum(record.port == edge.source_port for record in outputs)
        channels = edge.channels[instance.index]
        away = sum(not channel.local for channel in channels)
        each_gets_one_of = 1 if edge.partitioning.kind == "broadcast" else len(channels)
        return edge.sent_ps * count * away // each_gets_one_of

    def edge_of(self, instance: Instance, record: Record) -> Edge:
        """One of those by which the record leaves; they all carry records of one schema."""
        return next(edge for edge in instance.outputs if edge.source_port == record.port)

    def deliver(self, instance: Instance, record: Record, sent_ns: int) -> None:
        """A record reaches its sink at the end of the sink's service (sections 7 and 8)."""
        now_ns = self.environment.now

        def counted_from(latency: Any) -> int:
            if latency.clock == "deadline":
                return record.event_ns
            return getattr(record.anchors, f"{latency.anchor}_ns")[latency.clock]

        further_ns = tuple(
            -1 if latency.to in ("read", "watermark", "marker") else (sent_ns if latency.to == "emit" else now_ns) - counted_from(latency)
            for latency in self.further
        )
        latency_ns = now_ns - counted_from(self.latency)
        values = tuple(record.values.values())
        delivery = Delivery(now_ns, instance.number, record.event_ns, record.trigger, latency_ns, values, further_ns)
        self.result.outputs[instance.operator.id].append(delivery)

    def receivers(self, edge: Edge, sender: Instance, record: Record) -> list[Channel]:
        """Where one output record goes on one edge."""
        channels = edge.channels[sender.index]
        partitioning = edge.partitioning
        if partitioning.kind in ("forward", "broadcast"):
            return channels
        if partitioning.kind in ("rebalance", "rescale"):
            n = edge.sent_by_index.get(sender.index, 0)
            edge.sent_by_index[sender.index] = n + 1
            if partitioning.kind == "rebalance":
                return [channels[(sender.index + n) % len(channels)]]
            own = channels[sender.index :: len(edge.channels)] or [channels[sender.index % len(channels)]]
            return [own[n % len(own)]]
        return [channels[self.network.hash_receiver(partitioning, record.values[partitioning.key], len(channels))]]

    # Sending, in phases 1 and 2

    def send(self, instance: Instance) -> None:
        """Send what is left of the emission as far as credits reach; then the processor may choose anew."""
        instance.forget_sent()
        while instance.to_send:
            channel, message = instance.to_send[0]
            if isinstance(message, Record):
                if not self.has_credit(channel):
                    break
                channel.records_sent += 1
            instance.to_send.popleft()
            copies, edge = instance.unsent[0]
            instance.unsent[0] = (copies - 1, edge)
            instance.forget_sent()
            self.transmit(channel, message)
        self.look_later(instance.host)
        if not instance.to_send:
            instance.idle_since_ns = self.environment.now
        self.dispatch_later(instance)

    def has_credit(self, channel: Channel) -> bool:
        """Whether the channel's next record may go now. If not, the sender waits for just that credit."""
        if self.flow_control is None and channel.edge.capacity is None:
            return True
        if channel.records_sent < self.bound(channel):
            if channel.opens_ns <= self.environment.now:
                return True
            self.result.blocked_count += 1
            self.wake_at(channel.opens_ns, channel.sender)
            return False
        needed = channel.records_sent - self.bound(channel)
        if needed >= len(channel.credits_ns):
            channel.sender.waiting_for = (channel, needed)  # `start` wakes it
            self.result.blocked_count += 1
            return False
        credit_ns = channel.credits_ns[needed]
        if credit_ns > self.environment.now:
            self.result.blocked_count += 1
            self.wake_at(credit_ns, channel.sender)
            return False
        return True

    def bound(self, channel: Channel) -> int:
        """How many records the channel may hold (sections 4 and 13.3)."""
        flow, size = self.flow_control, channel.edge.bytes
        if channel.edge.capacity is not None:
            return channel.edge.capacity
        if flow.kind == "buffers":
            return max(1, flow.per_channel * flow.size_bytes // size)
        bounds = [flow.per_channel]
        if flow.per_channel_bytes is not None:
            bounds.append(flow.per_channel_bytes // size)
        if flow.per_instance_bytes is not None:
            leading = [c for edge in self.network.edges for cs in edge.channels.values() for c in cs if c.receiver is channel.receiver]
            bounds.append(flow.per_instance_bytes // len(leading) // size)
        if flow.per_instance_ms is not None:
            leading = [c for edge in self.network.edges for cs in edge.channels.values() for c in cs if c.receiver is channel.receiver]
            prices, params = channel.receiver.prices, channel.receiver.operator.parameters
            window = getattr(params, "window", None)
            panes = math.ceil(seconds(window.size_s) / seconds(window.slide_s)) if window is not None and window.kind == "sliding" else 1
            if window is not None and window.kind == "count":
                panes = math.ceil(window.size / (window.slide or window.size))
            slowest = min(i.host.own_speed_milli for i in self.network.instances if i.operator is channel.receiver.operator)
            service_ns = max(1, -(-prices.record_ps * panes // slowest)) * 65536 // prices.attainable
            bounds.append(max(1, milliseconds(flow.per_instance_ms) // (len(leading) * service_ns)))
        return min(bounds)

    def credit_back_ns(self, channel: Channel) -> float:
        """When a credit that sets out now from the receiver is back at the sender."""
        now_ns = self.environment.now
        if channel.local:
            return now_ns + self.local_latency_ns
        link = channel.receiver.host.links[channel.sender.host.number]
        return link.passes_from(now_ns) + link.latency_ns(now_ns)

    def transmit(self, channel: Channel | Wire, message: Record | int | Control | Barrier) -> None:
        """One message leaves: over the network to another host, by hand-over on the same host."""
        sender = channel.sender
        packet = Packet(channel, message, sender.messages_sent, self.environment.now, sender_life=sender.host.life)
        self.under_way[id(packet)] = packet
        sender.messages_sent += 1
        if channel.local:
            self.arrive(packet, self.environment.now, self.environment.now + self.local_latency_ns)
            return
        link = sender.host.links[channel.receiver.host.number]
        passes_ns = link.passes_from(self.environment.now)
        if passes_ns == self.environment.now:
            self.take_link(link, packet)
            return
        if not link.waiting and passes_ns < math.inf:
            self.environment.at(passes_ns, Phase.FAULT, (link.source, link.target), lambda: self.heal(link))
        link.waiting.append(packet)

    # The network (section 4.1)

    def heal(self, link: Link) -> None:
        """What waited at a cut goes."""
        for packet in link.waiting:
            self.take_link(link, packet)
        link.waiting.clear()

    def take_link(self, link: Link, packet: Packet) -> None:
        now_ns = self.environment.now
        departure_ns = packet.left_ns = link.fifo.pass_through(now_ns, packet)
        if link.trunk is None:
            self.travel(link, packet, departure_ns, link.latency_ns(now_ns))
        else:
            order = (packet.channel.sender.number, packet.fifo)
            take = functools.partial(self.take_trunk, link, packet)
            self.environment.at(departure_ns, Phase.TRUNK, order, take, lambda: not packet.lost)

    def take_trunk(self, link: Link, packet: Packet) -> None:
        if packet.lost:
            return
        now_ns = self.environment.now
        self.travel(link, packet, link.trunk.pass_through(now_ns, packet), link.latency_ns(now_ns))

    def travel(self, link: Link, packet: Packet, departure_ns: int, latency_ns: int) -> None:
        link.last_arrival_ns = max(departure_ns + latency_ns, link.last_arrival_ns)
        self.arrive(packet, departure_ns, link.last_arrival_ns)

    def arrive(self, packet: Packet, departure_ns: int, arrival_ns: int) -> None:
        channel, message = packet.channel, packet.message
        receiver = channel.receiver
        packet.arrival_ns = arrival_ns
        if isinstance(receiver, Party):
            order = (receiver.number, channel.sender.number, packet.fifo)

            def receive() -> None:
                if not packet.lost:
                    del self.under_way[id(packet)]
                    self.actors.receive(receiver, channel.sender.number, message)

            self.environment.at(arrival_ns, Phase.ARRIVAL, order, receive, lambda: not packet.lost)
            return
        item_class = ItemClass.LOCAL if channel.local else ItemClass.REMOTE
        order = (arrival_ns, item_class, receiver.number, channel.sender.number, packet.fifo)
        way_ns = (packet.sent_ns, departure_ns - packet.transmission_ns, departure_ns)
        if isinstance(message, Record):
            item = Item(order, Kind.RECORD, record=message, channel=channel, way_ns=way_ns)
        elif isinstance(message, Control):
            item = Item(order, Kind.CONTROL_MESSAGE, control=(channel.sender.number, message))
        elif isinstance(message, Barrier):
            item = Item(order, Kind.BARRIER, barrier=message, channel=channel, way_ns=way_ns)
        elif isinstance(message, Marker):
            item = Item(order, Kind.MARKER, marker=message, channel=channel, way_ns=way_ns)
        else:
            item = Item(order, Kind.WATERMARK, watermark_ns=message, channel=channel, way_ns=way_ns)
        item.sender_life = packet.sender_life
        self.message_at(arrival_ns, receiver, item, packet)

    # Phase 2: wake-ups

    def wake_at(self, time_ns: float, instance: Instance) -> None:
        life = instance.host.life

        def wake() -> None:
            alive = instance.host.life == life and instance.blocked
            if alive and not self.paused(instance.host, Phase.WAKE_UP, (instance.number,), wake):
                self.send(instance)

        if time_ns < math.inf:
            self.environment.at(time_ns, Phase.WAKE_UP, (instance.number,), wake, lambda: instance.host.life == life)

    # Phases 3 and 4: ticks and arrivals, log records among them

    def join(self, instance: Instance, item: Item) -> None:
        heapq.heappush(instance.queue, item)
        self.look_later(instance.host)
        self.dispatch_later(instance)

    def message_at(self, time_ns: int, instance: Instance, item: Item, packet: Packet) -> None:
        def arrive() -> None:
            if packet.lost:
                return
            if instance.host.down:
                self.lose(packet)
            elif not self.paused(instance.host, Phase.ARRIVAL, item.order[2:], arrive):
                del self.under_way[id(packet)]
                self.join(instance, item)

        self.environment.at(time_ns, Phase.ARRIVAL, item.order[2:], arrive, lambda: not packet.lost)

    def log_entry_at(self, time_ns: int, instance: Instance, item: Item) -> None:
        """The log is outside, so pauses and losses do not matter to it."""
        self.environment.at(time_ns, Phase.ARRIVAL, item.order[2:], lambda: self.join(instance, item))

    def tick_item_at(
        self,
        time_ns: int,
        instance: Instance,
        still_wanted: Callable[[], bool] = lambda: True,
        alive: Callable[[], bool] = lambda: True,
        due_ns: int | None = None,
    ) -> None:
        """A tick of that time joins the queue, at `due_ns` if that is later."""
        item = Item((time_ns, ItemClass.TICK, instance.number, 0, 0), Kind.TICK)
        host = instance.host

        def due() -> None:
            life = host.life

            def tick() -> None:
                if host.down or host.life != life or self.paused(host, Phase.TICK, item.order[2:], tick):
                    return
                if still_wanted():
                    self.join(instance, item)

            if alive():
                tick()

        self.environment.at(time_ns if due_ns is None else due_ns, Phase.TICK, item.order[2:], due, alive)

    def tick_again(self, log: Log, horizon_ns: int) -> None:
        """A source that is behind has the ticks that wait among what it has not read, from 1 ns after its restart on (section 10)."""
        now_ns, waiting = self.environment.now, [item for item in log.instance.queue if item.order[1] == ItemClass.LOG]
        if waiting:
            first_ns = log.tick_before(min(waiting).ready_ns)
            for time_ns in range(first_ns, min(now_ns, horizon_ns) + 1, log.period_ns):
                self.tick_item_at(time_ns, log.instance, due_ns=now_ns + 1)

    def tick_source(self, log: Log, tick_ns: int, horizon_ns: int) -> None:
        """The source's watermark ticks at period, 2 x period, ... after its query's start, up to and including the horizon (section 5)."""
        for time_ns in range(tick_ns, horizon_ns + 1, log.period_ns):
            self.tick_item_at(time_ns, log.instance)

    def tell_time(self, instance: Instance, time_ns: int, period_ns: int) -> None:
        """A receiver in batches has ticks until its inputs have ended (section 5)."""
        self.tick_item_at(time_ns, instance)

        def again() -> None:
            if not instance.behaviour.inputs_ended:
                self.tell_time(instance, time_ns + period_ns, period_ns)

        self.environment.at(time_ns, Phase.TICK, (instance.number, 1), again)

    def tick_at(self, time_ns: int, instance: Instance) -> None:
        """A window of the instance ends then."""
        life = instance.host.life
        alive = lambda: instance.host.life == life  # noqa: E731
        self.tick_item_at(time_ns, instance, lambda: instance.behaviour.still_ends_at(time_ns), alive)

    def append_next(self, log: Log) -> None:
        """The log's next entry, or its end, can be taken from its append time on (section 5)."""
        if log.position < len(log.entries):
            entry = log.entries[log.position]
            order = (entry.append_ns, ItemClass.LOG, log.instance.number, 0, log.position)
            if isinstance(entry, Record):
                item = Item(order, Kind.RECORD, record=entry)
            elif isinstance(entry, Marker):
                item = Item(order, Kind.MARKER, marker=entry)
            else:
                item = Item(order, Kind.WATERMARK, watermark_ns=entry.watermark_ns)
            self.log_entry_at(entry.append_ns, log.instance, item)
            following = lambda: self.append_next(log)  # noqa: E731
            log.position += 1
            self.environment.at(entry.append_ns, Phase.ARRIVAL, (log.instance.number, 1), following)
        else:
            self.end_log(log)

    def end_log(self, log: Log) -> None:
        if log.says_its_end:
            order = (log.closes_ns, ItemClass.LOG, log.instance.number, 0, len(log.entries))
            self.log_entry_at(log.closes_ns, log.instance, Item(order, Kind.END_OF_LOG))

    # Coordinated generation (section 5)

    def make_next(self, log: Log) -> None:
        """The next record can be taken as long after the last one was as it came after it in the log."""
        if log.position == len(log.entries):
            return
        record = log.entries[log.position]
        ready_ns = record.append_ns + log.shift_ns
        if ready_ns < log.closes_ns:
            order = (ready_ns, ItemClass.LOG, log.instance.number, 0, log.position)
            item = Item(order, Kind.RECORD, record=record)
            self.log_entry_at(ready_ns, log.instance, item)
            log.position += 1

    def taken_at_last(self, log: Log, item: Item) -> None:
        """The record is made only now; the next one counts from here."""
        now_ns, record = self.environment.now, item.record
        log.shift_ns = now_ns - record.append_ns
        values = {name: value + log.shift_ns for name, value in record.values.items() if name in log.time_fields}
        item.order = (now_ns, *item.order[1:])
        item.record = replace(record, values=record.values | values, event_ns=record.event_ns + log.shift_ns, append_ns=now_ns)
        self.make_next(log)

    def stop_making(self, log: Log) -> None:
        log.position = len(log.entries)
        log.instance.queue = [item for item in log.instance.queue if item.order[1] != ItemClass.LOG or item.kind is Kind.END_OF_LOG]
        heapq.heapify(log.instance.queue)

    # Phase 5: dispatch

    def dispatch_later(self, instance: Instance) -> None:
        """In phase 5 of this instant. Asking twice would do no harm: the second would find the processor busy, or still nothing to do."""
        for processor in instance.processors:
            if not processor.asked:
                processor.asked = True
                self.environment.at(self.environment.now, Phase.DISPATCH, (processor.number,), functools.partial(self.dispatch, processor))

    def dispatch(self, processor: Processor) -> None:
        """An idle processor takes the least item, by queue order, among its runnable instances."""
        processor.asked = False
        host = processor.instances[0].host
        if host.down:
            return
        again = functools.partial(self.dispatch, processor)
        if self.paused(host, Phase.DISPATCH, (processor.number,), again, lambda: any(instance.queue for instance in processor.instances)):
            return
        if processor.busy:
            return
        runnable = [
            instance
            for instance in processor.instances
            if not instance.serving
            and not instance.blocked
            and not instance.held
            and instance.rank < UNKNOWN_NS
            and self.may_serve(instance)
        ]
        if not runnable:
            return
        self.start(min(runnable, key=lambda instance: (instance.rank, self.may_serve(instance)[0])), processor)

    def may_serve(self, instance: Instance) -> list[Item]:
        """What waits for it, the least in front, but for what came by barred channels (section 15), and what a full host holds back in its
        logs (section 13.3). At a source control messages come first."""
        memory = instance.host.memory
        if instance.operator.kind == "source" and self.actors.parties:
            first = [item for item in instance.queue if item.kind is Kind.CONTROL_MESSAGE]
            if first:
                return sorted(first)
        if instance.barred:
            return sorted(item for item in instance.queue if item.channel not in instance.barred)
        if memory is None or not memory.full or memory.guard.kind != "throttle":
            return instance.queue
        log = sorted(item for item in instance.queue if item.order[1] == ItemClass.LOG)
        held_back = next((item for item in log if item.kind is Kind.RECORD), None)
        return sorted(item for item in instance.queue if item.order[1] != ItemClass.LOG or held_back is None or item < held_back)

    # The end of an instant

    def look_later(self, host: Host) -> None:
        """What the host holds may have changed; at the end of this instant it is looked at (section 13)."""
        if host.memory is not None:
            self.environment.at(self.environment.now, Phase.LOOK, (host.number,), lambda: self.look(host))

    def look(self, host: Host) -> None:
        was_full = host.memory.full
        if host.dead or host.down:  # log records that come meanwhile change nothing on it
            return
        host.memory.look(self.environment.now)
        if host.dead:
            self.die(host)
        elif was_full and not host.memory.full:
            for instance in host.memory.instances:
                if instance.operator.kind == "source":
                    for processor in instance.processors:
                        later = functools.partial(self.dispatch, processor)
                        self.environment.at(self.environment.now + 1, Phase.DISPATCH, (processor.number,), later)

    def start(self, instance: Instance, processor: Processor) -> None:
        """The operator works on its state now; its outputs leave when the service ends (section 3)."""
        now_ns, item = self.environment.now, self.may_serve(instance)[0]
        if item is instance.queue[0]:
            heapq.heappop(instance.queue)
        else:
            instance.queue.remove(item)
            heapq.heapify(instance.queue)
        self.look_later(instance.host)
        watermark_before_ns = instance.watermark_ns
        control_ps, control = 0, []  # what the agent sends, message by message: all copies of each
        if item.kind is Kind.CONTROL_MESSAGE:
            work, made = 0, []
            control_ps, control = self.actors.serve(instance, *item.control)
        elif item.kind is Kind.BARRIER:
            work, made = 0, []
            control_ps, control = self.meet(instance, item)
        else:
            work, made = self.work(instance, item)
        outputs = [record for record in made if any(edge.source_port == record.port for edge in instance.outputs)]
        for end_of_pane_ns in instance.behaviour.timers:
            self.tick_at(end_of_pane_ns, instance)
        instance.behaviour.timers.clear()

        prices = instance.prices
        counted = sum(record.stands_for for record in outputs)
        cost_ps = prices.record_ps * work + prices.read_ps * instance.behaviour.rows_read + prices.output_ps * counted
        cost_ps += sum(self.serialising_ps(instance, edge, outputs) for edge in instance.outputs)
        if item.kind is Kind.RECORD and item.channel is not None and not item.channel.local:
            cost_ps += item.channel.edge.received_ps
        instance.behaviour.rows_read = 0
        if item.kind is not Kind.RECORD:
            cost_ps += prices.control_ps + control_ps
        cost_ps = self.varied(instance, cost_ps)
        if instance.host.memory is not None:
            cost_ps = cost_ps * instance.host.memory.pressure >> 16
            instance.state_bytes = instance.behaviour.state_bytes()
        service_ns = max(1, -(-cost_ps // instance.host.speed_milli))
        lasts_ns = (service_ns << 16) // prices.attainable
        instance.services += 1
        instance.records += item.kind is Kind.RECORD
        trigger = None if item.record is None else item.record.trigger
        origin = (*item.origin(), instance.idle_since_ns, service_ns)
        service = [instance.number, now_ns, now_ns + lasts_ns, int(item.kind), trigger, origin]
        self.services.append(service)
        instance.service, instance.outputs_made = service, outputs
        instance.delivers = item.kind is Kind.RECORD and instance.operator.kind == "sink"

        raised_to_ns = instance.watermark_ns if instance.watermark_ns > watermark_before_ns else None
        if raised_to_ns is not None and item.kind is Kind.WATERMARK and item.channel is not None and instance.number in self.watched:
            self.has_risen(instance.host)
        sweeps = raised_to_ns is not None and instance.operator.kind == "sink" and self.sweeps(instance, watermark_before_ns, raised_to_ns)
        instance.unsent.extend(unsent_of(control))
        instance.unsent.extend((1, self.edge_of(instance, record)) for record in outputs)
        marker = item.marker
        if marker is not None and item.channel is None:
            marker = Marker(marker.number, marker.clocks_ns | {"ingest": now_ns})
        if (raised_to_ns is not None or marker is not None) and instance.outputs:
            instance.unsent.append((1, CONTROL_BYTES))
        instance.serving = processor.busy = True
        instance.served_by = processor

        life = instance.host.life

        def end() -> None:
            if instance.host.dead or instance.host.life != life or instance.served_by is not processor:  # or it goes on as a thread
                return
            if self.environment.now < instance.end_ns:  # there was a pause
                self.environment.at(instance.end_ns, Phase.COMPLETION, (instance.number,), end, lambda: instance.host.life == life)
                return
            finish()

        def finish() -> None:
            if instance.host.dead or instance.host.life != life:
                return
            service[2] = self.environment.now
            if instance.delivers:
                self.deliver(instance, item.record, item.way_ns[0])
            elif sweeps:
                waits_ns = {clock: self.environment.now - time_ns for clock, time_ns in item.watermark_ns.clocks_ns.items()}
                self.result.watermark_waits_ns.setdefault(instance.operator.id, []).append(waits_ns)
            elif marker is not None and instance.operator.kind == "sink":
                waits_ns = {clock: self.environment.now - time_ns for clock, time_ns in marker.clocks_ns.items()}
                self.result.marker_waits_ns.setdefault(instance.operator.id, []).append(waits_ns)
            self.complete(instance, control, outputs, raised_to_ns, marker)

        sharing = instance.host.sharing
        instance.end_ns, instance.finish = now_ns + lasts_ns, finish
        if sharing is None:
            self.environment.at(instance.end_ns, Phase.COMPLETION, (instance.number,), end, lambda: instance.host.life == life)
        else:
            service[2] = UNKNOWN_NS
            sharing.start(instance, service_ns, finish)

    def meet(self, instance: Instance, item: Item) -> tuple[int, list[Any]]:
        """A barrier is served; work in ps, and what is sent at the end of the service (section 15)."""
        now_ns = self.environment.now
        instance.barred[item.channel] = now_ns
        if len(instance.barred) < instance.inputs_of_any_kind:
            return 0, []
        for waiting in instance.queue:
            since_ns = max(waiting.ready_ns, instance.barred.get(waiting.channel, now_ns))
            if since_ns < now_ns:
                waiting.aligned_ns = since_ns, now_ns
        instance.barred.clear()
        work_ps, sent = self.actors.aligned(instance, item.barrier.number)
        return work_ps, [item.barrier.on_channels_of(instance), *sent]

    def varied(self, instance: Instance, cost_ps: int) -> int:
        """The cost with state, warm-up, drift and noise (section 3.2)."""
        if instance.prices.state_reference:
            held = (instance.behaviour.state_bytes() << 16) // instance.prices.state_reference
            cost_ps += cost_ps * min(held, 99 << 16) >> 16
        warmup, noise, drift = instance.prices.warmup, instance.prices.noise, instance.prices.drift
        if warmup is not None and warmup.kind != "none":
            by_time = warmup.kind == "time"
            needed = seconds(warmup.over_s) if by_time else warmup.records
            done = self.environment.now - instance.host.started_ns if by_time else instance.records
            if done < needed:
                extra = integer(warmup.factor, 1 << 16) - (1 << 16)
                cost_ps += cost_ps * (extra * (needed - done) // needed) >> 16
        if drift is not None and drift.kind != "none":
            step = self.environment.now // seconds(drift.step_s)
            cost_ps = cost_ps * drift_factor((self.experiment.workload.seed, instance.operator.id, "drift"), drift, step) >> 16
        if noise is not None and noise.kind != "none":
            names = (self.experiment.workload.seed, instance.operator.id, "noise", instance.index)
            cost_ps = cost_ps * noise_factor(noise, noise_word(names, instance.services)) >> 16
        return cost_ps

    def work(self, instance: Instance, item: Item) -> tuple[int, list[Record]]:
        """Work and outputs of one item; moves the instance's watermark where the item does (sections 5 to 7)."""
        now_ns, behaviour = self.environment.now, instance.behaviour
        source = instance.operator.kind == "source"
        if item.kind is Kind.RECORD:
            self.result.served[instance.operator.id] += 1
            if source:
                log = self.network.log_of(instance)
                if log.coordinated:
                    self.taken_at_last(log, item)
                log.newest_event_ns = max(log.newest_event_ns, item.record.event_ns)
                self.result.topic_waits_ns.append(now_ns - item.record.append_ns)
                memory = instance.host.memory
                if memory is not None and memory.full and memory.guard.kind == "drop":
                    self.result.shed[instance.operator.id] += 1
                    return 1, []
                instance.epochs.delays_us.append((item.ready_ns - item.record.event_ns) // 1000)
                return 1, [self.taken_in(item.record)]
            if item.sender_life == item.channel.sender.host.life:
                self.consumed(item.channel)
            return behaviour.on_record(item.record, item.channel.edge.target_port, now_ns)
        if item.kind is Kind.MARKER:
            return 0, []
        if item.kind is Kind.END_OF_LOG:
            instance.watermark_ns = END_OF_LOG_WATERMARK
            instance.clocks_ns = {"event": item.ready_ns, "append": item.ready_ns, "ingest": now_ns}
            return 0, []
        if item.kind is Kind.WATERMARK and source:
            self.take_mark(instance, item, item.watermark_ns, item.ready_ns - item.watermark_ns - self.network.log_of(instance).lag_ns)
            return 0, []
        if item.kind is Kind.TICK and source:
            log = self.network.log_of(instance)
            if self.experiment.policies.engine.kind == "spark_structured":  # the end of a micro-batch
                if instance.watermark_ns < END_OF_LOG_WATERMARK:
                    instance.watermark_ns = instance.mark_ns
                    instance.clocks_ns = {"event": item.ready_ns, "append": item.ready_ns, "ingest": now_ns}
                if instance.number in self.watched:
                    self.has_risen(instance.host)
                return 0, []
            if log.newest_event_ns > LOWEST_WATERMARK:
                self.take_mark(instance, item, log.newest_event_ns - log.lag_ns, None)
            return 0, []
        if item.kind is Kind.TICK and instance.operator.kind == "block_receiver":
            if instance.watermark_ns == END_OF_LOG_WATERMARK:
                return 0, []
            instance.watermark_ns = behaviour.watermark_ns = END_OF_LOG_WATERMARK if behaviour.inputs_ended else item.ready_ns
            instance.clocks_ns = {"event": item.ready_ns, "append": item.ready_ns, "ingest": now_ns}
            return 0, []
        if item.kind is Kind.TICK:
            return 0, behaviour.on_tick(item.ready_ns)
        item.channel.watermark_ns = max(item.channel.watermark_ns, item.watermark_ns)
        least_ns = min(channel.watermark_ns for channel in instance.inputs)
        if instance.operator.kind == "block_receiver":
            behaviour.inputs_ended = least_ns == END_OF_LOG_WATERMARK
            return 0, []
        if least_ns <= instance.watermark_ns:
            return 0, []
        instance.watermark_ns, instance.clocks_ns = least_ns, item.watermark_ns.clocks_ns
        return 0, behaviour.on_watermark(least_ns)

    def take_mark(self, instance: Instance, item: Item, mark_ns: int, delay_ns: int | None) -> None:
        """A source takes in a watermark of its log, or makes one (section 17). delay_ns: that of the one in its log."""
        now_ns, made_ns, epochs = self.environment.now, mark_ns + self.network.log_of(instance).lag_ns, instance.epochs
        if delay_ns is not None:
            epochs.delays_us.append(delay_ns // 1000)
        if mark_ns <= instance.watermark_ns:
            return
        if self.sweeps(instance, instance.watermark_ns, mark_ns):
            delays = epochs.delays_us
            epochs.ended.append((len(delays), sum(delays), sum(delay * delay for delay in delays), mark_ns, made_ns, now_ns))
            epochs.delays_us = []
        instance.watermark_ns = mark_ns
        instance.clocks_ns = {"event": made_ns, "append": item.ready_ns, "ingest": now_ns}

    def sweeps(self, instance: Instance, before_ns: int, after_ns: int) -> bool:
        """Whether a window of the query of a source or sink ends with the rise of the watermark (section 17)."""
        if after_ns == END_OF_LOG_WATERMARK:
            return False
        query = self.experiment.query
        start_ns = query.starts_ns.get(instance.operator.id, 0)
        way = {"source": ("source", "target"), "sink": ("target", "source")}[instance.operator.kind]
        near, found = {instance.operator.id}, False
        while True:
            more = {getattr(edge, way[1]) for edge in query.edges if not edge.feedback and getattr(edge, way[0]) in near} - near
            if not more:
                break
            near |= more
        for operator in query.operators:
            window = getattr(operator.parameters, "window", None)
            fires = operator.kind == "window_join" or (operator.kind == "aggregate" and operator.parameters.emit == "on_close")
            if operator.id in near and fires and window.kind in ("tumbling", "sliding") and window.clock == "event":
                every_ns = seconds(window.slide_s if window.kind == "sliding" else window.size_s)
                end_ns = query.starts_ns.get(operator.id, 0) + seconds(window.origin_s) + seconds(window.size_s)
                last_ns = after_ns - (after_ns - end_ns) % every_ns  # the last end that has been reached
                found = found or last_ns > max(before_ns, start_ns)
        return found

    def taken_in(self, record: Record) -> Record:
        """The log record as it leaves its source, with its clocks (section 8)."""
        clocks_ns = {"event": record.event_ns, "append": record.append_ns, "ingest": self.environment.now}
        return replace(record, anchors=Anchors(clocks_ns, clocks_ns, clocks_ns, clocks_ns))

    def consumed(self, channel: Channel) -> None:
        """The receiver starts on the channel's next record: the credit travels back, and wakes the sender if it waits for just this one."""
        channel.credits_ns.append(self.credit_back_ns(channel))
        if channel.sender.waiting_for == (channel, len(channel.credits_ns) - 1):
            channel.sender.waiting_for = None
            self.wake_at(channel.credits_ns[-1], channel.sender)
