"""Checks of where operators keep their state: operators that note changes, hosts with pools, and nothing that would lose or move it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from ..base.family import kind_of
from ..base.problems import Problem, pointer, suggestion
from ..base.units import megabytes_bytes, seconds_ns
from ..experiment.cluster import Pool
from ..experiment.memory import Budget
from ..experiment.occurrences.in_commit import InCommit
from ..experiment.partitionings.forward import Forward
from ..experiment.states.active_standby import ActiveStandby
from ..experiment.states.adjustment import Adjustment
from ..experiment.states.base import RECORD_BYTES, Changelog
from ..experiment.states.replayed import ReplayedState
from .draft import Draft
from .replays import replay_problems
from .standbys import standby_problems

AT = ("policies", "state")


def state_problems(draft: Draft, params: Mapping[str, Any], placement: Mapping[str, Sequence[int]] | None) -> Iterator[Problem]:
    """params: typed parameters by operator id, None if they are invalid. placement: hosts of its instances by operator id, None if
    unknown."""
    about = draft.state
    if isinstance(about, ActiveStandby):
        yield from standby_problems(draft, about, params, placement)
        return
    if not isinstance(about, Changelog | ReplayedState):
        return
    stored = [id for id, kind in draft.kinds.items() if kind.keeping is not None]
    if not stored:
        message = f"state is '{kind_of(type(about))}', but no operator of the query keeps state by key; draw one, or choose memory"
        yield Problem(pointer(*AT, "kind"), "nothing_stored", message, kind_of(type(about)))
    for n, id in enumerate(about.operators):
        if id not in stored:
            message = f"operator '{id}' keeps no state by key; {suggestion(id, stored)}"
            yield Problem(pointer(*AT, "operators", n), "nothing_stored", message, id)
    for id in about.operators or stored:
        if id in stored and params.get(id) is not None:
            problems = _operator_problems if isinstance(about, Changelog) else _replayed_problems
            yield from problems(draft, id, params[id])
    for n, host in enumerate(draft.cluster.hosts if draft.cluster is not None else ()):
        if not isinstance(host.processor, Pool):
            message = (
                f"processor is '{host.processor.kind}', but what is stored beside the operators' work needs a core of a pool; choose pool, "
                "or state memory"
            )
            yield Problem(pointer("cluster", "hosts", n, "processor"), "needs_pool", message, host.processor.kind)
    yield from _excluded(draft)
    if isinstance(about, ReplayedState):
        yield from replay_problems(draft, about, stored, placement)
        return
    yield from _setting_problems(draft, about)
    yield from _idle_containers(draft, placement)
    yield from _loss_problems(draft, about, stored, placement)
    if about.is_exact:
        for index in sorted({index for id in stored for index in (placement or {}).get(id, ())}):
            yield from _fed_from_elsewhere(draft, (*AT, "guarantee"), index, placement or {})


def _replayed_problems(draft: Draft, id: str, params: Any) -> Iterator[Problem]:
    kind = draft.kinds[id]
    if reason := kind.unreplayed(params):
        message = f"the windows of '{id}' cannot be kept by an output log: {reason}; change it, leave it out of operators, or choose memory"
        yield Problem(pointer("query", "operators", draft.ids[id], "kind"), "not_replayed", message, kind.kind)


def _operator_problems(draft: Draft, id: str, params: Any) -> Iterator[Problem]:
    kind = draft.kinds[id]
    if reason := kind.unlogged(params):
        message = f"the state of '{id}' cannot go to a changelog: {reason}; name the others in policies.state.operators, or choose memory"
        yield Problem(pointer("query", "operators", draft.ids[id], "kind"), "not_logged", message, kind.kind)
    elif hasattr(params, "ttl_s"):
        message = (
            f"the records of '{id}' expire after {params.ttl_s:g} s; a restore from the changelog would begin that time anew, so Apache "
            "Samza supports no changelog for such stores"
        )
        place = pointer("query", "operators", draft.ids[id], "params", "ttl_s")
        yield Problem(place, "expires", message, params.ttl_s, severity="warning")


def _setting_problems(draft: Draft, about: Changelog) -> Iterator[Problem]:
    if draft.workload is not None and about.commit_ns >= draft.workload.end_ns:
        message = f"commit_s is {about.commit_s:g}, not before the end of the run, so no commit would come; use less"
        yield Problem(pointer(*AT, "commit_s"), "outside_run", message, about.commit_s)
    if about.is_exact and not about.changelog.transactions:
        message = (
            "guarantee is 'exactly_once', which takes transactions, but the broker knows none, as Apache Kafka 0.10; set "
            "changelog.transactions to true, or choose at_least_once"
        )
        yield Problem(pointer(*AT, "guarantee"), "no_transactions", message, about.guarantee)
    if about.is_exact and about.commit_order != "flush_then_offset":
        message = "commit_order is 'offset_then_flush', but a transaction makes both durable at once; leave it out, or choose at_least_once"
        yield Problem(pointer(*AT, "commit_order"), "no_order", message, about.commit_order)
    if about.tuning is not None and not about.changelog.compacted:
        message = "changelogs are not compacted, so there is nothing to tune; set changelog.compacted to true, or leave out tuning"
        yield Problem(pointer(*AT, "tuning"), "not_compacted", message, None)
    for n, adjustment in enumerate(about.adjustments):
        yield from _adjustment_problems(draft, about, n, adjustment)
    for name in re.findall(r"{([^{}\"]*)}", about.record_text):
        if name != "key":
            message = f"record_text names {{{name}}}, but only the key of a retained record is known; use {{key}}"
            yield Problem(pointer(*AT, "record_text"), "unknown_field", message, about.record_text)
    least = RECORD_BYTES + len((about.key_text + about.record_text).encode())
    if megabytes_bytes(about.changelog.segment_mb) < least:
        message = f"segment_mb is {about.changelog.segment_mb:g}, smaller than a record of {least} bytes; use at least {least / 1e6:g}"
        yield Problem(pointer(*AT, "changelog", "segment_mb"), "out_of_range", message, about.changelog.segment_mb)


def _idle_containers(draft: Draft, placement: Mapping[str, Sequence[int]] | None) -> Iterator[Problem]:
    """Hosts without a task. A changelog has a partition for each task, and a container reads at least one."""
    used = {index for indices in (placement or {}).values() for index in indices}
    idle = [host for host in draft.hosts or () if placement and host.index not in used]
    for template in sorted({host.template for host in idle}):
        names = [host.name for host in idle if host.template == template]
        shown = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        message = (
            f"{shown} would have no task: there are more containers than partitions; leave hosts out, or give operators more instances"
        )
        yield Problem(pointer("cluster", "hosts", template), "idle_container", message, len(names), severity="warning")


def _adjustment_problems(draft: Draft, about: Changelog, n: int, adjustment: Adjustment) -> Iterator[Problem]:
    at = (*AT, "adjustments", n)
    if draft.workload is not None and seconds_ns(adjustment.at_s) >= draft.workload.end_ns:
        message = f"at_s is {adjustment.at_s:g}, not before the end of the run, so nothing would change; use less"
        yield Problem(pointer(*at, "at_s"), "outside_run", message, adjustment.at_s)
    if adjustment.batch is not None and adjustment.batch > about.cache.objects:
        message = f"batch is {adjustment.batch}, more than the {about.cache.objects} entries of the cache; use at most as many"
        yield Problem(pointer(*at, "batch"), "out_of_range", message, adjustment.batch)
    if not about.changelog.compacted:
        for name in sorted({"dirty_ratio", "delete_retention_ms", "backoff_s", "threads"} & set(adjustment.changed)):
            message = f"changelogs are not compacted, so {name} means nothing; set changelog.compacted to true, or leave it out"
            yield Problem(pointer(*at, name), "not_compacted", message, adjustment.changed[name])


def _excluded(draft: Draft) -> Iterator[Problem]:
    """Policies and faults that would lose or move state that lies in a store."""
    if draft.workload is not None and draft.workload.scale > 1:
        message = f"scale is {draft.workload.scale}, but what is stored counts each key and record by itself; use 1, or state memory"
        yield Problem(pointer("workload", "scale"), "not_with_changelog", message, draft.workload.scale)
    for name in ("engine", "checkpointing", "scaling", "balancing"):
        policy = getattr(draft, name)
        if policy is not None and policy.kind != "none":
            message = (
                f"{name} is '{policy.kind}', but it knows nothing of how '{draft.state.kind}' keeps state; choose none, or state memory"
            )
            yield Problem(pointer("policies", name, "kind"), "not_with_changelog", message, policy.kind)
    message = "a host that dies of its memory is not recovered from what is stored; leave out restart_after_s, or choose state memory"
    for n, host in enumerate(draft.cluster.hosts if draft.cluster is not None else ()):
        if isinstance(host.memory, Budget) and host.memory.restart_after_s is not None:
            place = pointer("cluster", "hosts", n, "memory", "restart_after_s")
            yield Problem(place, "not_with_changelog", message, host.memory.restart_after_s)


def _loss_problems(
    draft: Draft, about: Changelog, stored: Sequence[str], placement: Mapping[str, Sequence[int]] | None
) -> Iterator[Problem]:
    """Losses of hosts that tasks cannot recover from: each reads its own input, on its host."""
    for n, fault in draft.faults.items():
        if not fault.loses_host:
            continue
        if fault.span_ns is None:
            message = "the host never comes back, so nobody reads its input or restores its stores; give the time until it restarts"
            yield Problem(pointer("faults", n, "restart_after_s"), "never_back", message, None)
        left_out = [id for id in stored if about.operators and id not in about.operators]
        if left_out:
            message = (
                f"{fault.host} may be lost, and the state of '{left_out[0]}' with it, since policies.state.operators leaves it out; "
                "add it there, or leave out the fault"
            )
            yield Problem(pointer(*AT, "operators"), "not_restored", message, list(about.operators))
        if any(wire.feedback for wire in draft.wires):
            message = "records on a cycle never come to an end, so no commit would know what has been processed; choose state memory"
            yield Problem(pointer("faults", n, "kind"), "cycle", message, fault.kind)
        lost = [index for index, host in enumerate(draft.hosts or ()) if host.name == fault.host]
        yield from (problem for index in lost for problem in _fed_from_elsewhere(draft, ("faults", n, "host"), index, placement or {}))


def commit_problems(draft: Draft) -> Iterator[Problem]:
    """Faults amid a commit, where nothing commits."""
    for n, fault in draft.faults.items():
        when = getattr(fault, "when", None)
        if not isinstance(when, InCommit):
            continue
        if not isinstance(draft.state, Changelog):
            message = "when is 'in_commit', but only local stores commit; choose a state with a changelog, or another time"
            yield Problem(pointer("faults", n, "when", "kind"), "no_commits", message, when.kind)
        elif not fault.loses_host:
            message = (
                f"when is 'in_commit', but {kind_of(type(fault))} does not end the process that commits; give a time, or process_crash"
            )
            yield Problem(pointer("faults", n, "when", "kind"), "no_crash", message, when.kind)


def _fed_from_elsewhere(draft: Draft, at: tuple[str | int, ...], host: int, placement: Mapping[str, Sequence[int]]) -> Iterator[Problem]:
    """Edges that bring records from other hosts to one whose tasks are to recover: their senders would have to read again, too."""
    names = [one.name for one in draft.hosts or ()]
    for wire in draft.wires:
        here, there = placement.get(wire.target, ()), placement.get(wire.source, ())
        edge = draft.edges.get(wire.index)
        paired = edge is not None and isinstance(edge.partitioning, Forward) and len(here) == len(there)
        pairs = zip(there, here, strict=False) if paired else product(there, here)
        other = next((a for a, b in pairs if a != b and b == host), None)
        if other is not None:
            message = (
                f"{names[host]} receives records of '{wire.source}' from {names[other]}, but a task that recovers reads its own input "
                f"alone; place '{wire.source}' on the same host"
            )
            yield Problem(pointer(*at), "fed_from_elsewhere", message, names[host])
