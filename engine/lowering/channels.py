"""Lowers the edges of a query: channels, credits, and the choice of receivers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from engine.core import layout as L
from engine.core.tables import Words, row_of
from engine.core.weave import Loop
from engine.lowering.prices import crossing_prices
from engine.operators import OPERATORS
from engine.spec import Experiment, RecordSchema
from engine.spec.base.family import kind_of
from engine.spec.experiment.flow_control.base import FlowControl
from engine.spec.experiment.partitionings import Partitioning
from engine.spec.experiment.query import OperatorSpec, input_counts

Bounds = tuple[Callable[[int, int], int], ...]
"""By edge: the capacity of a channel in records, 0 if unbounded, from the number of inbound channels of a receiver and the speed of the
slowest host of receivers, in thousandths."""


@dataclass(frozen=True)
class Channels:
    """The tables of edges and channels.

    edge, chan: the tables. credits: number of words of the table `credit`. op_edges: outbound edges by operator. edges_of: range of each
    operator in op_edges. route: words by which edges choose receivers.
    """

    edge: Words
    chan: Words
    credits: int
    op_edges: Words
    edges_of: list[tuple[int, int]]
    route: Words
    bounds: Bounds

    def inputs(self, instances: int) -> tuple[Words, Words]:
        """The channels that carry watermarks, by receiver: their numbers, and the start of each instance's range."""
        marked = np.flatnonzero(self.edge[self.chan[:, L.C_EDGE], L.E_FEEDBACK] == 0)
        receivers = self.chan[marked, L.C_RECEIVER]
        counts = np.bincount(receivers, minlength=instances)
        return marked[np.argsort(receivers, kind="stable")].astype(np.int64), np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    def gates(self) -> Words:
        """The initial table `gate`: no channel is barred, nothing has been sent, and inner channels are not logged."""
        gate = np.full((len(self.chan), L.Q_COLUMNS), -1, np.int64)
        gate[:, L.Q_CUT] = 0
        gate[:, L.Q_LOG] = -self.edge[self.chan[:, L.C_EDGE], L.E_INNER]
        return gate

    def alignment(self, instances: int, regions: bool) -> Words:
        """The initial table `align`: no instance waits for a barrier. regions: only inner edges carry barriers."""
        align = np.zeros((instances, L.ALIGN_COLUMNS), np.int64)
        barred = self.chan[self.edge[self.chan[:, L.C_EDGE], L.E_INNER] == 1] if regions else self.chan
        align[:, L.ALIGN_INPUTS] = np.bincount(barred[:, L.C_RECEIVER], minlength=instances)
        align[:, [L.ALIGN_ASIDE, L.ALIGN_ASIDE_LAST]] = -1
        return align


def lower_channels(
    experiment: Experiment,
    types: Mapping[str, RecordSchema],
    full: Mapping[str, RecordSchema],
    weights: Mapping[str, tuple[int, int]],
    serves_ns: Mapping[str, Callable[[int], int]],
    speeds_milli: Mapping[str, Sequence[int]],
    scaled: Collection[str],
    counted: bool,
    kernels: Loop,
) -> Channels:
    """The channels of all edges.

    types: the fields carried, by "operator.port"; full: all fields. weights: of input and output records. serves_ns: to serve a record,
    by operator, from the speed of the host. speeds_milli: of the hosts of an operator's instances. scaled: operators that may run with
    fewer instances than they are laid out with; a channel may then hold more. counted: receivers count the records served on each channel,
    whatever the flow control.
    """
    specs, edges = experiment.query.operators, experiment.query.edges
    position = {spec.id: n for n, spec in enumerate(specs)}
    first = np.cumsum([0, *(spec.parallelism for spec in specs)])
    inputs = input_counts(specs, edges)
    fewest = input_counts([spec.model_copy(update={"parallelism": 1}) if spec.id in scaled else spec for spec in specs], edges)
    region = experiment.policies.checkpointing.coordinated_regions(experiment.query)
    bounds: list[Callable[[int, int], int]] = []
    edge = np.zeros((len(edges), L.E_COLUMNS), np.int64)
    blocks: list[Words] = []
    route: list[int] = []
    channels = credits = 0
    for n, link in enumerate(edges):
        source, target = position[link.source], position[link.target]
        code = kernels.partitioning(kind_of(type(link.partitioning)))
        _check(code, link.partitioning)
        sender, receiver = _pairs(link.partitioning, specs[source], specs[target])
        block = np.zeros((len(sender), L.C_COLUMNS), np.int64)
        block[:, L.C_SENDER], block[:, L.C_RECEIVER] = first[source] + sender, first[target] + receiver
        block[:, L.C_EDGE] = n
        block[:, L.C_WATERMARK] = -L.FAR
        schema, weight = types[f"{link.source}.{link.source_port}"], weights[link.source][1]
        choice, words = _choice(code, link.partitioning, schema, specs[target].parallelism)
        bounds.append(partial(_bound, experiment.policies.flow_control, link.capacity, schema.bytes, weight, serves_ns[link.target]))
        bound = bounds[n](inputs[link.target], min(speeds_milli[link.target]))
        edge[n] = row_of(
            "E_",
            {
                L.E_SOURCE: source,
                L.E_TARGET: target,
                L.E_PORT: OPERATORS[specs[target].kind].inputs.index(link.target_port),
                L.E_OUTPUT: OPERATORS[specs[source].kind].outputs.index(link.source_port),
                L.E_FEEDBACK: int(link.feedback),
                L.E_KIND: code,
                **choice,
                L.E_ROUTE: len(route),
                L.E_CHANNEL: channels,
                L.E_BOUND: bound,
                L.E_CREDIT: credits,
                L.E_BYTES: (schema.bytes + experiment.cluster.envelope_bytes) * weight,
                L.E_COUNTED: int(counted or bound > 0),
                **crossing_prices(experiment, full[f"{link.source}.{link.source_port}"], weight),
                L.E_INNER: int(link.source in region and region[link.source] == region.get(link.target)),
            },
        )
        route += words
        blocks.append(block)
        channels += len(block)
        credits += len(block) * bounds[n](fewest[link.target], max(speeds_milli[link.target]))
    op_edges, edges_of = _edges_by_operator(edge, len(specs))
    chan = np.concatenate(blocks) if blocks else np.zeros((0, L.C_COLUMNS), np.int64)
    return Channels(edge, chan, credits, op_edges, edges_of, np.array([*route, 0], np.int64), tuple(bounds))


def _pairs(partitioning: Partitioning, source: OperatorSpec, target: OperatorSpec) -> tuple[Words, Words]:
    """Sender and receiver of each channel of an edge, by index in their operators."""
    if partitioning.one_to_one:
        return np.arange(source.parallelism), np.arange(source.parallelism)
    sender, receiver = np.divmod(np.arange(source.parallelism * target.parallelism), target.parallelism)
    return sender, receiver


def _check(code: int, partitioning: Partitioning) -> None:
    """Raise ValueError if a partitioning of another package promises what only the loop's own keep."""
    if partitioning.one_to_one and code != L.FORWARD:
        raise ValueError(f"{type(partitioning).__module__}: one_to_one is true, but only `forward` connects index to index")
    if code != L.HASH and partitioning.keying is not None and partitioning.keying.groups:
        raise ValueError(f"{type(partitioning).__module__}: keying has key groups, but a rescale can hand over only those of `hash`; use 0")


def _choice(code: int, partitioning: Partitioning, schema: RecordSchema, receivers: int) -> tuple[dict[int, int], list[int]]:
    """The edge's columns for finding the receiver of a key, and its words in `route`."""
    keying = partitioning.keying
    if code != L.HASH or keying is None:
        return {L.E_KEY: 0, L.E_SCHEME: 0, L.E_GROUPS: 1}, [int(word) for word in partitioning.words(schema)]
    groups = keying.groups or receivers
    scheme = L.SCHEME_KEY_GROUPS if keying.scheme == "mixed" else L.SCHEME_MODULO
    return {L.E_KEY: schema.index(keying.field), L.E_SCHEME: scheme, L.E_GROUPS: groups}, [g * receivers // groups for g in range(groups)]


def _edges_by_operator(edge: Words, operators: int) -> tuple[Words, list[tuple[int, int]]]:
    op_edges: list[int] = []
    ranges: list[tuple[int, int]] = []
    for n in range(operators):
        leaving = np.flatnonzero(edge[:, L.E_SOURCE] == n).tolist()
        ranges.append((len(op_edges), len(op_edges) + len(leaving)))
        op_edges += leaving
    return np.array(op_edges, np.int64), ranges


def _bound(
    flow: FlowControl,
    own: int | None,
    record_bytes: int,
    weight: int,
    serves_ns: Callable[[int], int],
    inputs: int,
    speed_milli: int,
) -> int:
    """Capacity of a channel in records; 0: unbounded. own: that of its edge."""
    if own is not None:
        return max(1, own // weight)
    records = flow.records(record_bytes, inputs, weight, serves_ns(speed_milli))
    return 0 if records is None else max(1, records)
