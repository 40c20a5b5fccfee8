"""Checks of where operators keep their state: operators that note changes, hosts with pools, and nothing that would lose or move it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..base.family import kind_of
from ..base.problems import Problem, pointer, suggestion
from ..base.units import megabytes_bytes
from ..experiment.cluster import Pool
from ..experiment.memory import Budget
from ..experiment.states.base import RECORD_BYTES, Changelog
from .draft import Draft

AT = ("policies", "state")


def state_problems(draft: Draft, params: Mapping[str, Any]) -> Iterator[Problem]:
    """params: typed parameters by operator id, None if they are invalid."""
    about = draft.state
    if not isinstance(about, Changelog):
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
            yield from _operator_problems(draft, about, id, params[id])
    for n, host in enumerate(draft.cluster.hosts if draft.cluster is not None else ()):
        if not isinstance(host.processor, Pool):
            message = (
                f"processor is '{host.processor.kind}', but what stores do beside their operators needs a core of a pool; choose pool, or "
                "state memory"
            )
            yield Problem(pointer("cluster", "hosts", n, "processor"), "needs_pool", message, host.processor.kind)
    yield from _setting_problems(draft, about)
    yield from _excluded(draft)


def _operator_problems(draft: Draft, about: Changelog, id: str, params: Any) -> Iterator[Problem]:
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
    for name in re.findall(r"{([^{}\"]*)}", about.record_text):
        if name != "key":
            message = f"record_text names {{{name}}}, but only the key of a retained record is known; use {{key}}"
            yield Problem(pointer(*AT, "record_text"), "unknown_field", message, about.record_text)
    least = RECORD_BYTES + len((about.key_text + about.record_text).encode())
    if megabytes_bytes(about.changelog.segment_mb) < least:
        message = f"segment_mb is {about.changelog.segment_mb:g}, smaller than a record of {least} bytes; use at least {least / 1e6:g}"
        yield Problem(pointer(*AT, "changelog", "segment_mb"), "out_of_range", message, about.changelog.segment_mb)


def _excluded(draft: Draft) -> Iterator[Problem]:
    """Policies and faults that would lose or move state that lies in a store."""
    if draft.workload is not None and draft.workload.scale > 1:
        message = f"scale is {draft.workload.scale}, but a store counts each key and record by itself; use 1, or state memory"
        yield Problem(pointer("workload", "scale"), "not_with_changelog", message, draft.workload.scale)
    for name in ("engine", "checkpointing", "scaling", "balancing"):
        policy = getattr(draft, name)
        if policy is not None and policy.kind != "none":
            message = f"{name} is '{policy.kind}', but it knows nothing of state that lies in a local store; choose none, or state memory"
            yield Problem(pointer("policies", name, "kind"), "not_with_changelog", message, policy.kind)
    message = "a host that is lost would take its local store along, and nothing restores it from the changelog; choose state memory"
    for n, fault in draft.faults.items():
        if fault.loses_host:
            yield Problem(pointer("faults", n, "kind"), "not_with_changelog", message, fault.kind)
    for n, host in enumerate(draft.cluster.hosts if draft.cluster is not None else ()):
        if isinstance(host.memory, Budget) and host.memory.restart_after_s is not None:
            place = pointer("cluster", "hosts", n, "memory", "restart_after_s")
            yield Problem(place, "not_with_changelog", message, host.memory.restart_after_s)
