"""Whether what bounds memory can be kept: channels that hold a record at least, marks on hosts that have a budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..base.problems import Problem, pointer
from ..base.records import RecordSchema
from ..experiment.experiment import Credits, Guarded, input_counts
from ..experiment.memory import Budget
from .draft import Draft
from .scale import weights


def memory_problems(draft: Draft, schemas: Mapping[str, RecordSchema], placement: Mapping[str, Sequence[int]] | None) -> Iterator[Problem]:
    """schemas: by "operator.port", as far as they are known. placement: host indices by operator id, if known."""
    yield from _byte_bounds(draft, schemas)
    yield from _marks(draft, placement or {})


def _byte_bounds(draft: Draft, schemas: Mapping[str, RecordSchema]) -> Iterator[Problem]:
    flow = draft.flow_control
    if not isinstance(flow, Credits) or draft.workload is None or len(draft.kinds) < len(draft.ids):
        return
    operators, edges = list(draft.laid_out.values()), list(draft.edges.values())
    try:
        weight_of = weights(draft.workload.scale, operators, draft.kinds, edges)
    except ValueError:
        return  # weights that do not fit together, or parameters that are none, have a problem of their own
    inputs = input_counts(operators, edges)
    least: dict[str, tuple[int, str]] = {}
    for edge in edges:
        schema = schemas.get(f"{edge.source}.{edge.source_port}")
        if schema is None or edge.source not in weight_of or edge.target not in inputs:
            continue
        record = schema.bytes * weight_of[edge.source][1]
        needs = {"per_channel_bytes": record, "per_instance_bytes": record * inputs[edge.target]}
        for name, needed in needs.items():
            if needed > least.get(name, (0, ""))[0]:
                of = f"a record of the edge from '{edge.source}' to '{edge.target}' has {record:,} bytes"
                least[name] = needed, of if name == "per_channel_bytes" else f"{of}, and {inputs[edge.target]} channels share them"
    for name, (needed, of) in least.items():
        given = getattr(flow, name)
        if given is not None and given < needed:
            message = f"{name} is {given:,}, but {of}; give it at least {needed:,}"
            yield Problem(pointer("policies", "flow_control", name), "too_small", message, given)


def _marks(draft: Draft, placement: Mapping[str, Sequence[int]]) -> Iterator[Problem]:
    policy = draft.ingress
    if not isinstance(policy, Guarded) or policy.memory_max is None or draft.hosts is None:
        return
    for id, kind in draft.kinds.items():
        if kind.inputs:
            continue
        for index in placement.get(id, ()):
            host = draft.hosts[index]
            if not isinstance(host.memory, Budget):
                message = (
                    f"memory_max is {policy.memory_max:g} of the budget, but host '{host.name}', where source '{id}' stands, has no memory "
                    "budget; give it a memory model, place the source elsewhere, or use queued_max"
                )
                yield Problem(pointer("policies", "ingress", "memory_max"), "no_budget", message, policy.memory_max)
                return
