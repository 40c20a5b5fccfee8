"""Lowers an experiment to the arrays of the core: instances, channels, prices, programs, parameters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from engine.core import buffers
from engine.core import layout as L
from engine.core.control.actors import ActorHost
from engine.core.control.links import look_ahead
from engine.core.kernels.expression_machine import STACK_WORDS
from engine.core.tables import ROWS_AHEAD, Arrays, Capacity, Words, arrays, lines, row_of
from engine.core.weave import Loop
from engine.lowering import cost_noise, memory
from engine.lowering.column_pruning import carried
from engine.lowering.latency_stamps import Stamps
from engine.lowering.network import Network, lower
from engine.lowering.processors import lay_out
from engine.lowering.text_tables import TextTables
from engine.operators import OPERATORS
from engine.prices import DEGREE, PRICE_LISTS
from engine.spec import ExpandedHost, Experiment, RecordSchema
from engine.spec.experiment.flow_control.base import FlowControl
from engine.spec.experiment.generation import Coordinated
from engine.spec.experiment.query import OperatorSpec, input_counts
from engine.spec.expressions.parser import parse
from engine.spec.expressions.tree import TextFunction
from engine.spec.rules.scale import weights
from engine.spec.rules.validation import Context, placement_of, schemas
from engine.workloads.feed import Feed, build_feed
from engine.workloads.strings import Strings

Bounds = tuple[Callable[[int], int], ...]
"""By edge how many records a channel may hold, given the channels that lead to its receiver; 0: any number."""

PARTITIONINGS = {"forward": L.FORWARD, "hash": L.HASH, "rebalance": L.REBALANCE, "broadcast": L.BROADCAST}


@dataclass
class Plan:
    """An experiment ready to run."""

    experiment: Experiment
    arrays: Arrays
    network: Network
    feeds: dict[str, Feed]  # by source operator
    strings: Strings
    texts: TextTables
    schemas: Mapping[str, RecordSchema]  # by "operator.port", with the fields carried there
    sinks: list[str]  # operator ids, in the order of their numbers
    operators: list[str]
    hosts: list[str]
    watermarked: frozenset[str]  # sources that draw watermarks
    bounds: Bounds
    parallelism: list[int]  # at the start of the run, by operator


@dataclass
class Lowering:
    """What an operator kind may ask for while it turns its parameters into words."""

    strings: Strings
    params_at: int = 0
    parallelism: int = 1
    weight: int = 1  # real records for one that it serves
    full: Mapping[str, RecordSchema] = field(default_factory=dict)  # input schemas with all fields, by port
    outputs: Mapping[str, RecordSchema] = field(default_factory=dict)  # output schemas with the fields carried, by port
    groups: tuple[int, int] = (L.SCHEME_KEY_GROUPS, 1)  # scheme and number, of the hash edge that feeds the operator
    connected: frozenset[str] = frozenset()  # output ports that an edge leaves
    params: list[int] = field(default_factory=list)
    code: list[Words] = field(default_factory=list)
    constants: list[int] = field(default_factory=list)
    tables: list[tuple[int, TextFunction]] = field(default_factory=list)  # constants that are places of tables
    lists: int = 0
    values: int = 1
    stored: int = 1
    row_words: int | None = None  # of the operator's stored records, None if it stores none
    group_words: int = 0
    first_row: int = 0
    heads: tuple[int, int] = (0, 0)
    first_list: int = 0
    lists_each: int = 0
    lists_link: int = -1

    def program(self, text: str, schema: RecordSchema) -> tuple[int, int]:
        """Compile an expression; (first, last) row of its program."""
        program = parse(text, schema).compile(self.strings)
        first = sum(map(len, self.code))
        rows = program.code.copy()
        rows[0, 1] = len(self.constants)
        self.code.append(rows)
        self.tables += [(len(self.constants) + place, function) for place, function in program.tables]
        self.constants.extend(int(word) for word in program.constants)
        return first, first + len(rows)

    def key_groups(self) -> tuple[int, int]:
        return self.groups

    def pane_lists(self, groups: int) -> int:
        """Lists of panes for every instance and key group of the operator; the number of the first."""
        self.lists_link = 0
        return self._lists(groups)

    def other_lists(self, each: int) -> int:
        """Heads of other lists or heaps, so many for every instance; the number of the first. What they hold is found without them, too,
        or `rows_by_age` says how."""
        self.lists_link = -1
        return self._lists(each)

    def rows_by_age(self, column: int) -> None:
        """The operator's stored records are all found from the first head of the instance, each linked to the next by this column."""
        self.lists_link = column

    def _lists(self, each: int) -> int:
        self.first_list, self.lists_each = self.lists, each
        self.lists += self.parallelism * each
        return self.first_list

    def entry_values(self, count: int) -> None:
        self.values = max(self.values, count)

    def stored_rows(self, words: int, links: int = 0) -> None:
        """The operator stores records, each with so many words, and behind them links to other rows, which are no part of the state."""
        self.row_words = words
        self.stored = max(self.stored, words + links)

    def groups_of(self, words: int, first_row: int, heads: tuple[int, int]) -> None:
        """The operator's entries are groups: so many words from S_COUNT on are state; the place of their first stored record, or 0. heads:
        place and number of their lists of distinct values."""
        self.group_words, self.first_row, self.heads = words, first_row, heads


def build(
    experiment: Experiment,
    context: Context,
    datasets: Any,
    capacity: Capacity,
    keep_outputs: bool,
    kernels: Loop,
    features: Collection[str] = (),
    protocol: Any = None,
    actors: Sequence[ActorHost] = (),
    active: Mapping[str, int] | None = None,
) -> Plan:
    """Lower a valid experiment, with all its instances active. Raises `Refusal` where a data set does not fit.

    features: what the run uses of `engine.core.weave.FEATURES`; the loop may have more.
    active: of operators whose parallelism may change, how many instances the run begins with (`engine.core.control.active_instances`).
    """
    active = active or {}
    query = experiment.query
    specs = query.operators
    position = {spec.id: n for n, spec in enumerate(specs)}
    hosts = experiment.expanded_hosts()
    placement = placement_of(experiment)
    full = schemas(experiment, context)
    types = carried(experiment, full)
    strings = Strings()
    sources = [spec for spec in specs if spec.kind == "source"]
    sinks = [spec.id for spec in specs if spec.kind == "sink"]
    feeds = {
        spec.id: build_feed(experiment, spec.id, n, strings, datasets, types[f"{spec.id}.out"].names) for n, spec in enumerate(sources)
    }
    watermarks = {spec.id: experiment.workload.sources[spec.id].watermarks for spec in sources}

    first = np.cumsum([0, *(spec.parallelism for spec in specs)])
    weight_of = weights(experiment.workload.scale, specs, {spec.id: OPERATORS[spec.kind] for spec in specs}, query.edges)
    inst = _instances(experiment, first, placement, watermarks)
    parallelism = [active.get(spec.id, spec.parallelism) for spec in specs]
    processors = lay_out(hosts, inst, inst[:, L.I_INDEX] < np.array(parallelism)[inst[:, L.I_OP]])
    speeds_milli = {id: [hosts[index].speed_milli for index in indices] for id, indices in placement.items()}
    serves_ns = {spec.id: record_ns(experiment, spec, weight_of[spec.id][0], speeds_milli[spec.id]) for spec in specs}
    channels = _channels(experiment, position, first, types, weight_of, serves_ns, active)
    edge, chan, credit_size, op_edges, edge_range, route, bounds = channels
    edge[:, L.E_COUNTED] = (edge[:, L.E_BOUND] > 0) | (protocol is not None) | ("counting" in features)
    region = experiment.policies.checkpointing.coordinated_regions(query)
    edge[:, L.E_INNER] = [link.source in region and region[link.source] == region.get(link.target) for link in query.edges]
    inputs, input_first = _inputs(chan, edge, len(inst))

    lowering = Lowering(strings)
    op = np.zeros((len(specs), L.O_COLUMNS), np.int64)
    prices = PRICE_LISTS[experiment.prices]
    for n, spec in enumerate(specs):
        lowering.parallelism, lowering.weight = spec.parallelism, weight_of[spec.id][0]
        lowering.params_at = len(lowering.params)
        lowering.row_words, lowering.group_words, lowering.first_row, lowering.heads = None, 0, 0, (0, 0)
        lowering.first_list, lowering.lists_each, lowering.lists_link = 0, 0, -1
        lowering.groups = next(
            (
                (int(edge[e, L.E_SCHEME]), int(edge[e, L.E_GROUPS]))
                for e in range(len(edge))
                if edge[e, L.E_TARGET] == n and edge[e, L.E_KIND] == L.HASH
            ),
            (L.SCHEME_KEY_GROUPS, 1),
        )
        kind = OPERATORS[spec.kind]
        ports = {port: types[f"{spec.id}.{port}"] for port in kind.inputs}
        lowering.full = {port: full[f"{spec.id}.{port}"] for port in kind.inputs}
        lowering.outputs = {port: types[f"{spec.id}.{port}"] for port in kind.outputs}
        lowering.connected = frozenset(link.source_port for link in query.edges if link.source == spec.id)
        params = kind.lower(spec.parameters, ports, lowering)
        lowering.params.extend(params)
        port_widths_at = len(lowering.params)
        lowering.params.extend(len(types[f"{spec.id}.{port}"].fields) for port in kind.outputs)
        leaving = {link.source_port: e for e, link in reversed(list(enumerate(query.edges))) if link.source == spec.id}
        lowering.params.extend(leaving.get(port, -1) for port in kind.outputs)
        price, own = prices.price(spec.kind, kind.priced_as), spec.cost
        weight, weight_out = weight_of[spec.id]
        workload = experiment.workload
        series = [] if own is None else cost_noise.drift_factors(own.drift, workload.seed, spec.id, workload.end_ns)
        variation = cost_noise.lower(own, series, weight) if own is not None else []
        noise_at = len(lowering.params) if variation else -1
        lowering.params.extend(variation)
        if variation:
            here = slice(int(first[n]), int(first[n + 1]))
            inst[here, L.I_NOISE] = cost_noise.keys(experiment.workload.seed, spec.id, spec.parallelism)
        record_ps = _record_ps(experiment, spec, weight)
        record_ps, protocol_ps, inner_ps = _protocol_work(experiment, edge, n, record_ps)
        output_ps = price.output_ps if own is None or own.output_ps is None else own.output_ps
        control_ps = price.control_ps if own is None or own.control_ps is None else own.control_ps
        port = "in" if spec.kind == "sink" else kind.outputs[0]
        op[n] = row_of(
            "O_",
            {
                L.O_CODE: kernels.code(spec.kind),
                L.O_FIRST: first[n],
                L.O_PARALLEL: spec.parallelism,
                L.O_STRIDE: spec.parallelism,
                L.O_EDGE: edge_range[n][0],
                L.O_EDGE_END: edge_range[n][1],
                L.O_PARAMS: lowering.params_at,
                L.O_RECORD_PS: record_ps,
                L.O_OUTPUT_PS: output_ps * weight_out ** DEGREE["output_ps"] + protocol_ps,
                L.O_CONTROL_PS: control_ps * weight ** DEGREE["control_ps"],
                L.O_INNER_PS: inner_ps,
                L.O_NOISE: noise_at,
                L.O_ATTAINABLE: L.WHOLE if own is None else own.attainable_share,
                L.O_WEIGHT: weight,
                L.O_WEIGHT_OUT: weight_out,
                L.O_SINK: sinks.index(spec.id) if spec.kind == "sink" else -1,
                L.O_WIDTH: len(types[f"{spec.id}.{port}"].fields),
                L.O_PORTS: len(kind.outputs),
                L.O_PORT_WIDTHS: port_widths_at,
                L.O_ROW_WORDS: 0 if lowering.row_words is None else L.R_VALUES - L.R_EVENT + lowering.row_words,
                L.O_GROUP_WORDS: lowering.group_words,
                L.O_FIRST_ROW: lowering.first_row,
                L.O_HEADS: lowering.heads[0],
                L.O_HEADS_COUNT: lowering.heads[1],
                L.O_LISTS: lowering.first_list,
                L.O_LISTS_EACH: lowering.lists_each,
                L.O_LISTS_LINK: lowering.lists_link,
            },
        )

    width = max(len(schema.fields) for schema in types.values())
    network = lower(experiment)
    processors["host"] = host = _with_others(processors["host"], [*network.trunk_mbit_per_s, *(a.egress_mbit_per_s for a in actors)])
    spare = getattr(protocol, "messages_max", 0)
    if actors or spare:
        width = max(width, L.X_COLUMNS)
    losses, forcing = "losses" in features, "forcing" in features
    stamps = Stamps.of(experiment.measurement)
    records, also = sum(feed.count for feed in feeds.values()), len(experiment.measurement.also)
    world = _world(lowering, capacity, records, width + losses + forcing, len(host), len(sinks), keep_outputs, stamps, also)
    g = world["g"]
    stamps.tell(g, experiment.measurement, world["msg"].shape[1])
    g[L.G_KEEPING] = int(keep_outputs)
    g[L.G_LEFT], g[L.G_LOST] = (L.M_PAYLOAD + width) * losses, -1
    g[L.G_VECTOR] = (L.M_PAYLOAD + width + losses) * forcing
    g[L.G_LOCAL_NS] = experiment.cluster.local_latency_ns
    g[L.G_MACHINES], g[L.G_ACTORS] = len(hosts), len(hosts) + len(network.trunks)
    g[L.G_HORIZON] = experiment.workload.horizon_ns
    tables = {
        "inst": inst,
        **processors,
        **memory.lower(experiment, len(host), inst, full, weight_of),
        "op": op,
        "op_edges": op_edges,
        "edge": edge,
        "chan": chan,
        "route": route,
        "carried": np.zeros((len(chan), L.SEQ_COLUMNS), np.int64),
        "gate": _gates(chan, edge),
        **_vectors(len(inst) if forcing else 0, g),
        "align": _alignment(chan, edge, len(inst), "regions" in features),
        "inputs": inputs,
        "input_first": input_first,
        "credit": np.zeros(max(credit_size, 1), np.int64),
        "latency": _latencies(network, hosts, len(network.trunks), actors),
        "link": network.link,
    }
    tables["behind"] = np.zeros((len(inst), L.B_COLUMNS), np.int64)
    tables["next_ns"] = np.where(np.arange(len(host)) < len(hosts), 0, L.FAR)
    texts = TextTables(strings, lowering.constants, lowering.tables)
    tables["constants"] = texts.cover()
    if protocol is not None:
        tables["hook"] = np.asarray(protocol.state(inst, chan), np.int64)
    tables["box"] = np.zeros(L.BOX_SPARE + spare, np.int64)
    made = arrays(**{**world, **tables})
    g[L.G_LOOKAHEAD] = look_ahead(made)
    return Plan(
        experiment, made, network, feeds, strings, texts, types,
        sinks, [spec.id for spec in specs], [h.name for h in hosts],
        frozenset(id for id, marks in watermarks.items() if marks.kind != "none"), bounds, parallelism,
    )  # fmt: skip


def _record_ps(experiment: Experiment, spec: OperatorSpec, weight: int) -> int:
    """The price of a record that the operator serves and that stands for so many, without what a protocol adds."""
    own = None if spec.cost is None else spec.cost.record_ps
    price = PRICE_LISTS[experiment.prices].price(spec.kind, OPERATORS[spec.kind].priced_as)
    ps: int = (price.record_ps if own is None else own) * weight ** DEGREE["record_ps"]
    return ps


def record_ns(experiment: Experiment, spec: OperatorSpec, weight: int, speeds_milli: Sequence[int]) -> int:
    """How long an instance serves one of the run's records, ns: of usual work, on the slowest of its hosts, without what varies its cost.

    weight: how many real records it stands for. speeds_milli: of the hosts.
    """
    work_ns = max(1, -(-_record_ps(experiment, spec, weight) * OPERATORS[spec.kind].usual_work(spec.parameters) // min(speeds_milli)))
    return (work_ns << 16) // (L.WHOLE if spec.cost is None else spec.cost.attainable_share)


def _protocol_work(experiment: Experiment, edge: Words, n: int, record_ps: int) -> tuple[int, int, int]:
    """The work of operator n for a record that it serves, with what the checkpointing protocol adds; what that adds for each output:
    logging it on each edge, writing and reading what records carry more; and what logging it on inner edges adds while they are logged."""
    protocol = experiment.policies.checkpointing
    leaving, entering = edge[edge[:, L.E_SOURCE] == n], edge[edge[:, L.E_TARGET] == n]
    log_ps = record_ps * protocol.log_work
    inner = np.count_nonzero(leaving[:, L.E_INNER])
    inner_ps, added_ps = log_ps * inner, log_ps * (len(leaving) - inner)
    work_ps = protocol.added_work(record_ps, sum(spec.parallelism for spec in experiment.query.operators))
    added_ps += work_ps * len(leaving)
    if len(entering):
        record_ps += int(work_ps)
    return record_ps, int(added_ps), int(inner_ps)


def _instances(experiment: Experiment, first: Words, placement: Mapping[str, Sequence[int]], watermarks: Mapping[str, Any]) -> Words:
    inst = lines(int(first[-1]), L.I_COLUMNS)
    inst[:, [L.I_QUEUE, L.I_QUEUE_LAST, L.I_OUT, L.I_COST, L.I_BLOCKED_SINCE]] = -1
    inst[:, [L.I_HEAD, L.I_WAKE, L.I_TICK, L.I_PANE_END]] = L.FAR
    inst[:, [L.I_WATERMARK, L.I_NEWEST_EVENT]] = -L.FAR
    for n, spec in enumerate(experiment.query.operators):
        here = slice(int(first[n]), int(first[n + 1]))
        inst[here, L.I_OP] = n
        inst[here, L.I_INDEX] = np.arange(spec.parallelism)
        inst[here, L.I_HOST] = placement[spec.id]
        inst[here, L.I_SOURCE] = spec.kind == "source"
        source = experiment.workload.sources.get(spec.id)
        inst[here, L.I_SHIFT] = 0 if source is not None and isinstance(source.generation, Coordinated) else -1
        marks = watermarks.get(spec.id)
        if marks is not None and marks.kind == "bounded":
            inst[here, L.I_PERIOD], inst[here, L.I_LAG] = marks.period_ns, marks.lag_ns
            if marks.period_ns <= experiment.workload.horizon_ns:
                inst[here, L.I_TICK] = marks.period_ns
    return inst


def _channels(
    experiment: Experiment,
    position: Mapping[str, int],
    first: Words,
    types: Mapping[str, RecordSchema],
    weight_of: Mapping[str, tuple[int, int]],
    serves_ns: Mapping[str, int],
    scaled: Collection[str],
) -> tuple[Words, Words, int, Words, list[tuple[int, int]], Words, Bounds]:
    """scaled: operators that may have fewer instances than they are laid out with; then a channel may hold more."""
    specs, edges = experiment.query.operators, experiment.query.edges
    flow = experiment.policies.flow_control
    inputs = input_counts(specs, edges)
    fewest = input_counts([spec.model_copy(update={"parallelism": 1}) if spec.id in scaled else spec for spec in specs], edges)
    bounds: list[Callable[[int], int]] = []
    edge = np.zeros((len(edges), L.E_COLUMNS), np.int64)
    blocks: list[Words] = []
    route: list[int] = []
    channels = credits = 0
    for n, link in enumerate(edges):
        source, target = position[link.source], position[link.target]
        weight = weight_of[link.source][1]
        senders, receivers = specs[source].parallelism, specs[target].parallelism
        part = link.partitioning
        if part.kind == "forward":
            sender = receiver = np.arange(senders)
        else:
            sender, receiver = np.divmod(np.arange(senders * receivers), receivers)
        block = np.zeros((len(sender), L.C_COLUMNS), np.int64)
        block[:, L.C_SENDER], block[:, L.C_RECEIVER] = first[source] + sender, first[target] + receiver
        block[:, L.C_EDGE] = n
        block[:, L.C_WATERMARK] = -L.FAR
        schema = types[f"{link.source}.{link.source_port}"]
        key = scheme = 0
        groups = 1
        if part.kind == "hash":
            key = schema.index(part.key)
            scheme = L.SCHEME_KEY_GROUPS if part.scheme == "key_groups" and part.mixed else L.SCHEME_MODULO
            groups = receivers if part.scheme == "modulo" else part.key_groups
        port = OPERATORS[specs[target].kind].inputs.index(link.target_port)
        bounds.append(partial(_bound, flow, schema.bytes, weight, serves_ns[link.target]))
        edge[n] = row_of(
            "E_",
            {
                L.E_SOURCE: source,
                L.E_TARGET: target,
                L.E_PORT: port,
                L.E_OUTPUT: OPERATORS[specs[source].kind].outputs.index(link.source_port),
                L.E_FEEDBACK: int(link.feedback),
                L.E_KIND: PARTITIONINGS[part.kind],
                L.E_KEY: key,
                L.E_SCHEME: scheme,
                L.E_GROUPS: groups,
                L.E_ROUTE: len(route),
                L.E_CHANNEL: channels,
                L.E_BOUND: bounds[n](inputs[link.target]),
                L.E_CREDIT: credits,
                L.E_BYTES: (schema.bytes + experiment.cluster.envelope_bytes) * weight,
                L.E_COUNTED: 0,  # `build` knows
                L.E_INNER: 0,
            },
        )
        if part.kind == "hash":
            route += [group * receivers // groups for group in range(groups)]
        blocks.append(block)
        channels += len(block)
        credits += len(block) * bounds[n](fewest[link.target])
    chan = np.concatenate(blocks) if blocks else np.zeros((0, L.C_COLUMNS), np.int64)
    op_edges: list[int] = []
    ranges: list[tuple[int, int]] = []
    for n in range(len(specs)):
        leaving = [e for e in range(len(edges)) if edge[e, L.E_SOURCE] == n]
        ranges.append((len(op_edges), len(op_edges) + len(leaving)))
        op_edges += leaving
    return edge, chan, credits, np.array(op_edges, np.int64), ranges, np.array([*route, 0], np.int64), tuple(bounds)


def _bound(flow: FlowControl, record_bytes: int, weight: int, serves_ns: int, inputs: int) -> int:
    """How many records a channel may hold; 0: any number."""
    records = flow.records(record_bytes, inputs, weight, serves_ns)
    return 0 if records is None else max(1, records)


def _inputs(chan: Words, edge: Words, instances: int) -> tuple[Words, Words]:
    """The channels that bring watermarks, by receiver: their numbers, and where those of each instance begin."""
    marked = np.flatnonzero(edge[chan[:, L.C_EDGE], L.E_FEEDBACK] == 0)
    receivers = chan[marked, L.C_RECEIVER]
    counts = np.bincount(receivers, minlength=instances)
    return marked[np.argsort(receivers, kind="stable")].astype(np.int64), np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _gates(chan: Words, edge: Words) -> Words:
    """No channel is barred, and nothing has been sent; what is inner is not logged."""
    gate = np.full((len(chan), L.Q_COLUMNS), -1, np.int64)
    gate[:, L.Q_CUT] = 0
    gate[:, L.Q_LOG] = -edge[chan[:, L.C_EDGE], L.E_INNER]
    return gate


def _alignment(chan: Words, edge: Words, instances: int, regions: bool) -> Words:
    """No instance waits for a barrier. regions: barriers come by inner edges only."""
    align = np.zeros((instances, L.ALIGN_COLUMNS), np.int64)
    barred = chan[edge[chan[:, L.C_EDGE], L.E_INNER] == 1] if regions else chan
    align[:, L.ALIGN_INPUTS] = np.bincount(barred[:, L.C_RECEIVER], minlength=instances)
    align[:, [L.ALIGN_ASIDE, L.ALIGN_ASIDE_LAST]] = -1
    return align


def _vectors(instances: int, g: Words) -> dict[str, Words]:
    """What instances know of one another: nothing yet. The first rows are theirs, the others are free."""
    if instances == 0:
        return {"vectors": np.zeros((1, L.KNOWN_FIRST), np.int64), "sent_to": np.zeros((1, 1), np.int64)}
    rows = 5 * instances
    vectors = np.zeros((rows, L.KNOWN_FIRST + instances), np.int64)
    vectors[:instances, L.KNOWN_SHARED] = -1
    vectors[instances:, L.KNOWN_SHARED] = [*range(instances + 1, rows), -1]
    g[[L.G_VECTOR_FREE, L.G_VECTOR_ROWS_FREE]] = instances, rows - instances
    return {"vectors": vectors, "sent_to": np.zeros((instances, instances), np.int64)}


def _with_others(host: Words, mbit_per_s: Sequence[int]) -> Words:
    """The machines' rows, and one for each trunk and actor: an inbox and a FIFO behind it, nothing else."""
    others = np.zeros((len(mbit_per_s), L.H_COLUMNS), np.int64)
    others[:, [L.H_RESUME, L.H_WAKE, L.H_TICK]] = L.FAR
    others[:, L.H_EMITTING] = -1
    others[:, L.H_MBIT] = mbit_per_s
    return np.concatenate([host, others])


def _latencies(network: Network, hosts: Sequence[ExpandedHost], trunks: int, actors: Sequence[ActorHost]) -> Words:
    """Between all hosts: machines among one another, and machines and actors; nobody has a way to a trunk."""
    own = [*(host.egress_latency_ns for host in hosts), *[L.FAR] * trunks, *(actor.egress_latency_ns for actor in actors)]
    latency = np.repeat(np.array(own, np.int64)[:, None], len(own), axis=1)
    latency[: len(hosts), : len(hosts)] = network.latency
    return latency


def _world(
    lowering: Lowering, capacity: Capacity, records: int, width: int, hosts: int, sinks: int, keep_outputs: bool, stamps: Stamps, also: int
) -> dict[str, Any]:
    ring = 1 << max(2, (capacity.ring - 1).bit_length())

    def zeros(*shape: int) -> Words:
        return np.zeros(shape, np.int64)

    rows = entries = min(max(records, capacity.entries), ROWS_AHEAD)
    if capacity.rows is not None:
        rows, entries = capacity.rows, capacity.entries
    g = zeros(L.G_COLUMNS)
    world: dict[str, Any] = {
        "msg": lines(max(capacity.messages, capacity.messages_ahead), L.M_PAYLOAD + width + stamps.message_words, buffers.zeros),
        "free": np.arange(capacity.messages - 1, -1, -1, dtype=np.int64),
        "rings": zeros(2 * hosts, ring, 3),
        "scratch": zeros(2, ring, 3),
        "touched": zeros(hosts),
        "log": lines(1, L.D_PAYLOAD + width),
        "par": np.array([*lowering.params, 0], np.int64),
        "code": np.concatenate([*lowering.code, np.zeros((1, 2), np.int64)]).astype(np.int64),
        "stack": zeros(STACK_WORDS),
        "entry": lines(entries, L.S_VALUES + lowering.values + len(stamps.places), buffers.words),
        "row": lines(rows, L.R_VALUES + lowering.stored + len(stamps.places), buffers.words),
        "pane": lines(capacity.panes, L.W_COLUMNS),
        "panes_of": np.full(max(lowering.lists, 1), -1, np.int64),
        "table": np.full(1 << max(4, (2 * capacity.entries - 1).bit_length()), -1, np.int64),
        "histogram": zeros(max(sinks, 1) * (1 + also), L.BUCKETS),
        "latency_sums": zeros(max(sinks, 1) * (1 + also), 3),
        "trace": lines(1, L.TRACE_COLUMNS),
        "notes": zeros(1, L.N_COLUMNS),
        "entry_origin": zeros(1),
        "row_origin": zeros(1),
        "outputs": zeros(capacity.outputs if keep_outputs else 1, L.OUTPUT_HEADER + width + also),
        "hook": zeros(1),
        "g": g,
    }
    g[L.G_FREE] = capacity.messages
    g[[L.G_ENTRY, L.G_ROW]] = -1
    g[L.G_ENTRIES_FREE], g[L.G_ROWS_FREE], g[L.G_PANES_FREE] = capacity.entries, rows, capacity.panes
    g[L.G_ENTRIES_SIZE], g[L.G_ROWS_SIZE] = capacity.entries, rows
    world["pane"][:, L.W_NEXT] = np.r_[1 : capacity.panes, -1]
    return world
