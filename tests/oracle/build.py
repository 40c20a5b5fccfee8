"""From a document and its input to the objects of `plan`."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine import placement
from engine.prices import PRICE_LISTS
from engine.spec import Experiment, RecordSchema
from engine.spec.experiment import registry
from engine.spec.expressions.parser import parse
from engine.workloads import Strings, build_feed

from .aggregates import CountWindowAggregate, PaneAggregate, SessionAggregate
from .expressions import comparisons
from .joins import ExpiringJoin, IntervalJoin, Join, PathJoin, WindowJoin
from .memory import Memory
from .operators import Behaviour, BlockReceiver, Filter, Map, Project, Receiver, Sink, Split
from .plan import Channel, Edge, Fifo, Host, Instance, Link, Log, Prices, Processor, integer, milliseconds, seconds
from .records import Mark, Marker, Record
from .similarity import SIMILARITY

Schemas = dict[tuple[str, str], RecordSchema]
"""What leaves, by operator and output port."""

U64 = (1 << 64) - 1
MARK_TRIGGER = -2  # of a feed's rows that are watermarks
MARKER_TRIGGER = -4  # of its latency markers, less their numbers


def mix64(key: int) -> int:
    """The finaliser of splitmix64 on the unsigned 64-bit key (section 4)."""
    x = key & U64
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & U64
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & U64
    return x ^ (x >> 31)


@dataclass(eq=False)
class Network:
    """Everything of section 1, ready to run."""

    experiment: Experiment
    hosts: list[Host]
    instances: list[Instance]
    edges: list[Edge]
    logs: list[Log]
    strings: Strings
    schemas: Schemas = field(default_factory=dict)

    def log_of(self, instance: Instance) -> Log:
        return next(log for log in self.logs if log.instance is instance)

    def word(self, key: Any) -> int:
        """A key as the integer that partitioning sees: a bool is 0/1, a string its dictionary code."""
        return self.strings.code(key) if isinstance(key, str) else int(key)

    def key_group(self, partitioning: Any, key: Any) -> int:
        word = self.word(key)
        return (mix64(word) if partitioning.mixed else word) % partitioning.key_groups

    def hash_receiver(self, partitioning: Any, key: Any, receivers: int) -> int:
        if partitioning.scheme == "modulo":
            return self.word(key) % receivers
        return self.key_group(partitioning, key) * receivers // partitioning.key_groups


def build(experiment: Experiment, datasets: Any = None) -> Network:
    """Hosts, processors, instances, channels and logs, numbered as section 1 says."""
    hosts = build_hosts(experiment)
    network = Network(experiment, hosts, place(experiment, hosts), [], [], Strings())
    pin(experiment, hosts, network.instances)
    schemas = network.schemas = read_logs(network, datasets)
    derive_schemas(experiment, schemas)
    connect(network, schemas)
    for instance in network.instances:
        instance.behaviour = behaviour_of(network, instance, schemas)
    price_values(network, schemas)
    equip(network)
    register_texts(network)
    return network


def register_texts(network: Network) -> None:
    """Codes of the texts that expressions bring into the run (section 4): the streams' own texts have theirs already."""
    used: set[str] = set()
    for instance in network.instances:
        for expression in instance.behaviour.expressions:
            used |= expression.calls()
            for text in expression.strings():
                network.strings.code(text)
    known = -1
    while known < len(network.strings):
        known = len(network.strings)
        for change in (str.lower, str.upper):
            if change.__name__ in used:
                for text in network.strings.as_list():
                    network.strings.code(change(text))


def equip(network: Network) -> None:
    """Memory, where something follows from what a host holds (section 13)."""
    ingress = network.experiment.policies.ingress
    templates = [template for template in network.experiment.cluster.hosts for _ in range(template.count or 1)]
    for host, template in zip(network.hosts, templates, strict=True):
        here = [instance for instance in network.instances if instance.host is host]
        model = None if template.memory.kind == "counted" else template.memory
        guard = ingress if ingress.kind != "read" and any(instance.operator.kind == "source" for instance in here) else None
        if model is not None or guard is not None:
            host.memory = Memory(model, guard, template.memory_mb, here)


def build_hosts(experiment: Experiment) -> list[Host]:
    hosts: list[Host] = []
    own_latency_ns = []
    for template in experiment.cluster.hosts:
        for copy in range(template.count or 1):
            name = template.name if template.count is None else f"{template.name}{copy + 1}"
            hosts.append(Host(len(hosts), name, integer(template.speed, 1000), Fifo(template.egress_mbit_per_s)))
            hosts[-1].own_speed_milli = hosts[-1].speed_milli
            own_latency_ns.append(milliseconds(template.egress_latency_ms))
            if template.processor.kind in ("shared_fifo", "pool"):
                hosts[-1].processors = [Processor(0) for _ in range(int(template.cores))]
    for host in hosts:
        for other in hosts:
            if other is not host:
                host.links[other.number] = Link(host.number, other.number, own_latency_ns[host.number], host.egress)
    wire(experiment, hosts)
    return hosts


def wire(experiment: Experiment, hosts: list[Host]) -> None:
    """Links of regions and of their own, trunks and faults (section 4.1)."""
    by_name = {host.name: host for host in hosts}
    region_of = [template.group for template in experiment.cluster.hosts for _ in range(template.count or 1)]
    for shared in experiment.cluster.region_links:
        for link in (link for host in hosts for link in host.links.values()):
            ends = (region_of[link.source], region_of[link.target])
            if ends != (shared.source, shared.target) and not (shared.both_ways and ends == (shared.target, shared.source)):
                continue
            if shared.latency_ms is not None:
                link.base_latency_ns = milliseconds(shared.latency_ms)
            if shared.mbit_per_s is not None:
                link.fifo = Fifo(shared.mbit_per_s)
    for written in experiment.cluster.links:
        link = by_name[written.source].links[by_name[written.target].number]
        if written.latency_ms is not None:
            link.base_latency_ns = milliseconds(written.latency_ms)
        if written.mbit_per_s is not None:
            link.fifo = Fifo(written.mbit_per_s)
    for trunk in experiment.cluster.trunks:
        fifo = Fifo(trunk.mbit_per_s)
        for link in between(experiment, hosts, trunk.sources, trunk.targets):
            link.trunk = fifo
    for fault in experiment.faults:
        if fault.kind not in ("partition", "delay"):
            continue
        begin, end = seconds(fault.from_s), math.inf if fault.to_s is None else seconds(fault.to_s)
        befallen = between(experiment, hosts, fault.sources, fault.targets)
        if fault.both_ways:
            back = [hosts[link.target].links[link.source] for link in befallen]
            befallen += [link for link in back if link not in befallen]
        for link in befallen:
            if fault.kind == "partition":
                link.cuts.append((begin, end))
            else:
                link.delays.append((begin, end, milliseconds(fault.added_ms)))


def between(experiment: Experiment, hosts: list[Host], sources: Any, targets: Any) -> list[Link]:
    """Links from hosts to hosts; a name stands for one machine, or for all machines of an entry."""
    machines = {host.name for host in hosts}
    entry_of = []
    for template in experiment.cluster.hosts:
        entry_of += [template.name] * (template.count or 1)

    def chosen(names: Any) -> list[Host]:
        return [
            host for host, entry in zip(hosts, entry_of, strict=True) if host.name in names or (entry in names and entry not in machines)
        ]

    senders = chosen(sources)
    receivers = [host for host in hosts if host not in senders] if targets is None else chosen(targets)
    return [a.links[b.number] for a in senders for b in receivers if a is not b]


def place(experiment: Experiment, hosts: list[Host]) -> list[Instance]:
    """The instances, each on the host that the document's placement strategy gives it."""
    operators = experiment.query.operators
    host_numbers = placement.place(experiment.placement, operators, experiment.expanded_hosts())
    instances: list[Instance] = []
    for operator in operators:
        prices = prices_of(experiment.prices, operator)
        for index, host_number in enumerate(host_numbers[operator.id]):
            instances.append(Instance(len(instances), operator, index, hosts[host_number], replace(prices)))
    return instances


def prices_of(price_list: str, operator: Any) -> Prices:
    """The price list's, but for what the operator's own `cost` gives."""
    names = ("record_ps", "output_ps", "control_ps")
    price = PRICE_LISTS[price_list].price(operator.kind, registry.operator(operator.kind).priced_as)
    listed = {name: getattr(price, name) for name in names}
    cost = operator.cost
    own = {name: getattr(cost, name.replace("_ps", "_us")) for name in names} if cost is not None else {}
    varying = {} if cost is None else {"noise": cost.noise, "drift": cost.drift, "warmup": cost.warmup}
    if cost is not None:
        varying["attainable"] = integer(cost.attainable, 1 << 16)
        varying["state_reference"] = integer(cost.state_reference_mb or 0, 10**6)
    return Prices(**listed | {name: integer(us, 10**6) for name, us in own.items() if us is not None}, **varying)


def price_values(network: Network, schemas: Schemas) -> None:
    """Add what values cost: comparing, parsing, reading in firings, and crossing to other hosts (section 3.3)."""
    listed = PRICE_LISTS[network.experiment.prices]
    for edge in network.edges:
        edge.sent_ps, edge.received_ps = (ps * edge.fields for ps in (listed.values.sent_ps, listed.values.received_ps))
    for instance in network.instances:
        operator, prices = instance.operator, instance.prices
        overridden = operator.cost is not None and operator.cost.record_us is not None
        if not overridden:
            prices.record_ps += sum(listed.values.compared_ps.get(type, 0) for type in compared(operator, network, schemas))
            if operator.kind == "source":
                prices.record_ps += listed.values.parsed_ps * len(schemas[operator.id, "out"].fields)
        price = listed.price(operator.kind, registry.operator(operator.kind).priced_as)
        if price.read_ps is not None and not overridden:
            prices.read_ps = price.read_ps
        elif operator.kind.endswith("aggregate"):
            prices.read_ps = prices.record_ps
        elif operator.kind in SIMILARITY:
            prices.read_ps = 300_000


def compared(operator: Any, network: Network, schemas: Schemas) -> list[str]:
    """Types of the values that serving a record compares or folds, one for each time."""
    params = operator.parameters
    inputs = {edge.target_port: schemas[edge.source, edge.source_port] for edge in network.edges if edge.target == operator.id}
    if operator.kind == "filter":
        return comparisons(params.predicate, lambda text: parse(text, inputs["in"]).type)
    if operator.kind in JOINS:
        return [inputs["left"].type_of(params.left_key)]
    if operator.kind.endswith("aggregate"):
        names = [params.key, *(aggregate.field for aggregate in params.aggregates)]
        return [inputs["in"].type_of(name) for name in names if name is not None]
    return []


def pin(experiment: Experiment, hosts: list[Host], instances: list[Instance]) -> None:
    """Instances to processors: all to each of a pool, but for those with a thread of their own; else one of its own, unless the host has
    cores to pin to: then the j-th to j mod cores."""
    for host, template in zip(hosts, [t for t in experiment.cluster.hosts for _ in range(t.count or 1)], strict=True):
        shared = list(host.processors)
        if template.processor.kind == "pool":
            for processor in shared:
                processor.instances = [
                    instance for instance in instances if instance.host is host and instance.operator.kind not in OWN_THREAD
                ]
                for instance in processor.instances:
                    instance.processors.append(processor)
            for instance in instances:
                if instance.host is host and instance.operator.kind in OWN_THREAD:
                    host.processors.append(Processor(0, [instance]))
                    instance.processors.append(host.processors[-1])
            continue
        for j, instance in enumerate(instance for instance in instances if instance.host is host):
            if not shared:
                host.processors.append(Processor(0))
            processor = shared[j % len(shared)] if shared else host.processors[-1]
            processor.instances.append(instance)
            instance.processors.append(processor)
    for number, processor in enumerate(processor for host in hosts for processor in host.processors):
        processor.number = number


OWN_THREAD = ("block_receiver",)

JOINS = {"join": Join, "window_join": WindowJoin, "interval_join": IntervalJoin, "expiring_join": ExpiringJoin, "path_join": PathJoin}


def read_logs(network: Network, datasets: Any) -> Schemas:
    """The logs of all sources; returns the schemas of their records."""
    experiment = network.experiment
    schemas: Schemas = {}
    sources = [operator for operator in experiment.query.operators if operator.kind == "source"]
    for source_number, operator in enumerate(sources):
        feed = build_feed(experiment, operator.id, source_number, network.strings, datasets)
        chunk = feed.chunk(0, 1 << 62)
        vectors = feed.vectors()
        logs: list[list[Record | Mark | Marker]] = [[] for _ in range(operator.parallelism)]
        partitions = experiment.workload.sources[operator.id].partitions or operator.parallelism
        rows = zip(
            chunk.append_ns.tolist(),
            chunk.event_ns.tolist(),
            chunk.trigger.tolist(),
            chunk.partition.tolist(),
            chunk.words.tolist(),
            strict=True,
        )
        for append_ns, event_ns, trigger, partition, words in rows:
            entry: Record | Mark | Marker
            if trigger <= MARKER_TRIGGER:
                entry = Marker(MARKER_TRIGGER - trigger, {"event": event_ns, "append": append_ns}, append_ns)
            elif trigger == MARK_TRIGGER:
                entry = Mark(append_ns, event_ns)
            else:
                fields = zip(words, feed.schema.fields, strict=True)
                values = {f.name: value_of(word, f.type, network.strings, vectors) for word, f in fields}
                entry = Record(values, event_ns, trigger, append_ns=append_ns)
            logs[partition * operator.parallelism // partitions].append(entry)
        watermarks = experiment.workload.sources[operator.id].watermarks
        period_ns = milliseconds(watermarks.period_ms) if watermarks.kind == "bounded" else 0
        lag_ns = milliseconds(watermarks.lag_ms) if watermarks.kind != "none" else 0
        instances = [instance for instance in network.instances if instance.operator is operator]
        coordinated = experiment.workload.sources[operator.id].generation.kind == "coordinated"
        time_fields = [f.name for f in feed.schema.fields if f.type == "timestamp"]
        network.logs += [
            Log(
                instance,
                entries,
                feed.closes_ns,
                watermarks.kind != "none",
                coordinated,
                time_fields,
                period_ns,
                lag_ns,
                start_ns=start_of(experiment, operator.id),
            )
            for instance, entries in zip(instances, logs, strict=True)
        ]
        schemas[operator.id, "out"] = feed.schema
    return schemas


def start_of(experiment: Experiment, id: str) -> int:
    """When the operator's query starts (section 1)."""
    return next((seconds(query.start_s) for query in experiment.query.queries if id in query.operators), 0)


def value_of(word: int, type_name: str, strings: Strings, vectors: Mapping[int, Any]) -> Any:
    """One 64-bit word of the feed as a Python value; a vector as a list."""
    if type_name == "vector":
        found: list[float] = vectors[word >> 40][word & ((1 << 40) - 1)].tolist()
        return found
    if type_name == "float":
        return struct.unpack("<d", struct.pack("<q", word))[0]
    if type_name == "string":
        return strings.text(word)
    return bool(word) if type_name == "bool" else word


def derive_schemas(experiment: Experiment, schemas: Schemas) -> None:
    """Add the output schemas of the other operators, as soon as all of their inputs are known."""
    waiting = [operator for operator in experiment.query.operators if operator.kind not in ("source", "sink")]
    while waiting:
        for operator in list(waiting):
            inwards = [edge for edge in experiment.query.edges if edge.target == operator.id]
            feeding = {edge.target_port: (edge.source, edge.source_port) for edge in inwards if not edge.feedback}
            if all(source in schemas for source in feeding.values()):
                inputs = {edge.target_port: RecordSchema.of(**{f.name: f.type for f in edge.fields}) for edge in inwards if edge.fields}
                inputs |= {port: schemas[source] for port, source in feeding.items()}
                outputs = registry.operator(operator.kind).output_schemas(operator.parameters, inputs)
                schemas |= {(operator.id, port): schema for port, schema in outputs.items()}
                waiting.remove(operator)


def connect(network: Network, schemas: Schemas) -> None:
    """Edges and their channels, in document order."""
    by_operator: dict[str, list[Instance]] = {}
    for instance in network.instances:
        by_operator.setdefault(instance.operator.id, []).append(instance)
    envelope_bytes = network.experiment.cluster.envelope_bytes
    for number, written in enumerate(network.experiment.query.edges):
        schema = schemas[written.source, written.source_port]
        ends = (written.source, written.source_port, written.target, written.target_port)
        edge = Edge(number, *ends, written.partitioning, schema.bytes, len(schema.fields), written.feedback, envelope_bytes)
        edge.capacity = written.capacity
        network.edges.append(edge)
        for sender in by_operator[edge.source]:
            sender.outputs.append(edge)
            for receiver in by_operator[edge.target]:
                if edge.partitioning.kind != "forward" or sender.index == receiver.index:
                    channel = Channel(edge, sender, receiver)
                    edge.channels.setdefault(sender.index, []).append(channel)
                    receiver.inputs_of_any_kind += 1
                    if not edge.feedback:
                        receiver.inputs.append(channel)


def counted_from(start_ns: int, behaviour: Any) -> Any:
    """The panes of a query count from its start."""
    if panes := getattr(behaviour, "panes", None):
        behaviour.panes = replace(panes, origin_ns=panes.origin_ns + start_ns)
    return behaviour


def behaviour_of(network: Network, instance: Instance, schemas: Schemas) -> Behaviour:
    """The instance's own copy of what its operator does."""
    operator = instance.operator
    params = operator.parameters
    start_ns = start_of(network.experiment, operator.id)
    feeding = [edge for edge in network.edges if edge.target == operator.id]
    inputs = {edge.target_port: schemas[edge.source, edge.source_port] for edge in sorted(feeding, key=lambda edge: not edge.feedback)}
    if operator.kind == "filter":
        return Filter(params, inputs["in"])
    if operator.kind == "map":
        return Map(params, inputs["in"])
    if operator.kind == "project":
        return Project(params)
    if operator.kind == "receiver":
        return Receiver()
    if operator.kind == "block_receiver":
        return BlockReceiver(seconds(params.batch_s))
    if operator.kind == "split":
        return Split(params, inputs["in"])
    if operator.kind in SIMILARITY:
        texts = [network.strings.as_list()] if operator.kind.endswith("_partitioner") else []
        behaviour = counted_from(start_ns, SIMILARITY[operator.kind](params, inputs, *texts))
        behaviour.clock = network.experiment.measurement.latency.clock
        return behaviour
    if operator.kind in JOINS:
        if operator.kind != "window_join":
            return counted_from(start_ns, JOINS[operator.kind](params, inputs["left"], inputs["right"]))
        by = next((edge.partitioning for edge in feeding if edge.partitioning.kind == "hash"), None)
        grouped = by is not None and by.scheme == "key_groups"
        group = lambda key: network.key_group(by, key) if grouped else 0  # noqa: E731
        return counted_from(start_ns, WindowJoin(params, inputs["left"], inputs["right"], group))
    word = lambda key: 0 if key is None else network.word(key)  # noqa: E731
    hashed = [edge.partitioning for edge in feeding if edge.partitioning.kind == "hash" and edge.partitioning.scheme == "key_groups"]
    group = lambda key: network.key_group(hashed[0], key) if hashed and key is not None else 0  # noqa: E731
    if operator.kind == "session_aggregate":
        return SessionAggregate(params, word, inputs["in"].bytes)
    if operator.kind == "count_window_aggregate":
        return CountWindowAggregate(params, word, inputs["in"].bytes, group)
    if operator.kind == "aggregate":
        return counted_from(start_ns, PaneAggregate(params, word, inputs["in"].bytes, group))
    return Sink(counted_by=params.counted_by) if operator.kind == "sink" else Behaviour()
