"""What engines that execute jobs of stages have in common: parts of an experiment that they do not have."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ...base.problems import Problem, pointer


def job_problems(title: str, kinds: Collection[str], draft: Any) -> Iterator[Problem]:
    """title: of the engine. kinds: operator kinds that it has."""
    for n, spec in draft.operators.items():
        if spec.kind not in kinds:
            message = f"{title} has no '{spec.kind}'; it has {', '.join(kinds)}"
            yield Problem(pointer("query", "operators", n, "kind"), "not_with_engine", message, spec.kind)
    for n, edge in draft.edges.items():
        if edge.capacity is not None:
            message = f"the edge has a capacity, but {title} keeps whole batches between its stages; omit it"
            yield Problem(pointer("query", "edges", n, "capacity"), "not_with_engine", message, edge.capacity)
    for wire in draft.wires:
        if wire.feedback:
            message = f"{title} has no cycles: a job is a chain of stages; remove the edge"
            yield Problem(pointer("query", "edges", wire.index, "feedback"), "not_with_engine", message, True)
    if draft.flow_control is not None and draft.flow_control.kind != "unbounded":
        message = f"flow_control is '{draft.flow_control.kind}', but {title} keeps whole batches; omit it"
        yield Problem(pointer("policies", "flow_control", "kind"), "not_with_engine", message, draft.flow_control.kind)
    for n, fault in draft.faults.items():
        if fault.loses_host:
            message = f"{title} is modelled without lost executors; choose another fault, another engine or none"
            yield Problem(pointer("faults", n, "kind"), "not_with_engine", message, fault.kind)
    for n, host in enumerate(draft.cluster.hosts if draft.cluster is not None else ()):
        if getattr(host.memory, "restart_after_s", None) is not None:
            message = f"{title} is modelled without lost executors, so hosts that run out of memory end the run; leave it out"
            yield Problem(pointer("cluster", "hosts", n, "memory", "restart_after_s"), "not_with_engine", message)
