"""An experiment as cost models know it: operators, streams and hosts by their transferable features, and samples of the streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.random import RandomStream
from engine.costmodels import sampling
from engine.costmodels.description import Aggregate, Dtype, Filter, Host, Join, Operator, Query, Sink, Source, Window, WindowedAggregate
from engine.costmodels.sampling import SAMPLE, Fields, Table
from engine.placement.space import cpu_percent
from engine.spec import Experiment, RecordSchema
from engine.spec.experiment.cluster import ExpandedHost
from engine.spec.experiment.query import OperatorSpec
from engine.spec.experiment.rates.constant import ConstantRate
from engine.spec.experiment.streams.synthetic import Synthetic
from engine.spec.rules.flow import Datasets
from engine.spec.rules.validation import Context, schemas
from engine.workloads import Strings, build_feed
from engine.workloads.feed import Feed

from .predicates import comparison

DTYPES: Mapping[str, Dtype] = {"int": "int", "bool": "int", "timestamp": "int", "float": "double", "string": "string", "vector": "double"}
FUNCTIONS = {"min": "min", "max": "max", "avg": "mean", "sum": "sum", "count": "count"}
STRETCHES = 10
"""Of the run, that records are taken from."""

UNCOUNTED = ("key", "number")
"""Fields of synthetic streams that every record has besides its values."""


@dataclass(frozen=True)
class Unknown:
    """What models know nothing of. operator: its id, empty if it is the experiment as a whole."""

    operator: str
    reason: str


class NotDescribed(ValueError):
    """Models cannot predict the experiment. unknown: each reason."""

    def __init__(self, unknown: list[Unknown]):
        super().__init__("; ".join(one.reason for one in unknown))
        self.unknown = unknown


@dataclass(frozen=True)
class Described:
    """ids: by operator of the query, its id in the experiment. order: by operator of the query, its number in the experiment.
    selectivities: estimated from samples."""

    query: Query
    ids: tuple[str, ...]
    order: tuple[int, ...]
    hosts: tuple[Host, ...]
    selectivities: tuple[float, ...]


def describe(experiment: Experiment, datasets: Datasets) -> Described:
    """datasets: finds uploaded files of streams. Raises NotDescribed."""
    return _Describing(experiment, datasets).done()


def host_of(host: ExpandedHost) -> Host:
    return Host(cpu_percent(host), host.memory_bytes / 1e6, float(host.egress_mbit_per_s), host.egress_latency_ns / 1e6)


class _Describing:
    def __init__(self, experiment: Experiment, datasets: Datasets):
        self.experiment, self.datasets = experiment, datasets
        self.schemas: Mapping[str, RecordSchema] = schemas(experiment, Context(datasets=datasets))
        self.unknown: list[Unknown] = []
        self.of: dict[str, tuple[Operator, Fields]] = {}

    def done(self) -> Described:
        specs = self._sorted()
        for spec in specs:
            if spec.parallelism > 1:
                self._reject(spec, f"has parallelism {spec.parallelism}; models know one instance of each operator")
            if spec.kind not in _KINDS:
                known = ", ".join(_KINDS)
                self._reject(spec, f"is of kind {spec.kind}, which models have never seen; they know {known}")
            elif (made := _KINDS[spec.kind](self, spec)) is not None:
                self.of[spec.id] = made
        sinks = [spec for spec in specs if spec.kind == "sink"]
        if len(sinks) != 1:
            self.unknown.append(Unknown("", f"the query has {len(sinks)} sinks; models know queries with one"))
        if self.unknown:
            raise NotDescribed(self.unknown)
        number = {spec.id: n for n, spec in enumerate(specs)}
        ports = {"left": 0, "right": 1}
        edges = sorted((number[edge.target], ports.get(edge.target_port, 0), number[edge.source]) for edge in self.experiment.query.edges)
        query = Query(tuple(self.of[spec.id][0] for spec in specs), tuple((sender, receiver) for receiver, _, sender in edges))
        samples = {number[spec.id]: self._sample(spec, k) for k, spec in enumerate(spec for spec in specs if spec.kind == "source")}
        fields = [self.of[spec.id][1] for spec in specs]
        random = RandomStream(self.experiment.workload.seed, "samples")
        places = {spec.id: n for n, spec in enumerate(self.experiment.query.operators)}
        return Described(
            query,
            tuple(spec.id for spec in specs),
            tuple(places[spec.id] for spec in specs),
            tuple(host_of(host) for host in self.experiment.expanded_hosts()),
            sampling.estimated(query, samples, fields, random),
        )

    def _sorted(self) -> list[OperatorSpec]:
        """Senders before receivers, the sink last."""
        specs = {spec.id: spec for spec in self.experiment.query.operators}
        senders: dict[str, set[str]] = {id: set() for id in specs}
        for edge in self.experiment.query.edges:
            if edge.feedback:
                self._reject(specs[edge.source], "sends records back; models know queries without cycles")
            else:
                senders[edge.target].add(edge.source)
        done: dict[str, OperatorSpec] = {}
        while len(done) < len(specs):
            ready = [id for id in specs if id not in done and senders[id] <= done.keys()]
            first = next((id for id in ready if specs[id].kind != "sink"), ready[0])
            done[first] = specs[first]
        return list(done.values())

    def _reject(self, spec: OperatorSpec, reason: str) -> None:
        self.unknown.append(Unknown(spec.id, f"{spec.id} {reason}"))

    def _schema(self, spec: OperatorSpec, port: str = "in") -> RecordSchema:
        """Of what arrives at a port."""
        edge = next(edge for edge in self.experiment.query.edges if (edge.target, edge.target_port) == (spec.id, port))
        return self.schemas[f"{edge.source}.{edge.source_port}"]

    def source(self, spec: OperatorSpec) -> tuple[Operator, Fields]:
        source = self.experiment.workload.sources[spec.id]
        uncounted = UNCOUNTED if isinstance(source.stream, Synthetic) else ()
        types = [field.type for field in self.schemas[f"{spec.id}.out"].fields if field.name not in uncounted]
        counts = {type: sum(one in of for one in types) for type, of in _VALUES.items()}
        return Source(self._rate_per_s(spec), counts["int"], counts["double"], counts["string"]), Fields()

    def _rate_per_s(self, spec: OperatorSpec) -> int:
        """The mean over the run."""
        rate = self.experiment.workload.sources[spec.id].rate
        if isinstance(rate, ConstantRate):
            return round(rate.per_s)
        feed = build_feed(self.experiment, spec.id, 0, Strings(), self.datasets, [])
        return round(feed.count * feed.weight / (self.experiment.workload.horizon_ns / 1e9))

    def filter(self, spec: OperatorSpec) -> tuple[Operator, Fields] | None:
        predicate = spec.parameters.predicate
        found = comparison(predicate)
        if found is None:
            self._reject(spec, f"has the predicate {predicate}; models know one comparison of a field with a constant")
            return None
        return Filter(found.function, self._dtype(spec, found.field), found.literal), Fields(tested=found.field)

    def _dtype(self, spec: OperatorSpec, field: str, port: str = "in") -> Dtype:
        schema = self._schema(spec, port)
        return DTYPES[schema.type_of(field)]

    def window_join(self, spec: OperatorSpec) -> tuple[Operator, Fields]:
        params = spec.parameters
        keys = params.left_key, params.right_key
        return Join(self._dtype(spec, params.left_key, "left"), _window(params.window)), Fields(keys=keys)

    def aggregate(self, spec: OperatorSpec) -> tuple[Operator, Fields] | None:
        params = spec.parameters
        if params.window.kind not in ("tumbling", "sliding", "marked"):
            self._reject(spec, f"has the window {params.window.kind}; models know tumbling and sliding ones")
            return None
        made = self._aggregated(spec, params)
        if made is None:
            return None
        (function, dtype, group_by), fields = made
        if params.window.kind == "marked":
            return Aggregate(function, dtype, group_by), fields
        return WindowedAggregate(function, dtype, group_by, _window(params.window)), fields

    def count_window_aggregate(self, spec: OperatorSpec) -> tuple[Operator, Fields] | None:
        params = spec.parameters
        if params.counts != "all" and params.key is not None:
            self._reject(spec, "counts the records of each key; models know windows over all records (counts: all)")
            return None
        made = self._aggregated(spec, params)
        if made is None:
            return None
        return WindowedAggregate(*made[0], _of_counts(params.size, params.step)), made[1]

    def _aggregated(self, spec: OperatorSpec, params: Any) -> tuple[tuple[str, Dtype, Dtype | None], Fields] | None:
        of = params.aggregates[0]
        if len(params.aggregates) > 1 or of.function not in FUNCTIONS:
            functions = ", ".join(one.function for one in params.aggregates)
            self._reject(spec, f"computes {functions}; models know one of {', '.join(FUNCTIONS)}")
            return None
        group_by = None if params.key is None else self._dtype(spec, params.key)
        dtype = "int" if of.field is None else self._dtype(spec, of.field)
        return (FUNCTIONS[of.function], dtype, group_by), Fields(group=params.key, value=of.field, result=of.name)

    def sink(self, spec: OperatorSpec) -> tuple[Operator, Fields]:
        return Sink(), Fields()

    def _sample(self, spec: OperatorSpec, number: int) -> Table:
        """Records of a source, from stretches all over the run: what a stream holds may change with time."""
        strings = Strings()
        feed = build_feed(self.experiment, spec.id, number, strings, self.datasets)
        if not feed.count:
            raise NotDescribed([Unknown(spec.id, f"{spec.id} has no records in this run")])
        words = np.concatenate([feed.chunk(*stretch).words for stretch in self._stretches(feed)])[:SAMPLE]
        table: Table = {}
        for column, name in enumerate(feed.fields):
            type = feed.schema.type_of(name)
            values = np.ascontiguousarray(words[:, column])
            if type == "string":
                table[name] = np.array(strings.texts(values))
            else:
                table[name] = values.view(np.float64) if type == "float" else values
        return table

    def _stretches(self, feed: Feed) -> list[tuple[int, int]]:
        """From when to when, in ns: at equal distances, with records for a sample in all; the whole run if it has not many more."""
        horizon_ns = self.experiment.workload.horizon_ns
        if feed.count <= 2 * SAMPLE:
            return [(0, horizon_ns)]
        each, found = SAMPLE // STRETCHES, []
        for n in range(STRETCHES):
            begin_ns = until_ns = horizon_ns * n // STRETCHES
            step_ns = max(1, horizon_ns * each // feed.count)
            end_ns = horizon_ns * (n + 1) // STRETCHES
            while until_ns < end_ns and feed.count_before(until_ns) - feed.count_before(begin_ns) < each:
                until_ns = min(end_ns, until_ns + step_ns)
            found.append((begin_ns, until_ns))
        return found


_VALUES = {"int": ("int", "bool"), "double": ("float",), "string": ("string",)}
"""Types of fields by the type that a value of them counts as. Times are no values."""

_KINDS: Mapping[str, Callable[[_Describing, OperatorSpec], tuple[Operator, Fields] | None]] = {
    "source": _Describing.source,
    "filter": _Describing.filter,
    "window_join": _Describing.window_join,
    "aggregate": _Describing.aggregate,
    "count_window_aggregate": _Describing.count_window_aggregate,
    "sink": _Describing.sink,
}


def _window(window: Any) -> Window:
    if window.kind == "count":
        return _of_counts(window.size, window.step)
    size = round(1000 * window.size_s)
    return Window(window.kind, "time", size, size if window.kind == "tumbling" else round(1000 * window.slide_s))


def _of_counts(size: int, slide: int) -> Window:
    return Window("tumbling" if slide == size else "sliding", "count", size, slide)
