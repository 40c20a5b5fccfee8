"""Drops the columns that nothing reads. Messages, log rows and stored rows become shorter, which matters because
the loop is bound by memory access.

Accounting does not change: on links, in buffers and in state, a record counts the bytes of all its fields, whatever the engine carries.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.operators import OPERATORS
from engine.spec import Experiment, RecordSchema


def carried(experiment: Experiment, types: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
    """The schemas by "operator.port" with only the fields carried there, in their original order.

    types: the full schemas. Ports between which records pass unchanged (both ends of an edge; input and output of a filter) carry the
    same fields.
    """
    query = experiment.query
    group = {port: port for port in types}  # union-find forest of the ports of equal layout

    def root(port: str) -> str:
        while group[port] != port:
            port = group[port]
        return port

    for edge in query.edges:
        group[root(f"{edge.target}.{edge.target_port}")] = root(f"{edge.source}.{edge.source_port}")
    for spec in query.operators:
        kind = OPERATORS[spec.kind]
        for port in kind.inputs:
            for out in kind.outputs:
                if types[f"{spec.id}.{port}"].fields == types[f"{spec.id}.{out}"].fields:
                    group[root(f"{spec.id}.{port}")] = root(f"{spec.id}.{out}")

    wanted: dict[str, set[str]] = {root(port): set() for port in types}
    for edge in query.edges:
        wanted[root(f"{edge.source}.{edge.source_port}")].update(edge.partitioning.reads)
    changed = True
    while changed:  # the fields that an operator reads may depend on those read from its outputs
        before = sum(map(len, wanted.values()))
        for spec in query.operators:
            kind = OPERATORS[spec.kind]
            inputs = {port: types[f"{spec.id}.{port}"] for port in kind.inputs}
            outputs = {out: wanted[root(f"{spec.id}.{out}")] for out in kind.outputs}
            reads = kind.reads(spec.parameters, inputs, outputs)
            for port, schema in inputs.items():
                wanted[root(f"{spec.id}.{port}")] |= set(schema.names if reads is None else reads[port])
            if not kind.writes_only_wanted:
                for out in kind.outputs:
                    names = types[f"{spec.id}.{out}"].names
                    if all(root(f"{spec.id}.{out}") != root(f"{spec.id}.{port}") for port in inputs):
                        wanted[root(f"{spec.id}.{out}")] |= set(names)
        changed = sum(map(len, wanted.values())) > before
    return {port: schema.only(wanted[root(port)]) for port, schema in types.items()}
