"""Leaves out the columns that nobody reads: a message, a log row and a stored row are then shorter, and memory is what the loop waits for.

Accounting does not change: a record counts for all its fields' bytes on links, in buffers and in state, whatever the engine carries.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.operators import OPERATORS
from engine.spec import Experiment, RecordSchema


def carried(experiment: Experiment, types: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
    """The schemas by "operator.port" with only the fields that are carried there, in their old order.

    types: the full schemas. Ports between which records pass unchanged (both ends of an edge; input and output of a filter) carry the
    same fields.
    """
    query = experiment.query
    group = {port: port for port in types}  # a port and the ports of equal layout, as a forest

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
    while changed:  # what an operator reads may depend on what others read of its outputs
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
