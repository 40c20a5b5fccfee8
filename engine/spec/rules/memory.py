"""Checks of memory bounds: every channel can hold at least one record, and hosts with memory limits have a budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..base.problems import Problem, pointer
from ..base.records import RecordSchema
from ..experiment.query import input_counts
from ..experiment.scaling.moving import Moving
from .draft import Draft
from .scale import weights


def memory_problems(draft: Draft, schemas: Mapping[str, RecordSchema], placement: Mapping[str, Sequence[int]] | None) -> Iterator[Problem]:
    """Yield problems of memory bounds.

    schemas: by "operator.port", as far as known. placement: host indices by operator id, if known.
    """
    yield from _byte_bounds(draft, schemas)
    if draft.ingress is not None:
        yield from draft.ingress.problems(draft, placement or {})


def _byte_bounds(draft: Draft, schemas: Mapping[str, RecordSchema]) -> Iterator[Problem]:
    flow = draft.flow_control
    if flow is None or draft.workload is None or len(draft.kinds) < len(draft.ids):
        return
    # an operator that moves has one sender at a time, though it is laid out on every host
    laid_out = draft.by_id if isinstance(draft.scaling, Moving) else draft.laid_out
    operators, edges = list(laid_out.values()), list(draft.edges.values())
    try:
        weight_of = weights(draft.workload.scale, operators, draft.kinds, edges)
    except ValueError:
        return  # inconsistent weights and invalid parameters are reported separately
    inputs = input_counts(operators, edges)
    least: dict[str, tuple[int, str]] = {}
    for edge in edges:
        schema = schemas.get(f"{edge.source}.{edge.source_port}")
        if schema is None or edge.source not in weight_of or edge.target not in inputs:
            continue
        record = schema.bytes * weight_of[edge.source][1]
        for name, (needed, why_more) in flow.byte_needs(record, inputs[edge.target]).items():
            if needed > least.get(name, (0, ""))[0]:
                least[name] = needed, f"a record of the edge from '{edge.source}' to '{edge.target}' has {record:,} bytes{why_more}"
    for name, (needed, of) in least.items():
        given = getattr(flow, name)
        if given is not None and given < needed:
            message = f"{name} is {given:,}, but {of}; set it to at least {needed:,}"
            yield Problem(pointer("policies", "flow_control", name), "too_small", message, given)
