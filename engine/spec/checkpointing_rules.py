"""Whether a checkpointing protocol can do its work in an experiment: graph, sources, times, hosts."""

from __future__ import annotations

from collections.abc import Iterator

from .checkpointing import Checkpoints, CoordinatedCheckpoints
from .draft import Draft
from .faults import HostLoss
from .generation import Coordinated
from .problems import Problem, pointer
from .retention import KeepFor


def checkpointing_problems(draft: Draft) -> Iterator[Problem]:
    protocol = draft.checkpointing
    if not isinstance(protocol, Checkpoints):
        return
    if draft.workload is not None and protocol.interval_ns >= draft.workload.horizon_ns:
        message = (
            f"interval_s is {protocol.interval_s:g}, but the horizon is {draft.workload.horizon_s:g} s, so that no checkpoint would be "
            "taken; choose a shorter interval or a longer run"
        )
        yield Problem(pointer("policies", "checkpointing", "interval_s"), "outside_run", message, protocol.interval_s)
    if isinstance(protocol, CoordinatedCheckpoints) and protocol.on_cycle == "refuse":
        backward = next((wire for wire in draft.wires if wire.feedback), None)
        if backward is not None:
            message = (
                f"the edge from '{backward.source}' to '{backward.target}' closes a cycle, and an instance on it would wait for a barrier "
                "that only it could send on, so that no round is ever complete; choose another protocol, or on_cycle: run to see it stand "
                "still"
            )
            yield Problem(pointer("policies", "checkpointing", "on_cycle"), "cycle", message, protocol.on_cycle)
    for id, source in draft.sources.items():
        if isinstance(source.generation, Coordinated):
            message = (
                f"source '{id}' makes its records when they are asked for, so that they could not be read again after a loss; "
                "choose generation open, or no checkpointing"
            )
            yield Problem(pointer("workload", "sources", id, "generation"), "no_replay", message, source.generation.kind)
        if isinstance(source.retention, KeepFor):
            message = (
                f"the log of source '{id}' drops records that are older than {source.retention.keep_s:g} s, so that they could not be read "
                "again after a loss; choose retention all, or no checkpointing"
            )
            yield Problem(pointer("workload", "sources", id, "retention"), "no_replay", message, source.retention.kind)
    for_ever = [(n, fault) for n, fault in draft.faults.items() if isinstance(fault, HostLoss) and fault.restart_after_s is None]
    for n, fault in for_ever[protocol.spares :]:
        message = (
            f"host '{fault.host}' is lost for ever, but the {protocol.spares} spare hosts are used up by then, so that nobody could take "
            f"its place; give policies.checkpointing.spares at least {len(for_ever)}, or restart_after_s"
        )
        yield Problem(pointer("faults", n, "restart_after_s"), "no_spare", message, None)
