"""The same model in SimPy, written for speed, as the measure of the engine's own (`ratio_to_simpy`).

Written the way one who knows SimPy well would: no process per record, one timeout per service and one per message, plain tuples and
deques, routing memorised, no trace and no checks. It models hosts with shared or dedicated cores, prices, links with bandwidth and latency,
and the real operators on real records; ties fall as SimPy's heap lets them, so it is not the oracle (`tests/oracle`), which follows the
structural order and is slower. Making the input is not timed, which is to SimPy's advantage.
"""

from __future__ import annotations

import heapq
import struct
import time
from collections import deque
from collections.abc import Callable, Generator
from typing import Any

import simpy

from engine.placement import place
from engine.prices import price_of
from engine.spec import Experiment, RecordSchema
from engine.spec.base.units import microseconds_ps, seconds_ns
from engine.spec.experiment import registry
from engine.spec.experiment.cluster import pair_links
from engine.spec.expressions.parser import parse
from engine.workloads import Strings, build_feed

Row = tuple[Any, ...]
Message = tuple[Any, ...]  # receiver, its port, the record's values, the trigger's append time; what gives its credit back, if it has one


def simpy_hops_per_s(
    document: Any, records: int, datasets: Callable[[str], Any] | None = None, textbook: bool = False
) -> tuple[int, float]:
    """Run the document's model over its first `records` input records; returns record-hops (services of records) and wall seconds.

    textbook: cores are SimPy processes that take from a `Store`, as SimPy's own examples have it, instead of callbacks on timeouts.

    Raises ValueError for what this model does not have: watermarks, windows of the event clock, rows of closing panes; credits and
    processor sharing but in textbook form.
    """
    model = Model(
        document if isinstance(document, Experiment) else Experiment.model_validate(document),
        records,
        datasets,
        ProcessCore if textbook else Core,
    )
    started = time.perf_counter()
    model.environment.run(until=model.until_ns)
    return model.hops, time.perf_counter() - started


class Core:
    """One core: a queue, and the item in service."""

    __slots__ = ("environment", "model", "queue", "serving")

    def __init__(self, model: Model):
        self.model, self.environment = model, model.environment
        self.queue: deque[Message] = deque()
        self.serving: tuple[Instance, list[Row], int] | None = None

    def receive(self, message: Message) -> None:
        if self.serving is None:
            self.serve(message)
        else:
            self.queue.append(message)

    def serve(self, message: Message) -> None:
        instance, port, row, append_ns = message
        outputs = instance.work(port, row)
        self.serving = (instance, outputs, append_ns)
        timeout = self.environment.timeout(instance.service_ns(len(outputs)))
        timeout.callbacks.append(self.end)

    def end(self, _: Any) -> None:
        instance, outputs, append_ns = self.serving  # type: ignore[misc]
        self.serving = None
        self.model.hops += 1
        for row in outputs:
            instance.send(row, append_ns)
        if instance.is_sink:
            self.model.latency_sum_ns += self.environment.now - append_ns
        if self.queue and self.serving is None:
            self.serve(self.queue.popleft())


class ProcessCore(Core):
    """The same core in textbook form: a process that takes items from a store and waits out each service.

    sharing: the processor that its services share, None for a core of its own.
    """

    __slots__ = ("sharing", "store")

    def __init__(self, model: Model, sharing: Sharing | None = None):
        super().__init__(model)
        self.sharing = sharing
        self.store = simpy.Store(model.environment)
        model.environment.process(self.serve_all())

    def receive(self, message: Message) -> None:
        self.store.put(message)

    def serve_all(self) -> Generator[simpy.Event, Any, None]:
        while True:
            instance, port, row, append_ns, *taken = yield self.store.get()
            if taken:
                taken[0]()
            outputs = instance.work(port, row)
            service_ns = instance.service_ns(len(outputs))
            yield self.environment.timeout(service_ns) if self.sharing is None else self.sharing.serve(service_ns)
            self.model.hops += 1
            for output in outputs:
                if self.model.credits is None:
                    instance.send(output, append_ns)
                else:
                    for route in instance.routes:
                        credit, send = route(output, append_ns)  # type: ignore[misc, func-returns-value]
                        yield credit.get(1)
                        send()
            if instance.is_sink:
                self.model.latency_sum_ns += self.environment.now - append_ns


class Sharing:
    """Cores that all services of a host share in equal parts, by a heap of the virtual times at which they end."""

    def __init__(self, environment: simpy.Environment, cores: float):
        self.environment, self.cores = environment, cores
        self.ends: list[tuple[float, int, simpy.Event]] = []
        self.virtual_ns = 0.0
        self.changed_ns = 0
        self.version = 0

    def serve(self, service_ns: int) -> simpy.Event:
        """An event at the end of so much service."""
        self._go_on()
        event = self.environment.event()
        heapq.heappush(self.ends, (self.virtual_ns + service_ns, self.version, event))
        self._plan()
        return event

    def _rate(self) -> float:
        return min(1.0, self.cores / len(self.ends))

    def _go_on(self) -> None:
        if self.ends:
            self.virtual_ns += (self.environment.now - self.changed_ns) * self._rate()
        self.changed_ns = self.environment.now

    def _plan(self) -> None:
        self.version += 1
        if self.ends:
            version = self.version
            left_ns = max(0.0, self.ends[0][0] - self.virtual_ns) / self._rate()
            self.environment.timeout(left_ns).callbacks.append(lambda _: self._end(version))

    def _end(self, version: int) -> None:
        if version == self.version:
            self._go_on()
            heapq.heappop(self.ends)[2].succeed()
            self._plan()


class Instance:
    """An instance of an operator, its prices and its ways out."""

    def __init__(self, operator: Any, index: int, host: int, core: Core, prices: tuple[int, int], speed_milli: int):
        self.operator, self.index, self.host, self.core = operator, index, host, core
        self.record_ps, self.output_ps = prices
        self.speed_milli = speed_milli
        self.is_sink = operator.kind == "sink"
        self.routes: list[Callable[[Row, int], None]] = []  # one per leaving edge
        self.work: Callable[[str, Row], list[Row]] = lambda port, row: [row]
        self._service_ns: dict[int, int] = {}

    def service_ns(self, outputs: int) -> int:
        known = self._service_ns.get(outputs)
        if known is None:
            cost_ps = self.record_ps + self.output_ps * outputs
            known = self._service_ns[outputs] = max(1, -(-cost_ps // self.speed_milli))
        return known

    def send(self, row: Row, append_ns: int) -> None:
        for route in self.routes:
            route(row, append_ns)


class Model:
    """Everything built from the document, ready to run until `until_ns`."""

    def __init__(self, experiment: Experiment, records: int, datasets: Callable[[str], Any] | None, core: type[Core] = Core):
        self.experiment, self.core = experiment, core
        self.environment = simpy.Environment()
        self.hops, self.latency_sum_ns = 0, 0
        flow_control = experiment.policies.flow_control
        self.credits: int | None = flow_control.per_channel if flow_control.kind == "credits" else None
        if self.credits is not None and core is Core:
            raise ValueError("flow_control is credits; this model has them in textbook form only")
        self.hosts = experiment.expanded_hosts()
        self.link_free_ns = [0] * len(self.hosts)
        own_ns = {pair: link.latency_ns for pair, link in pair_links(experiment.cluster).items() if link.latency_ns is not None}
        self.latency_ns = [[own_ns.get((a.index, b.index), a.egress_latency_ns) for b in self.hosts] for a in self.hosts]
        self.schemas: dict[str, RecordSchema] = {}
        self.strings = Strings()
        self.instances = self._place()
        self.until_ns = self._feed(records, datasets)
        self._operators()
        self._connect()

    def _place(self) -> dict[str, list[Instance]]:
        operators = self.experiment.query.operators
        placed = place(self.experiment.placement, operators, self.hosts)
        kinds = {host.index: host.processor.kind for host in self.hosts}
        shared = {h.index: [self.core(self) for _ in range(h.cores_milli // 1000)] for h in self.hosts if kinds[h.index] == "shared_fifo"}
        sharing = {h.index: Sharing(self.environment, h.cores_milli / 1000) for h in self.hosts if kinds[h.index] == "processor_sharing"}
        for host in self.hosts:
            if kinds[host.index] == "pool" or (host.index in sharing and self.core is Core):
                raise ValueError(f"host '{host.name}' has a {kinds[host.index]} processor; this model has none in this form")
        if self.credits is not None and shared:
            raise ValueError(
                "a core that several instances share waits for credits with all of them; this model has credits on own cores only"
            )
        count = [0] * len(self.hosts)
        instances: dict[str, list[Instance]] = {}
        for operator in operators:
            record_ps, output_ps, _ = price_of(self.experiment.prices, operator.kind)
            if operator.cost is not None:
                record_ps = record_ps if operator.cost.record_us is None else microseconds_ps(operator.cost.record_us)
                output_ps = output_ps if operator.cost.output_us is None else microseconds_ps(operator.cost.output_us)
            instances[operator.id] = []
            for index, host in enumerate(placed[operator.id]):
                if host in sharing:
                    core: Core = ProcessCore(self, sharing[host])
                else:
                    core = shared[host][count[host] % len(shared[host])] if host in shared else self.core(self)
                count[host] += 1
                instances[operator.id].append(Instance(operator, index, host, core, (record_ps, output_ps), self.hosts[host].speed_milli))
        return instances

    def _feed(self, records: int, datasets: Callable[[str], Any] | None) -> int:
        """A process per source instance that appends its log; returns the time at which the first `records` have been appended."""
        rows: list[tuple[int, Instance, Row]] = []
        sources = [operator.id for operator in self.experiment.query.operators if operator.kind == "source"]
        for number, id in enumerate(sources):
            if self.experiment.workload.sources[id].watermarks.kind != "none":
                raise ValueError(f"source '{id}' has watermarks; this model has none")
            feed = build_feed(self.experiment, id, number, self.strings, datasets or (lambda name: None))
            self.schemas[id] = feed.schema
            chunk = feed.chunk(0, self.experiment.workload.horizon_ns)
            columns = [self._decode(chunk.words[:, c], field.type) for c, field in enumerate(feed.schema.fields)]
            instances = self.instances[id]
            logs: list[list[tuple[int, Row]]] = [[] for _ in instances]
            for append_ns, partition, row in zip(
                chunk.append_ns.tolist(), chunk.partition.tolist(), zip(*columns, strict=True), strict=True
            ):
                logs[partition].append((append_ns, row))
                rows.append((append_ns, instances[partition], row))
            for instance, log in zip(instances, logs, strict=True):
                self.environment.process(self._append(instance, log))
        rows.sort(key=lambda entry: entry[0])
        return rows[min(records, len(rows)) - 1][0] + 1

    def _decode(self, words: Any, type: str) -> list[Any]:
        if type == "string":
            return self.strings.texts(words.tolist())
        if type == "float":
            return [struct.unpack("<d", struct.pack("<q", word))[0] for word in words.tolist()]
        return words.tolist()

    def _append(self, instance: Instance, log: list[tuple[int, Row]]) -> Any:
        environment, receive = self.environment, instance.core.receive
        for append_ns, row in log:
            if append_ns > environment.now:
                yield environment.timeout(append_ns - environment.now)
            receive((instance, "", row, append_ns))

    # Operators

    def _operators(self) -> None:
        """What each instance does, and the schemas along the edges, as soon as an operator's inputs are known."""
        waiting = [operator for operator in self.experiment.query.operators if operator.kind != "source"]
        while waiting:
            for operator in list(waiting):
                feeding = {edge.target_port: edge.source for edge in self.experiment.query.edges if edge.target == operator.id}
                if not all(source in self.schemas for source in feeding.values()):
                    continue
                inputs = {port: self.schemas[source] for port, source in feeding.items()}
                if operator.kind != "sink":
                    self.schemas[operator.id] = registry.operator(operator.kind).output_schemas(operator.parameters, inputs)["out"]
                for instance in self.instances[operator.id]:
                    instance.work = getattr(self, f"_{operator.kind}")(operator.parameters, inputs)
                waiting.remove(operator)

    def _sink(self, params: Any, inputs: dict[str, RecordSchema]) -> Callable[[str, Row], list[Row]]:
        nothing: list[Row] = []
        return lambda port, row: nothing

    def _filter(self, params: Any, inputs: dict[str, RecordSchema]) -> Callable[[str, Row], list[Row]]:
        holds = _as_python(params.predicate, inputs["in"])
        return lambda port, row: [row] if holds(*row) else []

    def _map(self, params: Any, inputs: dict[str, RecordSchema]) -> Callable[[str, Row], list[Row]]:
        fields = [_as_python(field.expression, inputs["in"]) for field in params.fields]
        return lambda port, row: [tuple(field(*row) for field in fields)]

    def _pane(self, window: Any) -> Callable[[], int]:
        """Start of the pane that is open now; 0 where there is one pane for ever."""
        if window.kind in ("none", "full_history"):
            return lambda: 0
        if window.kind != "tumbling" or window.clock != "processing":
            raise ValueError(
                f"window {window.kind} by the {window.clock} clock; this model has tumbling windows of the processing clock only"
            )
        size_ns, origin_ns, environment = seconds_ns(window.size_s), seconds_ns(window.origin_s), self.environment
        return lambda: (environment.now - origin_ns) // size_ns * size_ns + origin_ns

    def _aggregate(self, params: Any, inputs: dict[str, RecordSchema]) -> Callable[[str, Row], list[Row]]:
        """Counts by key, one row for each record; the state of a pane is dropped when the next one begins."""
        if params.emit != "on_update" or params.key is None or any(a.function != "count" for a in params.aggregates):
            raise ValueError("aggregate: this model has counts by key, emitted on_update, only")
        key_at, pane_of, width = inputs["in"].index(params.key), self._pane(params.window), len(params.aggregates)
        size_ns = seconds_ns(params.window.size_s) if params.window.kind != "none" else None
        counts: dict[Any, int] = {}
        open_pane = pane_of()

        def work(port: str, row: Row) -> list[Row]:
            nonlocal open_pane
            pane = pane_of()
            if pane != open_pane:
                counts.clear()
                open_pane = pane
            key = row[key_at]
            count = counts[key] = counts.get(key, 0) + 1
            bounds = () if size_ns is None else (pane, pane + size_ns)
            return [(key, *bounds, *(count,) * width)]

        return work

    def _join(self, params: Any, inputs: dict[str, RecordSchema]) -> Callable[[str, Row], list[Row]]:
        names = {name: (0, c) for c, name in enumerate(inputs["left"].names)}
        for c, name in enumerate(inputs["right"].names):
            while name in names:
                name = f"right_{name}"
            names[name] = (1, c)
        chosen = [names[name] for name in (params.select if params.select is not None else names)]
        left_key, right_key = inputs["left"].index(params.left_key), inputs["right"].index(params.right_key)
        stored: tuple[dict[Any, list[Row]], dict[Any, list[Row]]] = ({}, {})
        pane_of = self._pane(params.window)
        open_pane = pane_of()

        def work(port: str, row: Row) -> list[Row]:
            nonlocal open_pane
            pane = pane_of()
            if pane != open_pane:
                stored[0].clear()
                stored[1].clear()
                open_pane = pane
            if port == "left":
                key = row[left_key]
                stored[0].setdefault(key, []).append(row)
                return [tuple((row, other)[side][c] for side, c in chosen) for other in stored[1].get(key, ())]
            key = row[right_key]
            stored[1].setdefault(key, []).append(row)
            return [tuple((other, row)[side][c] for side, c in chosen) for other in stored[0].get(key, ())]

        return work

    # Channels

    def _connect(self) -> None:
        for edge in self.experiment.query.edges:
            receivers = self.instances[edge.target]
            for sender in self.instances[edge.source]:
                sends = [self._channel(sender, receiver, edge.target_port, self.schemas[edge.source].bytes) for receiver in receivers]
                sender.routes.append(self._route(edge.partitioning, sender, sends, self.schemas[edge.source]))

    def _channel(self, sender: Instance, receiver: Instance, port: str, size_bytes: int) -> Callable[[Row, int], None]:
        """Sends one record: over the egress link and the wire, or by hand-over on the same host."""
        environment, receive, link_free_ns, host = self.environment, receiver.core.receive, self.link_free_ns, sender.host
        latency_ns = self.latency_ns[host][receiver.host]
        transfer_ns = -(-size_bytes * 8000 // self.hosts[host].egress_mbit_per_s)
        local_latency_ns = self.experiment.cluster.local_latency_ns if host == receiver.host else None
        credit = simpy.Container(environment, init=self.credits) if self.credits is not None else None
        back_ns = local_latency_ns or self.latency_ns[receiver.host][host]

        def give_back() -> None:
            environment.timeout(back_ns).callbacks.append(lambda _: credit.put(1))  # type: ignore[union-attr]

        def with_credit(row: Row, append_ns: int) -> tuple[simpy.Container, Callable[[], None]]:
            return credit, lambda: send(row, append_ns, give_back)

        def send(row: Row, append_ns: int, *taken: Callable[[], None]) -> None:
            if local_latency_ns is not None:
                delay_ns = local_latency_ns
            else:
                now_ns = environment.now
                link_free_ns[host] = max(now_ns, link_free_ns[host]) + transfer_ns
                delay_ns = link_free_ns[host] + latency_ns - now_ns
            message = (receiver, port, row, append_ns, *taken)
            environment.timeout(delay_ns).callbacks.append(lambda _: receive(message))

        return send if credit is None else with_credit  # type: ignore[return-value]

    def _route(
        self, partitioning: Any, sender: Instance, sends: list[Callable[[Row, int], None]], schema: RecordSchema
    ) -> Callable[[Row, int], None]:
        kind = partitioning.kind
        if kind == "forward":
            return sends[sender.index]
        if kind == "broadcast":
            if self.credits is not None:
                raise ValueError("an edge is a broadcast; with credits this model sends each record to one receiver")

            def to_all(row: Row, append_ns: int) -> None:
                for send in sends:
                    send(row, append_ns)

            return to_all
        if kind == "rebalance":
            turn = [sender.index]

            def to_next(row: Row, append_ns: int) -> None:
                turn[0] += 1
                return sends[(turn[0] - 1) % len(sends)](row, append_ns)

            return to_next
        key_at, known = schema.index(partitioning.key), {}  # type: ignore[var-annotated]

        def by_key(row: Row, append_ns: int) -> None:
            key = row[key_at]
            send = known.get(key)
            if send is None:
                send = known[key] = sends[self._receiver(partitioning, key, len(sends))]
            return send(row, append_ns)

        return by_key

    def _receiver(self, partitioning: Any, key: Any, receivers: int) -> int:
        word = self.strings.code(key) if isinstance(key, str) else int(key)
        if partitioning.scheme == "modulo":
            return word % receivers
        x = word & 0xFFFFFFFFFFFFFFFF
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
        x = (x ^ x >> 27) * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
        return (x ^ x >> 31) % partitioning.key_groups * receivers // partitioning.key_groups


def _as_python(text: str, schema: RecordSchema) -> Callable[..., Any]:
    """The expression as a Python function of the record's values, which is what one would write by hand.

    The language is a subset of Python's and `parse` refuses everything else, so evaluating the text can do no harm.
    """
    parse(text, schema)
    function: Callable[..., Any] = eval(
        f"lambda {', '.join(schema.names)}: {text}", {"__builtins__": {}, "abs": abs, "min": min, "max": max}
    )
    return function
