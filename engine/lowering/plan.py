"""Lowers an experiment to the tables of the event loop."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from engine.core import buffers
from engine.core import layout as L
from engine.core.control.actors import ActorHost
from engine.core.control.links import look_ahead
from engine.core.kernels.expression_machine import STACK_WORDS
from engine.core.tables import ROWS_AHEAD, Arrays, Capacity, Words, arrays, lines
from engine.core.weave import Loop
from engine.lowering import memory
from engine.lowering.channels import Bounds, lower_channels
from engine.lowering.column_pruning import carried
from engine.lowering.latency_stamps import Stamps
from engine.lowering.network import Network, lower
from engine.lowering.operators import Lowering, lower_operators
from engine.lowering.prices import record_ns
from engine.lowering.processors import lay_out
from engine.lowering.text_tables import TextTables
from engine.operators import OPERATORS
from engine.spec import ExpandedHost, Experiment, RecordSchema
from engine.spec.base.records import VECTORS_MAX
from engine.spec.experiment.generation import Coordinated
from engine.spec.experiment.states.replayed import ReplayedState
from engine.spec.experiment.workload import BoundedWatermarks, PeriodicWatermarks
from engine.spec.rules.copies import later_sharing
from engine.spec.rules.scale import weights
from engine.spec.rules.validation import Context, placement_of, schemas
from engine.workloads.feed import Feed, build_feed
from engine.workloads.strings import Strings

AT_ONCE_MAX = 4096
"""Firings with more outputs than this make them one by one, as they are sent. So memory holds what waits, not all pairs of a window."""


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
    watermarked: frozenset[str]  # sources that generate watermarks
    bounds: Bounds
    parallelism: list[int]  # at the start of the run, by operator
    begins: list[int]  # index of the first active instance, likewise


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
    begins: Mapping[str, int] | None = None,
    epochs_kept: int = 0,
) -> Plan:
    """Lower a valid experiment. Raises `Refusal` if a data set does not fit.

    features: the run's features of `engine.core.weave.FEATURES`; the loop may have more.
    active: initial parallelism of operators whose parallelism may change (`engine.core.control.active_instances`). Default: all instances.
    begins: index of the first active instance of operators that move. Default: 0.
    epochs_kept: of each source instance (docs/event-core.md, section 17); 0: no statistics of epochs.
    """
    active = active or {}
    query, workload = experiment.query, experiment.workload
    specs, hosts = query.operators, experiment.expanded_hosts()
    placement, full, strings = placement_of(experiment), schemas(experiment, context), Strings()
    types = carried(experiment, full)
    feeds = _feeds(experiment, types, strings, datasets)
    weight_of = weights(workload.scale, specs, {spec.id: OPERATORS[spec.kind] for spec in specs}, query.edges)
    inst = _instances(experiment, placement)
    parallelism = [active.get(spec.id, spec.parallelism) for spec in specs]
    begin_of = [(begins or {}).get(spec.id, 0) for spec in specs]
    index = inst[:, L.I_INDEX] - np.array(begin_of)[inst[:, L.I_OP]]
    is_active = (index >= 0) & (index < np.array(parallelism)[inst[:, L.I_OP]])
    own_thread = np.array([OPERATORS[spec.kind].own_thread for spec in specs])[inst[:, L.I_OP]]
    processors = lay_out(hosts, inst, is_active, "background" in features, later_sharing(experiment), own_thread)
    speeds_milli = {id: [hosts[index].speed_milli for index in indices] for id, indices in placement.items()}
    serves_ns = {spec.id: partial(record_ns, experiment, spec, full, weight_of[spec.id][0]) for spec in specs}
    counted = protocol is not None or "counting" in features
    channels = lower_channels(experiment, types, full, weight_of, serves_ns, speeds_milli, active, counted, kernels)
    op, lowering = lower_operators(experiment, types, full, weight_of, channels, inst, kernels, strings)
    texts = TextTables(strings, lowering.constants, lowering.tables)

    network = lower(experiment)
    processors["host"] = host = _with_others(processors["host"], [*network.trunk_mbit_per_s, *(a.egress_mbit_per_s for a in actors)])
    stamps = Stamps.of(experiment.measurement)
    spare = getattr(protocol, "messages_max", 0)
    width = max(len(schema.fields) for schema in types.values())
    if actors or spare:
        width = max(width, L.X_COLUMNS)
    message_width = width + ("losses" in features) + ("forcing" in features)
    sinks = [spec.id for spec in specs if spec.kind == "sink"]
    records, also = sum(feed.count for feed in feeds.values()), len(experiment.measurement.also)
    constants = texts.cover()
    points, longest = _points(feeds, strings if any(spec.params.get("distance") == "edit" for spec in specs) else None)
    covered = _covered_columns(experiment)
    world = _world(lowering, capacity, records, message_width, len(host), len(sinks), keep_outputs, stamps, also, longest, covered)
    stamps.tell(world["g"], experiment.measurement, world["msg"].shape[1])
    if "changes" in features:
        world["changes"] = np.zeros((capacity.changes, L.CHANGE_COLUMNS), np.int64)
    _set_globals(world["g"], experiment, features, width, len(hosts), len(hosts) + len(network.trunks), keep_outputs)
    inputs, input_first = channels.inputs(len(inst))
    world["g"][L.G_EPOCHS] = epochs_kept
    tables = {
        "inst": inst,
        **processors,
        **memory.lower(experiment, len(host), inst, full, weight_of),
        **_epochs(inst, epochs_kept),
        "op": op,
        "op_edges": channels.op_edges,
        "edge": channels.edge,
        "chan": channels.chan,
        "route": channels.route,
        "carried": np.zeros((len(channels.chan), L.SEQ_COLUMNS), np.int64),
        "gate": channels.gates(),
        **_vectors(len(inst) if "forcing" in features else 0, world["g"]),
        "align": channels.alignment(len(inst), "regions" in features),
        "inputs": inputs,
        "input_first": input_first,
        "credit": np.zeros(max(channels.credits, 1), np.int64),
        "latency": _latencies(network, hosts, len(network.trunks), actors),
        "link": network.link,
        "behind": np.zeros((len(inst), L.B_COLUMNS), np.int64),
        "next_ns": np.where(np.arange(len(host)) < len(hosts), 0, L.FAR),
        "constants": constants,
        **points,
        "box": np.zeros(L.BOX_SPARE + spare, np.int64),
    }
    if protocol is not None:
        tables["hook"] = np.asarray(protocol.state(inst, channels.chan), np.int64)
    made = arrays(**{**world, **tables})
    made.g[L.G_LOOKAHEAD] = look_ahead(made)
    watermarked = frozenset(id for id, source in workload.sources.items() if source.watermarks.kind != "none")
    operators, host_names = [spec.id for spec in specs], [machine.name for machine in hosts]
    return Plan(
        experiment,
        made,
        network,
        feeds,
        strings,
        texts,
        types,
        sinks,
        operators,
        host_names,
        watermarked,
        channels.bounds,
        parallelism,
        begin_of,
    )


def _feeds(experiment: Experiment, types: Mapping[str, RecordSchema], strings: Strings, datasets: Any) -> dict[str, Feed]:
    """The records of each source, with the fields that are read."""
    sources = [spec.id for spec in experiment.query.operators if spec.kind == "source"]
    return {id: build_feed(experiment, id, n, strings, datasets, types[f"{id}.out"].names) for n, id in enumerate(sources)}


def _points(feeds: Mapping[str, Feed], strings: Strings | None) -> tuple[dict[str, Words], int]:
    """The vectors that records carry by number, one field after the other; then the letters of all texts, if they are wanted, and the
    length of the longest one. The first word says where the places of texts begin."""
    first = np.zeros(max(len(feeds), 1) * VECTORS_MAX, np.int64)
    parts, end = [np.array([len(first)])], 1
    for feed in feeds.values():
        for number, vectors in feed.vectors().items():
            first[number] = end
            parts.append(vectors.reshape(-1).view(np.int64))
            end += vectors.size
    longest = 0
    if strings is not None:
        letters = [np.array([*map(ord, text)], np.int64) for text in strings.as_list()]
        first = np.concatenate([first, end + np.cumsum([0, *map(len, letters)])])
        parts += letters
        longest = max(map(len, letters), default=0)
    return {"points": np.concatenate(parts), "point_first": first}, longest


def _instances(experiment: Experiment, placement: Mapping[str, Sequence[int]]) -> Words:
    first = np.cumsum([0, *(spec.parallelism for spec in experiment.query.operators)])
    inst = lines(int(first[-1]), L.I_COLUMNS)
    inst[:, [L.I_QUEUE, L.I_QUEUE_LAST, L.I_OUT, L.I_COST, L.I_BLOCKED_SINCE]] = -1
    inst[:, [L.I_HEAD, L.I_WAKE, L.I_TICK, L.I_PANE_END]] = L.FAR
    inst[:, [L.I_WATERMARK, L.I_NEWEST_EVENT]] = -L.FAR
    starts_ns = experiment.query.starts_ns
    for n, spec in enumerate(experiment.query.operators):
        here = slice(int(first[n]), int(first[n + 1]))
        inst[here, L.I_OP] = n
        inst[here, L.I_INDEX] = np.arange(spec.parallelism)
        inst[here, L.I_HOST] = placement[spec.id]
        inst[here, L.I_SOURCE] = spec.kind == "source"
        source = experiment.workload.sources.get(spec.id)
        inst[here, L.I_SHIFT] = 0 if source is not None and isinstance(source.generation, Coordinated) else -1
        marks = None if source is None else source.watermarks
        if isinstance(marks, PeriodicWatermarks):
            inst[here, L.I_LAG] = marks.lag_ns
        if isinstance(marks, BoundedWatermarks):
            inst[here, L.I_PERIOD] = marks.period_ns
            first_ns = starts_ns.get(spec.id, 0) + marks.period_ns
            if first_ns <= experiment.workload.horizon_ns:
                inst[here, L.I_TICK] = first_ns
        if every_ns := OPERATORS[spec.kind].marks_every_ns(spec.parameters):
            inst[here, [L.I_PERIOD, L.I_TICK]] = every_ns
    return inst


def _covered_columns(experiment: Experiment) -> int:
    """How many columns entries need to tell which records they include when senders send again: one for each instance of a sender."""
    about = experiment.policies.state
    if not isinstance(about, ReplayedState) or not any(fault.loses_host for fault in experiment.faults):
        return 0
    parallelism = {spec.id: spec.parallelism for spec in experiment.query.operators}
    return max((parallelism[edge.source] for edge in experiment.query.edges), default=0)


def _set_globals(
    g: Words, experiment: Experiment, features: Collection[str], width: int, machines: int, actors_at: int, keep_outputs: bool
) -> None:
    """Set the world's scalars.

    width: words of a record. machines: number of hosts. actors_at: index of the first actor among hosts, trunks and actors.
    """
    losses = "losses" in features
    g[L.G_KEEPING] = int(keep_outputs)
    g[L.G_LEFT], g[L.G_LOST] = (L.M_PAYLOAD + width) * losses, -1
    g[L.G_VECTOR] = (L.M_PAYLOAD + width + losses) * ("forcing" in features)
    g[L.G_LOCAL_NS] = experiment.cluster.local_latency_ns
    g[L.G_MACHINES], g[L.G_ACTORS] = machines, actors_at
    g[L.G_HORIZON] = experiment.workload.horizon_ns
    g[L.G_AT_ONCE] = AT_ONCE_MAX


def _epochs(inst: Words, kept: int) -> dict[str, Words]:
    """Empty statistics of epochs, with a ring for each source instance."""
    progress = np.zeros((len(inst) if kept else 1, L.PROGRESS_COLUMNS), np.int64)
    sources = np.flatnonzero(inst[:, L.I_SOURCE]) if kept else np.zeros(0, np.int64)
    progress[sources, L.PROGRESS_FIRST] = kept * np.arange(len(sources))
    return {"progress": progress, "epochs": np.zeros((max(kept * len(sources), 1), L.EPOCH_COLUMNS), np.int64)}


def _vectors(instances: int, g: Words) -> dict[str, Words]:
    """Empty dependency vectors. The first rows belong to the instances, the others are free."""
    if instances == 0:
        return {"vectors": np.zeros((1, L.KNOWN_FIRST), np.int64), "sent_to": np.zeros((1, 1), np.int64)}
    rows = 5 * instances
    vectors = np.zeros((rows, L.KNOWN_FIRST + instances), np.int64)
    vectors[:instances, L.KNOWN_SHARED] = -1
    vectors[instances:, L.KNOWN_SHARED] = [*range(instances + 1, rows), -1]
    g[[L.G_VECTOR_FREE, L.G_VECTOR_ROWS_FREE]] = instances, rows - instances
    return {"vectors": vectors, "sent_to": np.zeros((instances, instances), np.int64)}


def _with_others(host: Words, mbit_per_s: Sequence[int]) -> Words:
    """The machines' rows, then one per trunk and actor, which has only an inbox and a FIFO."""
    others = np.zeros((len(mbit_per_s), L.H_COLUMNS), np.int64)
    others[:, [L.H_RESUME, L.H_WAKE, L.H_TICK, L.H_BACKGROUND_END, L.H_RISEN]] = L.FAR
    others[:, L.H_EMITTING] = -1
    others[:, L.H_MBIT] = mbit_per_s
    return np.concatenate([host, others])


def _latencies(network: Network, hosts: Sequence[ExpandedHost], trunks: int, actors: Sequence[ActorHost]) -> Words:
    """Latencies between all machines and actors. No host has a path to a trunk."""
    own = [*(host.egress_latency_ns for host in hosts), *[L.FAR] * trunks, *(actor.egress_latency_ns for actor in actors)]
    latency = np.repeat(np.array(own, np.int64)[:, None], len(own), axis=1)
    latency[: len(hosts), : len(hosts)] = network.latency
    return latency


def _world(
    lowering: Lowering,
    capacity: Capacity,
    records: int,
    width: int,
    hosts: int,
    sinks: int,
    keep_outputs: bool,
    stamps: Stamps,
    also: int,
    longest: int,
    covered: int,
) -> dict[str, Any]:
    """longest: number of letters of the longest text whose letters are compared. covered: columns of entries for what they include of
    each sender."""
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
        "stack": zeros(max(STACK_WORDS, longest + 1)),
        "entry": lines(entries, L.S_VALUES + lowering.values + covered + len(stamps.places), buffers.words),
        "row": lines(rows, L.R_VALUES + lowering.stored + len(stamps.places), buffers.words),
        "pane": lines(capacity.panes, L.W_COLUMNS),
        "panes_of": np.full(max(lowering.lists, 1), -1, np.int64),
        "table": np.full(1 << max(4, (2 * capacity.entries - 1).bit_length()), -1, np.int64),
        "histogram": zeros(max(sinks, 1) * (1 + also), L.BUCKETS),
        "latency_sums": zeros(max(sinks, 1) * (1 + also), 3),
        "by_instance": zeros(max(lowering.latencies, 1), L.BUCKETS if lowering.latencies else 1),
        "trace": lines(1, L.TRACE_COLUMNS),
        "notes": zeros(1, L.N_COLUMNS),
        "entry_origin": zeros(1),
        "row_origin": zeros(1),
        "outputs": zeros(capacity.outputs if keep_outputs else 1, L.OUTPUT_HEADER + width + also),
        "changes": zeros(1, L.CHANGE_COLUMNS),
        "change_words": zeros(1, 1),
        "hook": zeros(1),
        "g": g,
    }
    g[L.G_FREE] = capacity.messages
    g[L.G_COVERED] = L.S_VALUES + lowering.values if covered else 0
    g[[L.G_ENTRY, L.G_ROW]] = -1
    g[L.G_ENTRIES_FREE], g[L.G_ROWS_FREE], g[L.G_PANES_FREE] = capacity.entries, rows, capacity.panes
    g[L.G_ENTRIES_SIZE], g[L.G_ROWS_SIZE] = capacity.entries, rows
    world["pane"][:, L.W_NEXT] = np.r_[1 : capacity.panes, -1]
    return world
