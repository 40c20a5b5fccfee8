"""Lowers the operators of a query: their parameters, programs and cost variation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from engine.core import layout as L
from engine.core.tables import Words, row_of
from engine.core.weave import Loop
from engine.lowering import cost_noise
from engine.lowering import deadlines as windows
from engine.lowering.channels import Channels
from engine.lowering.prices import operator_prices
from engine.operators import OPERATORS
from engine.spec import Experiment, RecordSchema
from engine.spec.base.operator import Operator
from engine.spec.experiment.query import OperatorSpec
from engine.spec.experiment.scaling.moving import Moving
from engine.spec.expressions.parser import parse
from engine.spec.expressions.tree import TextFunction
from engine.workloads.strings import Strings


@dataclass
class Lowering:
    """Context in which an operator kind lowers its parameters to words."""

    strings: Strings
    stream_texts: int  # texts of streams, which come first
    params_at: int = 0
    parallelism: int = 1
    weight: int = 1  # real records per record served
    start_ns: int = 0  # of the operator's query: its windows count from there
    full: Mapping[str, RecordSchema] = field(default_factory=dict)  # input schemas with all fields, by port
    outputs: Mapping[str, RecordSchema] = field(default_factory=dict)  # output schemas with the fields carried, by port
    groups: tuple[int, int] = (L.SCHEME_KEY_GROUPS, 1)  # scheme and number, of the hash edge that feeds the operator
    connected: frozenset[str] = frozenset()  # output ports that an edge leaves
    params: list[int] = field(default_factory=list)
    code: list[Words] = field(default_factory=list)
    constants: list[int] = field(default_factory=list)
    tables: list[tuple[int, TextFunction]] = field(default_factory=list)  # constants that hold starts of tables
    lists: int = 0
    latencies: int = 0  # rows of the latencies by instance
    values: int = 1
    stored: int = 1
    row_words: int | None = None  # words of a stored record, None if the operator stores none
    group_words: int = 0
    first_row: int = 0
    heads: tuple[int, int] = (0, 0)
    first_list: int = 0
    lists_each: int = 0
    lists_link: int = -1

    def begin(self, parallelism: int, weight: int, groups: tuple[int, int], start_ns: int) -> None:
        """Start with the next operator. groups: scheme and number of the key groups of the hash edge that feeds it. start_ns: of its
        query."""
        self.parallelism, self.weight, self.groups, self.start_ns = parallelism, weight, groups, start_ns
        self.params_at = len(self.params)
        self.row_words, self.group_words, self.first_row, self.heads = None, 0, 0, (0, 0)
        self.first_list, self.lists_each, self.lists_link = 0, 0, -1

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
        """Reserve lists of panes for every instance and key group of the operator. Returns the number of the first."""
        self.lists_link = 0
        return self._lists(groups)

    def other_lists(self, each: int) -> int:
        """Reserve heads of other lists or heaps, `each` per instance. Returns the number of the first. Their contents can be found without
        them, unless `rows_by_age` is called."""
        self.lists_link = -1
        return self._lists(each)

    def rows_by_age(self, column: int) -> None:
        """Declare that the instance's first head reaches all its stored records, each linked to the next by this column."""
        self.lists_link = column

    def _lists(self, each: int) -> int:
        self.first_list, self.lists_each = self.lists, each
        self.lists += self.parallelism * each
        return self.first_list

    def instance_latencies(self) -> int:
        """Reserve a row of latencies for every instance of the operator. Returns the number of the first."""
        first = self.latencies
        self.latencies += self.parallelism
        return first

    def entry_values(self, count: int) -> None:
        self.values = max(self.values, count)

    def stored_rows(self, words: int, links: int = 0) -> None:
        """Declare that the operator stores records of this many words, followed by links to other rows, which are not part of the state."""
        self.row_words = words
        self.stored = max(self.stored, words + links)

    def groups_of(self, words: int, first_row: int, heads: tuple[int, int]) -> None:
        """Declare that the operator's entries are groups.

        words: words from S_COUNT on that are state. first_row: column of the first stored record, 0 if none. heads: first column and number
        of the lists of distinct values.
        """
        self.group_words, self.first_row, self.heads = words, first_row, heads


def lower_operators(
    experiment: Experiment,
    types: Mapping[str, RecordSchema],
    full: Mapping[str, RecordSchema],
    weights: Mapping[str, tuple[int, int]],
    channels: Channels,
    inst: Words,
    kernels: Loop,
    strings: Strings,
) -> tuple[Words, Lowering]:
    """The table `op`, and the operators' other requirements on the run's tables. Sets the random keys of instances with noise.

    types: the fields carried, by "operator.port"; full: all fields. weights: of input and output records, by operator.
    """
    specs = experiment.query.operators
    lowering = Lowering(strings, len(strings))
    op = np.zeros((len(specs), L.O_COLUMNS), np.int64)
    sinks = [spec.id for spec in specs if spec.kind == "sink"]
    starts_ns, deadlines = experiment.query.starts_ns, windows.deadlines_by_operator(experiment)
    first = 0
    for n, spec in enumerate(specs):
        kind = OPERATORS[spec.kind]
        start_ns = starts_ns.get(spec.id, 0)
        lowering.begin(spec.parallelism, weights[spec.id][0], _key_groups(channels.edge, n), start_ns)
        port_widths = _lower_params(experiment, spec, kind, types, full, lowering)
        noise = _lower_noise(experiment, spec, inst[first : first + spec.parallelism], lowering)
        port = "in" if spec.kind == "sink" else kind.outputs[0]
        op[n] = row_of(
            "O_",
            {
                L.O_CODE: kernels.code(spec.kind),
                L.O_FIRST: first,
                L.O_PARALLEL: spec.parallelism,
                L.O_BEGIN: 0,
                L.O_STRIDE: spec.parallelism,
                L.O_EDGE: channels.edges_of[n][0],
                L.O_EDGE_END: channels.edges_of[n][1],
                L.O_PARAMS: lowering.params_at,
                **operator_prices(experiment, spec, n, full, channels.edge, weights[spec.id]),
                L.O_NOISE: noise,
                L.O_ATTAINABLE: L.WHOLE if spec.cost is None else spec.cost.attainable_share,
                L.O_SINK: sinks.index(spec.id) if spec.kind == "sink" else -1,
                L.O_WIDTH: len(types[f"{spec.id}.{port}"].fields),
                L.O_PORTS: len(kind.outputs),
                L.O_PORT_WIDTHS: port_widths,
                L.O_ROW_WORDS: 0 if lowering.row_words is None else L.R_VALUES - L.R_EVENT + lowering.row_words,
                L.O_GROUP_WORDS: lowering.group_words,
                L.O_FIRST_ROW: lowering.first_row,
                L.O_HEADS: lowering.heads[0],
                L.O_HEADS_COUNT: lowering.heads[1],
                L.O_LISTS: lowering.first_list,
                L.O_LISTS_EACH: lowering.lists_each,
                L.O_LISTS_LINK: lowering.lists_link,
                L.O_START: start_ns,
                L.O_SCAN_PS: 0,
                L.O_GET_PS: 0,
                L.O_WRITE_PS: 0,
                L.O_DEADLINES: windows.lowered(deadlines.get(spec.id, ()), lowering.params),
            },
        )
        first += spec.parallelism
    return op, lowering


def _key_groups(edge: Words, n: int) -> tuple[int, int]:
    """Scheme and number of the key groups of the first hash edge that leads to operator n."""
    hashed = edge[(edge[:, L.E_TARGET] == n) & (edge[:, L.E_KIND] == L.HASH)]
    return (int(hashed[0, L.E_SCHEME]), int(hashed[0, L.E_GROUPS])) if len(hashed) else (L.SCHEME_KEY_GROUPS, 1)


def _lower_params(
    experiment: Experiment,
    spec: OperatorSpec,
    kind: type[Operator],
    types: Mapping[str, RecordSchema],
    full: Mapping[str, RecordSchema],
    lowering: Lowering,
) -> int:
    """Append the operator's parameters, then the record width and the first edge (-1: none) of each output port. Returns the place of the
    widths."""
    edges = experiment.query.edges
    ports = {port: types[f"{spec.id}.{port}"] for port in kind.inputs}
    lowering.full = {port: full[f"{spec.id}.{port}"] for port in kind.inputs}
    lowering.outputs = {port: types[f"{spec.id}.{port}"] for port in kind.outputs}
    lowering.connected = frozenset(edge.source_port for edge in edges if edge.source == spec.id)
    params = kind.lower(spec.parameters, ports, lowering)
    lowering.params.extend(params)
    port_widths = len(lowering.params)
    lowering.params.extend(len(types[f"{spec.id}.{port}"].fields) for port in kind.outputs)
    leaving = {edge.source_port: e for e, edge in reversed(list(enumerate(edges))) if edge.source == spec.id}
    lowering.params.extend(leaving.get(port, -1) for port in kind.outputs)
    return port_widths


def _lower_noise(experiment: Experiment, spec: OperatorSpec, instances: Words, lowering: Lowering) -> int:
    """Append the operator's cost variation. Returns its place, -1 without variation."""
    if spec.cost is None:
        return -1
    workload = experiment.workload
    drift = cost_noise.drift_factors(spec.cost.drift, workload.seed, spec.id, workload.end_ns)
    variation = cost_noise.lower(spec.cost, drift, lowering.weight)
    if not variation:
        return -1
    place = len(lowering.params)
    lowering.params.extend(variation)
    moves = isinstance(experiment.policies.scaling, Moving)  # an operator that moves is one instance, wherever it is
    instances[:, L.I_NOISE] = cost_noise.keys(workload.seed, spec.id, 1 if moves else spec.parallelism)
    return place
