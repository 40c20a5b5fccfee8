"""Checks of states that are computed again from what senders keep: one sender for each operator, hosts that outlive it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..base.problems import Problem, pointer
from ..experiment.states.replayed import ReplayedState
from .draft import Draft

AT = ("policies", "state")


def replay_problems(
    draft: Draft, about: ReplayedState, stored: Sequence[str], placement: Mapping[str, Sequence[int]] | None
) -> Iterator[Problem]:
    """stored: operators that keep state by key. placement: hosts of its instances by operator id, None if unknown."""
    logged = [id for id in stored if not about.operators or id in about.operators]
    for id in logged:
        senders = [wire for wire in draft.wires if wire.target == id]
        if len(senders) > 1:
            message = f"'{id}' has {len(senders)} inbound edges, but its positions count records of one; merge them, or choose memory"
            yield Problem(pointer("query", "operators", draft.ids[id]), "several_inputs", message, id)
    for wire in draft.wires:
        if wire.feedback:
            message = "records on a cycle come back in another order when they are sent again; draw no feedback edge, or choose memory"
            yield Problem(pointer("query", "edges", wire.index), "cycle", message, wire.source)
        edge = draft.edges.get(wire.index)
        if edge is not None and edge.capacity is not None:
            message = "the edge is bounded, but what is sent again waits for no credit; leave out capacity, or choose state memory"
            yield Problem(pointer("query", "edges", wire.index, "capacity"), "bounded", message, edge.capacity)
    if draft.flow_control is not None and draft.flow_control.bounded:
        message = (
            f"flow_control is '{draft.flow_control.kind}', but what is sent again waits for no credit; choose unbounded, or state memory"
        )
        yield Problem(pointer("policies", "flow_control", "kind"), "bounded", message, draft.flow_control.kind)
    yield from _loss_problems(draft, logged, placement or {})


def _loss_problems(draft: Draft, logged: Sequence[str], placement: Mapping[str, Sequence[int]]) -> Iterator[Problem]:
    """Hosts that may be lost: only operators with output logs and sinks are there, and their senders are elsewhere."""
    hosts = [host.name for host in draft.hosts or ()]
    losses = {n: fault for n, fault in draft.faults.items() if fault.loses_host}
    lost = {fault.host for fault in losses.values()}
    for n, fault in losses.items():
        if fault.span_ns is None:
            message = "the host never comes back, so nobody reads its output log; give the time until it restarts"
            yield Problem(pointer("faults", n, "restart_after_s"), "never_back", message, None)
        if fault.host not in hosts:
            continue
        here = [id for id, indices in placement.items() if hosts.index(fault.host) in indices]
        other = next((id for id in here if id not in logged and draft.kinds[id].kind != "sink"), None)
        if other is not None:
            message = (
                f"{fault.host} may be lost, and '{other}' on it has no output log; place it on another host, so that {fault.host} has "
                "operators with windows and sinks only"
            )
            yield Problem(pointer("faults", n, "host"), "not_logged", message, fault.host)
        for wire in draft.wires:
            senders = {hosts[index] for index in placement.get(wire.source, ())}
            if wire.target in here and wire.target in logged and senders & lost:
                message = (
                    f"'{wire.source}', which sends to '{wire.target}' on {fault.host}, is on {', '.join(sorted(senders & lost))}, which "
                    "may be lost, too; place it on a host that is not"
                )
                yield Problem(pointer("faults", n, "host"), "sender_lost", message, fault.host)
                break
