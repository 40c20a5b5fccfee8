"""Schemas of the records on each edge, from the sources to the sinks, and the keys by which they are partitioned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..base.family import kind_of
from ..base.problems import Problem, Refusal, pointer
from ..base.records import RecordField, RecordSchema
from ..base.structure import check, refusal_problem
from ..experiment import registry
from ..experiment.partitionings import Keying
from ..experiment.query import Edge, OperatorSpec
from ..experiment.streams import DatasetInfo, FileStream
from .draft import Draft
from .event_time import SPAN_MAX_NS, calendar_text, event_zero_ns
from .graph import partitioning_problem, topological

Datasets = Callable[[str], DatasetInfo | None]
KeyedBy = frozenset[Keying]
"""Ways in which records are known to be partitioned."""


class Flow:
    """Schemas and partitionings of a draft. Operators downstream of a broken one are skipped: their inputs are unknown.

    schemas: by operator id and port, as "id.port". params: typed parameters by operator id, None if invalid. problems: those found.
    event_zero_ns: see `event_time.event_zero_ns`.
    """

    def __init__(self, draft: Draft, datasets: Datasets):
        self.schemas: dict[str, RecordSchema] = {}
        self.problems: list[Problem] = []
        self._draft, self._datasets = draft, datasets
        self.event_zero_ns = event_zero_ns(draft.sources, datasets)
        self._keyed_by: dict[str, KeyedBy] = {}  # by operator: how its output records are partitioned over its instances
        self._incoming: dict[str, list[tuple[int, Edge]]] = defaultdict(list)
        for index, edge in draft.edges.items():
            self._incoming[edge.target].append((index, edge))
        self.params = {id: self._checked_params(id) for id in draft.kinds}
        for id in topological(draft):
            if id in draft.kinds:
                self._visit(draft.by_id[id])
        for index, edge in draft.edges.items():
            if edge.feedback:
                self._check_feedback(index, edge)

    def _checked_params(self, id: str) -> Any:
        """The operator's typed parameters, or None."""
        params, problems = check(registry.operator(self._draft.by_id[id].kind).Params, self._draft.by_id[id].params, self._at(id, "params"))
        self.problems += problems
        return params

    def _at(self, id: str, *below: str | int) -> tuple[str | int, ...]:
        return ("query", "operators", self._draft.ids[id], *below)

    def _problem(self, path: tuple[str | int, ...], code: str, message: str, value: Any = None, hint: str = "") -> None:
        self.problems.append(Problem(pointer(*path), code, message, value, hint))

    def _visit(self, operator: OperatorSpec) -> None:
        kind, params = self._draft.kinds[operator.id], self.params[operator.id]
        for index, edge in self._incoming[operator.id]:
            self._check_source_port(index, edge)
            if not edge.feedback:
                self._check_partitioning(index, edge)
        if not kind.inputs:
            self._visit_source(operator)
            return
        inputs = {port: schema for port in kind.inputs if (schema := self._input_schema(operator.id, port)) is not None}
        self.schemas.update({f"{operator.id}.{port}": schema for port, schema in inputs.items()})
        if params is None:
            return
        most = kind.parallelism_max(params)
        if most is not None and operator.parallelism > most:
            message = f"parallelism of '{operator.id}' is {operator.parallelism}; with these params it must be at most {most}"
            self._problem(self._at(operator.id, "parallelism"), "out_of_range", message, operator.parallelism)
        if len(inputs) < len(kind.inputs):
            return
        try:
            outputs = kind.output_schemas(params, inputs)
        except Refusal as refusal:
            self.problems.append(refusal_problem(refusal, self._at(operator.id, "params")))
            return
        self.schemas.update({f"{operator.id}.{port}": schema for port, schema in outputs.items()})
        keyed_by = {port: self._port_keyed_by(operator.id, port) for port in kind.inputs}
        self._check_required_keys(operator, keyed_by)
        self._keyed_by[operator.id] = frozenset(
            replace(keying, field=field)
            for port in kind.inputs
            for keying in keyed_by[port]
            if (field := kind.carries(params, inputs, port, keying.field)) is not None
        )

    def _visit_source(self, operator: OperatorSpec) -> None:
        source = self._draft.sources.get(operator.id)
        self._keyed_by[operator.id] = frozenset()
        if source is None:
            return
        try:
            dataset = self._datasets(source.stream.dataset) if isinstance(source.stream, FileStream) else None
            schema = source.stream.record_schema(dataset)
            if isinstance(source.stream, FileStream) and dataset is not None and self.event_zero_ns is not None:
                _refuse_far_apart(source.stream, dataset, self.event_zero_ns)
                schema = schema.counted_from(self.event_zero_ns)
        except Refusal as refusal:
            self.problems.append(refusal_problem(refusal, ("workload", "sources", operator.id, "stream")))
            return
        self.schemas.update({f"{operator.id}.{port}": schema for port in self._draft.kinds[operator.id].outputs})

    def _input_schema(self, id: str, port: str) -> RecordSchema | None:
        """Schema of the records that arrive at the port. All its edges must carry the same fields."""
        arrived: RecordSchema | None = None
        first = ""
        declared: RecordSchema | None = None
        for index, edge in self._incoming[id]:
            if edge.target_port != port:
                continue
            if edge.feedback:  # its sender is visited later; `_check_feedback` compares
                declared = declared or _declared(edge)
                continue
            schema = self.schemas.get(f"{edge.source}.{edge.source_port}")
            if schema is None:
                continue
            if arrived is None:
                arrived, first = schema, edge.source
            elif schema.fields != arrived.fields:
                message = (
                    f"port '{port}' of '{id}' receives {_listed(arrived)} from '{first}', but this edge from '{edge.source}' carries "
                    f"{_listed(schema)}; all edges into a port must carry the same fields"
                )
                self._problem(("query", "edges", index), "type_mismatch", message, f"{edge.source} -> {id}")
            else:
                arrived = arrived.met_by(schema)
        return arrived or declared

    def _check_feedback(self, index: int, edge: Edge) -> None:
        """A feedback edge must carry the fields of the other edges into its port or, without such edges, the fields that it declares."""
        at = ("query", "edges", index)
        takes = self.schemas.get(f"{edge.target}.{edge.target_port}")
        brings = self.schemas.get(f"{edge.source}.{edge.source_port}")
        declared = _declared(edge)
        others = [other for _, other in self._incoming[edge.target] if other.target_port == edge.target_port and not other.feedback]
        if takes is None and declared is None and not others and edge.target in self._draft.kinds:
            message = (
                f"port '{edge.target_port}' of '{edge.target}' has no other edge, so this feedback edge must declare its fields; add them"
            )
            self._problem((*at, "fields"), "missing", message)
        for schema, path, what in (
            (declared, (*at, "fields"), "its fields are declared as"),
            (brings, at, f"this feedback edge from '{edge.source}' carries"),
        ):
            if takes is not None and schema is not None and schema.fields != takes.fields:
                message = (
                    f"port '{edge.target_port}' of '{edge.target}' takes {_listed(takes)}, but {what} {_listed(schema)}; they must agree"
                )
                self._problem(path, "type_mismatch", message, f"{edge.source} -> {edge.target}")
                break
        self._check_partitioning(index, edge)

    def _check_source_port(self, index: int, edge: Edge) -> None:
        """Check that the sender emits records on the edge's port. This may depend on the sender's params."""
        sender = self._draft.kinds.get(edge.source)
        params = self.params.get(edge.source)
        if sender is None or params is None or edge.source_port not in sender.outputs:
            return
        ports = sender.output_ports(params)
        if edge.source_port not in ports:
            message = (
                f"source_port is '{edge.source_port}', but with its current params '{edge.source}' sends nothing there; "
                f"use {' or '.join(ports)}, or change the params"
            )
            self._problem(("query", "edges", index, "source_port"), "unused_port", message, edge.source_port)

    def _check_partitioning(self, index: int, edge: Edge) -> None:
        """Check that the fields of the records suffice for the edge's partitioning."""
        schema = self.schemas.get(f"{edge.source}.{edge.source_port}")
        if schema is None:
            return
        try:
            edge.partitioning.check_records(schema)
        except Refusal as refusal:
            self.problems.append(partitioning_problem(refusal, index, edge))

    def _edge_keyed_by(self, edge: Edge) -> KeyedBy:
        if edge.partitioning.keying is not None:
            return frozenset([edge.partitioning.keying])
        return self._keyed_by.get(edge.source, frozenset()) if edge.partitioning.one_to_one else frozenset()

    def _port_keyed_by(self, id: str, port: str) -> KeyedBy:
        """Partitionings that hold for every record on a port, whichever edge it comes from."""
        by_edge = [self._edge_keyed_by(edge) for _, edge in self._incoming[id] if edge.target_port == port]
        return frozenset.intersection(*by_edge) if by_edge else frozenset()

    def _check_required_keys(self, operator: OperatorSpec, keyed_by: dict[str, KeyedBy]) -> None:
        """A keyed operator with several instances must receive equal keys at the same instance, on all its ports."""
        kind, params = self._draft.kinds[operator.id], self.params[operator.id]
        keys = {port: key for port in kind.inputs if (key := kind.required_key(params, port)) is not None}
        if operator.parallelism == 1 or not keys:
            return
        fit = True
        for index, edge in self._incoming[operator.id]:
            key = keys.get(edge.target_port)
            if key is None or key in {keying.field for keying in self._edge_keyed_by(edge)}:
                continue
            fit = False
            keying, kind_of_edge = edge.partitioning.keying, kind_of(type(edge.partitioning))
            found = kind_of_edge if keying is None else f"{kind_of_edge} by '{keying.field}'"
            path: tuple[str | int, ...] = ("query", "edges", index, "partitioning", (edge.partitioning.field_params or ("kind",))[0])
            message = (
                f"partitioning is {found}, but '{operator.id}' is keyed by '{key}' and has {operator.parallelism} instances; "
                f"records with equal '{key}' must reach the same instance, so it must be hash by '{key}'"
            )
            self._problem(path, "wrong_key", message, kind_of_edge if keying is None else keying.field)
        schemes = {port: {(keying.scheme, keying.groups) for keying in keyed_by[port] if keying.field == key} for port, key in keys.items()}
        if fit and not set.intersection(*schemes.values()):
            message = (
                f"the inputs of '{operator.id}' are hashed differently, so equal keys of two inputs would not meet; "
                "give its inbound hash edges the same scheme, key_groups and mixed"
            )
            self._problem(self._at(operator.id), "wrong_key", message, operator.id)


def _refuse_far_apart(stream: FileStream, dataset: DatasetInfo, zero_ns: int) -> None:
    """Raises Refusal (path below the stream) if the data set begins too long after event time 0."""
    first_ns = dataset.firsts_ns[stream.timestamp]
    if first_ns - zero_ns > SPAN_MAX_NS:
        raise Refusal(
            f"data set '{stream.dataset}' begins at {calendar_text(first_ns)}, too long after {calendar_text(zero_ns)}, where event time "
            "starts (the earliest first record of all data sets); use data sets that begin within 73 years of one another",
            at=("timestamp",),
            code="too_far_apart",
            value=stream.timestamp,
        )


def _declared(edge: Edge) -> RecordSchema | None:
    return None if edge.fields is None else RecordSchema(tuple(RecordField(field.name, field.type) for field in edge.fields))


def _listed(schema: RecordSchema) -> str:
    """The fields, for a message; a long list is shortened."""
    shown = ", ".join(f"{field.name} {field.type}" for field in schema.fields[:8])
    return f"({shown}{', ...' if len(schema.fields) > 8 else ''})"
