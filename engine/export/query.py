"""The query of an experiment as views of Spark SQL over streams.

A nanosecond of the experiment is a microsecond of Spark's clock, its smallest unit: so no record moves into another window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.spec import Experiment, RecordSchema
from engine.spec.base.family import kind_of
from engine.spec.base.problems import Problem, pointer
from engine.spec.base.units import milliseconds_ns, seconds_ns
from engine.spec.experiment.query import OperatorSpec
from engine.spec.experiment.states.active_standby import standbys
from engine.spec.expressions.parser import parse
from engine.spec.rules.validation import Context, schemas

from .sql import SQL_TYPES, quoted, sql

EVENT = "_event"
"""The column with a record's event time, of which watermarks are made; gone once nothing downstream could use it."""

SHIFT_NS = 10**15
"""Added to event times. Spark's first watermark is 0, and a record at or before it, or a window that ends by it, would be late."""

RESERVED = frozenset({EVENT, "_event_ns", "_window"})


class NotExported(Exception):
    """The query has parts that have no equivalent in Spark. problems: all of them."""

    def __init__(self, problems: list[Problem]):
        super().__init__("; ".join(f"{problem.pointer}: {problem.message}" for problem in problems))
        self.problems = problems


class _Unsupported(Exception):
    """at: path below the operator."""

    def __init__(self, message: str, *at: str | int, value: object = None):
        super().__init__(message)
        self.at, self.value = at, value


@dataclass(frozen=True)
class Source:
    """columns: (name, type of Spark). lag_ns: how long windows wait for records out of order; none if they have no watermarks."""

    name: str
    columns: tuple[tuple[str, str], ...]
    lag_ns: int | None


@dataclass(frozen=True)
class View:
    name: str
    sql: str


@dataclass(frozen=True)
class Sink:
    """columns: of its records, in order. view: what it takes."""

    name: str
    view: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class SparkQuery:
    name: str
    sources: tuple[Source, ...]
    views: tuple[View, ...]
    sinks: tuple[Sink, ...]


def compiled(experiment: Experiment, context: Context | None = None) -> SparkQuery:
    """The query for Spark. Raises NotExported with everything that has no equivalent there."""
    compiler = _Compiler(experiment, schemas(experiment, context))
    problems = [*_unsupported(experiment), *compiler.compile()]
    if problems:
        raise NotExported(problems)
    return SparkQuery(experiment.name or "query", tuple(compiler.sources), tuple(compiler.views), tuple(compiler.sinks))


def _unsupported(experiment: Experiment) -> Iterator[Problem]:
    """Parts of an experiment outside its operators that Spark has no equivalent of."""
    if experiment.workload.scale > 1:
        message = f"scale is {experiment.workload.scale}; Spark works on real records: set it to 1"
        yield Problem("/workload/scale", "not_exported", message, experiment.workload.scale)
    if (protocol := kind_of(type(experiment.policies.checkpointing))) != "none":
        message = "Spark has a checkpointing protocol of its own; set checkpointing to none"
        yield Problem("/policies/checkpointing", "not_exported", message, protocol)
    if kind_of(type(experiment.policies.ingress)) == "drop":
        message = "full hosts drop records, and Spark takes all; choose read"
        yield Problem("/policies/ingress", "not_exported", message, "drop")
    for n, query in enumerate(experiment.query.queries):
        if (query.copies or 1) > 1:
            message = f"query '{query.name}' has {query.copies} copies; Spark gets one: set copies to 1"
            yield Problem(pointer("query", "queries", n, "copies"), "not_exported", message, query.copies)
    parallelism = {spec.id: spec.parallelism for spec in experiment.query.operators}
    for n, edge in enumerate(experiment.query.edges):
        if edge.source_port.startswith("late"):
            message = f"'{edge.target}' takes the late records of '{edge.source}', and Spark drops late ones; remove the edge"
            yield Problem(pointer("query", "edges", n, "source_port"), "not_exported", message, edge.source_port)
        if kind_of(type(edge.partitioning)) == "broadcast" and (instances := parallelism[edge.target]) > 1:
            message = f"each of the {instances} instances of '{edge.target}' gets every record, and SQL has no instances; choose rebalance"
            yield Problem(pointer("query", "edges", n, "partitioning"), "not_exported", message, "broadcast")
        if edge.feedback:
            message = f"the edge from '{edge.source}' to '{edge.target}' closes a cycle, and queries of Spark have none"
            yield Problem(pointer("query", "edges", n), "not_exported", message)


@dataclass
class _Stream:
    """What leaves a port: a view, and whether its event times can still make watermarks."""

    view: str
    has_time: bool


@dataclass
class _Compiler:
    experiment: Experiment
    schemas: Mapping[str, RecordSchema]
    sources: list[Source] = field(default_factory=list)
    views: list[View] = field(default_factory=list)
    sinks: list[Sink] = field(default_factory=list)
    ports: dict[str, _Stream] = field(default_factory=dict)

    def compile(self) -> Iterator[Problem]:
        """Compile all operators. Yields what has no equivalent; what depends on it is left out."""
        spare = standbys(self.experiment)  # their results are those of others
        specs = {spec.id: (n, spec) for n, spec in enumerate(self.experiment.query.operators)}
        edges = [edge for edge in self.experiment.query.edges if not edge.feedback and edge.source not in spare]
        feeding = {id: [edge for edge in edges if edge.target == id] for id in specs}
        left = [id for id in specs if id not in spare]
        while left:
            ready = [id for id in left if not any(edge.source in left for edge in feeding[id])]
            if not ready:
                return  # a cycle, which is reported
            for id in ready:
                left.remove(id)
                n, spec = specs[id]
                if any(f"{edge.source}.{edge.source_port}" not in self.ports for edge in feeding[id]):
                    continue  # what is before it is refused
                inputs: dict[str, list[_Stream]] = {}
                for edge in feeding[id]:
                    inputs.setdefault(edge.target_port, []).append(self.ports[f"{edge.source}.{edge.source_port}"])
                try:
                    make = KINDS.get(spec.kind)
                    self._check_names(spec)
                    if make is None:
                        raise _Unsupported(f"{spec.in_words} has no equivalent in Spark's SQL over streams", value=spec.kind)
                    make(self, spec, {port: self._merged(spec, port, streams) for port, streams in inputs.items()})
                except _Unsupported as found:
                    yield Problem(pointer("query", "operators", n, *found.at), "not_exported", str(found), found.value)

    # --- parts of all kinds

    def _check_names(self, spec: OperatorSpec) -> None:
        names = {name for port, schema in self.schemas.items() if port.rpartition(".")[0] == spec.id for name in schema.names}
        if reserved := names & RESERVED:
            raise _Unsupported(f"'{spec.id}' has a field '{min(reserved)}', a name that the program uses; rename it", value=min(reserved))

    def _merged(self, spec: OperatorSpec, port: str, streams: list[_Stream]) -> _Stream:
        """One stream of all that reach a port."""
        if len(streams) == 1:
            return streams[0]
        has_time = all(stream.has_time for stream in streams)
        names = [quoted(name) for name in self._input(spec, port).names] + ([EVENT] if has_time else [])
        parts = [f"SELECT {', '.join(names)} FROM {stream.view}" for stream in streams]
        return self._view(f"{spec.id}_{port}", "\nUNION ALL\n".join(parts), has_time)

    def _view(self, name: str, text: str, has_time: bool) -> _Stream:
        """name: of the view, unless another one or a source has it."""
        taken, unused = {view.name for view in self.views} | {quoted(source.name) for source in self.sources}, name
        while quoted(unused) in taken:
            unused += "_"
        self.views.append(View(quoted(unused), text))
        return _Stream(quoted(unused), has_time)

    def _out(self, spec: OperatorSpec, text: str, has_time: bool, port: str = "out") -> None:
        name = spec.id if port == "out" else f"{spec.id}_{port}"
        self.ports[f"{spec.id}.{port}"] = self._view(name, text, has_time)

    def _time(self, stream: _Stream) -> str:
        return f", {EVENT}" if stream.has_time else ""

    def _names(self, port: str) -> tuple[str, ...]:
        return self.schemas[port].names

    def _timed(self, stream: _Stream, what: str) -> None:
        if not stream.has_time:
            raise _Unsupported(
                f"{what} by event time, but its records have no watermarks in Spark: their source makes none, or a join is before it"
            )

    # --- kinds

    def source(self, spec: OperatorSpec, inputs: Mapping[str, _Stream]) -> None:
        workload = self.experiment.workload.sources[spec.id]
        watermarks: Any = workload.watermarks
        if watermarks.kind not in ("none", "bounded"):
            raise _Unsupported(
                f"the watermarks of '{spec.id}' are {watermarks.kind}; Spark makes its own from the largest event time: choose bounded",
                value=watermarks.kind,
            )
        schema = self.schemas[f"{spec.id}.out"]
        if whole := [field.name for field in schema.fields if field.type == "vector"]:
            raise _Unsupported(f"'{whole[0]}' of '{spec.id}' is a whole vector; the query can be exported with coordinates as fields")
        lag_ns = milliseconds_ns(watermarks.lag_ms) if watermarks.kind == "bounded" else None
        self.sources.append(Source(spec.id, tuple((f.name, SQL_TYPES[f.type]) for f in schema.fields), lag_ns))
        self.ports[f"{spec.id}.out"] = _Stream(quoted(spec.id), lag_ns is not None)

    def filter(self, spec: OperatorSpec, inputs: Mapping[str, _Stream]) -> None:
        taken, schema = inputs["in"], self.schemas[f"{spec.id}.out"]
        self._out(spec, f"SELECT * FROM {taken.view} WHERE {sql(parse(_params(spec).predicate, schema).tree)}", taken.has_time)

    def map(self, spec: OperatorSpec, inputs: Mapping[str, _Stream]) -> None:
        taken, schema = inputs["in"], self._input(spec, "in")
        made = [f"{sql(parse(made.expression, schema).tree)} AS {quoted(made.name)}" for made in _params(spec).fields]
        self._out(spec, f"SELECT {', '.join(made)}{self._time(taken)} FROM {taken.view}", taken.has_time)

    def project(self, spec: OperatorSpec, inputs: Mapping[str, _Stream]) -> None:
        taken = inputs["in"]
        made = [f"{quoted(chosen.field)} AS {quoted(chosen.output_name)}" for chosen in _params(spec).fields]
        self._out(spec, f"SELECT {', '.join(made)}{self._time(taken)} FROM {taken.view}", taken.has_time)

    def split(self, spec: OperatorSpec, inputs: Mapping[str, _Stream]) -> None:
        taken, schema, params = inputs["in"], self._input(spec, "in"), _params(spec)
        holds = [sql(parse(route.predicate, schema).tree) for route in params.routes]
        for n, condition in enumerate(holds):
            before = [f"NOT {one}" for one in holds[:n]] if params.mode == "first" else []
            self._out(spec, f"SELECT * FROM {taken.view} WHERE {' AND '.join([*before, condition])}", taken.has_time, f"out{n + 1}")
        self._out(spec, f"SELECT * FROM {taken.view} WHERE {' AND '.join(f'NOT {one}' for one in holds)}", taken.has_time, "rest")

    def union(self, spec: OperatorSpec, inputs: Mapping[str, _Stream]) -> None:
        self.ports[f"{spec.id}.out"] = inputs["in"]

    def sink(self, spec: OperatorSpec, inputs: Mapping[str, _Stream]) -> None:
        self.sinks.append(Sink(spec.id, inputs["in"].view, self._input(spec, "in").names))

    def aggregate(self, spec: OperatorSpec, inputs: Mapping[str, _Stream]) -> None:
        window = _params(spec).window
        if window.kind not in ("tumbling", "sliding"):
            raise _Unsupported(f"its window is {window.kind}; Spark has windows of time", "params", "window", value=window.kind)
        self._by_event(window.clock, ("params", "window", "clock"))
        self._closes(spec)
        self._rows(spec, inputs["in"], _window(window))

    def session_aggregate(self, spec: OperatorSpec, inputs: Mapping[str, _Stream]) -> None:
        params = _params(spec)
        self._by_event(params.clock, ("params", "clock"))
        self._closes(spec)
        self._rows(spec, inputs["in"], f"session_window({EVENT}, '{_span(seconds_ns(params.gap_s))}')")

    def join(self, spec: OperatorSpec, inputs: Mapping[str, _Stream]) -> None:
        window = _params(spec).window
        for name in ("left_window_end", "right_window_end"):
            if (field := getattr(_params(spec), name)) is not None:
                message = f"{name} is '{field}': windows of Spark come from event times, not from a field; leave it out"
                raise _Unsupported(message, "params", name, value=field)
        self._in_time(spec)
        if window.kind == "full_history":
            self._pairs(spec, inputs, {"left": "", "right": ""}, "")
            return
        if window.kind not in ("tumbling", "sliding"):
            raise _Unsupported(
                f"its window is {window.kind}; over streams, Spark joins by windows of time", "params", "window", value=window.kind
            )
        self._by_event(window.clock, ("params", "window", "clock"))
        for side in ("left", "right"):
            self._timed(inputs[side], f"'{spec.id}' joins windows")
        pane = f", {_window(window)} AS _window"
        self._pairs(spec, inputs, {"left": pane, "right": pane}, " AND l._window = r._window")

    def interval_join(self, spec: OperatorSpec, inputs: Mapping[str, _Stream]) -> None:
        params = _params(spec)
        self._in_time(spec)
        for side in ("left", "right"):
            self._timed(inputs[side], f"'{spec.id}' joins")
        lower = f"r.{EVENT} >= l.{EVENT} + INTERVAL '{_span(seconds_ns(params.lower_s))}'"
        upper = (
            f"{_ns(f'r.{EVENT}')} <= l.{quoted(params.until)}"
            if params.until is not None
            else f"r.{EVENT} <= l.{EVENT} + INTERVAL '{_span(seconds_ns(params.upper_s))}'"
        )
        self._pairs(spec, inputs, {"left": "", "right": ""}, f" AND {lower} AND {upper}")

    # --- parts of windows and joins

    def _input(self, spec: OperatorSpec, port: str) -> RecordSchema:
        edge = next(edge for edge in self.experiment.query.edges if edge.target == spec.id and edge.target_port == port)
        return self.schemas[f"{edge.source}.{edge.source_port}"]

    def _by_event(self, clock: str, at: tuple[str, ...]) -> None:
        if clock != "event":
            raise _Unsupported("clock is processing, and Spark serves records at other times; choose event", *at, value=clock)

    def _closes(self, spec: OperatorSpec) -> None:
        params = _params(spec)
        if params.emit != "on_close":
            message = "emit is on_update: Spark's windows over streams give a row when they end, not one for each record; choose on_close"
            raise _Unsupported(message, "params", "emit", value=params.emit)
        if params.every is not None:
            message = f"every is {params.every}: Spark counts no records of a window before it ends; leave it out"
            raise _Unsupported(message, "params", "every", value=params.every)
        self._in_time(spec)

    def _in_time(self, spec: OperatorSpec) -> None:
        lateness_ms = _params(spec).lateness_ms
        if lateness_ms:
            message = f"lateness_ms is {lateness_ms:g}: Spark drops records behind the watermark; set it to 0 and raise the watermarks' lag"
            raise _Unsupported(message, "params", "lateness_ms", value=lateness_ms)

    def _rows(self, spec: OperatorSpec, taken: _Stream, window: str) -> None:
        self._timed(taken, f"'{spec.id}' has windows")
        params = _params(spec)
        made = {one.name: _aggregate(one.function, one.field, self._input(spec, "in")) for one in params.aggregates}
        bounds = {"window_start": _ns("_window.start"), "window_end": _ns("_window.end")}
        names = self._names(f"{spec.id}.out")
        columns = [f"{bounds[name]} AS {quoted(name)}" if name in bounds and name not in made else quoted(name) for name in names]
        grouped = [*([] if params.key is None else [quoted(params.key)]), "_window"]
        rows = [*grouped, *(f"{text} AS {quoted(name)}" for name, text in made.items())]
        self._out(
            spec,
            f"SELECT {', '.join([*columns, f'window_time(_window) AS {EVENT}'])} FROM (\n"
            f"  SELECT {', '.join(rows)}\n"
            f"  FROM (SELECT *, {window} AS _window FROM {taken.view})\n"
            f"  GROUP BY {', '.join(grouped)})",
            True,
        )

    def _pairs(self, spec: OperatorSpec, inputs: Mapping[str, _Stream], more: Mapping[str, str], where: str) -> None:
        params = _params(spec)
        left, right = self._input(spec, "left"), self._input(spec, "right")
        places = {name: f"l.{quoted(name)}" for name in left.names}
        for name in right.names:
            to = name
            while to in places:
                to = f"right_{to}"
            places[to] = f"r.{quoted(name)}"
        for name, bound in (("window_start", "start"), ("window_end", "end")):
            if name not in places:
                places[name] = _ns(f"l._window.{bound}")
        chosen = self._names(f"{spec.id}.out")
        if lacking := [name for name in chosen if name not in places]:
            raise _Unsupported(f"select names '{lacking[0]}', which Spark cannot tell", "params", "select", value=lacking[0])
        columns = ", ".join(f"{places[name]} AS {quoted(name)}" for name in chosen)
        sides = {side: f"(SELECT *{more[side]} FROM {inputs[side].view})" if more[side] else inputs[side].view for side in more}
        on = f"l.{quoted(params.left_key)} = r.{quoted(params.right_key)}{where}"
        self._out(spec, f"SELECT {columns}\nFROM {sides['left']} l JOIN {sides['right']} r\nON {on}", False)


KINDS: dict[str, Callable[[_Compiler, OperatorSpec, Mapping[str, _Stream]], None]] = {
    "source": _Compiler.source,
    "filter": _Compiler.filter,
    "map": _Compiler.map,
    "project": _Compiler.project,
    "split": _Compiler.split,
    "union": _Compiler.union,
    "sink": _Compiler.sink,
    "aggregate": _Compiler.aggregate,
    "session_aggregate": _Compiler.session_aggregate,
    "join": _Compiler.join,
    "window_join": _Compiler.join,
    "interval_join": _Compiler.interval_join,
}


def _params(spec: OperatorSpec) -> Any:
    return spec.parameters


def _ns(time: str) -> str:
    """The time in ns of a time of Spark's."""
    return f"(unix_micros({time}) - {SHIFT_NS}L)"


def _span(ns: int) -> str:
    return f"{ns} microseconds"


def _window(window: Any) -> str:
    size_ns = seconds_ns(window.size_s)
    slide_ns = seconds_ns(window.slide_s) if window.kind == "sliding" else size_ns
    start_ns = (seconds_ns(window.origin_s) + SHIFT_NS) % slide_ns
    return f"window({EVENT}, '{_span(size_ns)}', '{_span(slide_ns)}', '{_span(start_ns)}')"


def _aggregate(function: str, name: str | None, schema: RecordSchema) -> str:
    if function == "count" or name is None:
        return "COUNT(*)"
    column = quoted(name)
    if schema.type_of(name) == "bool" and function != "count_distinct":
        column = f"CAST({column} AS BIGINT)"
    match function:
        case "count_distinct":
            return f"CAST(SIZE(COLLECT_SET({column})) AS BIGINT)"
        case "avg":
            return f"SUM(CAST({column} AS DOUBLE)) / CAST(COUNT(*) AS DOUBLE)"
    return f"{function.upper()}({column})"
