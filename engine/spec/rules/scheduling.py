"""Checks of scheduling: cycles, processors, windows, and whole queries on one host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..base.problems import Problem, pointer
from ..base.units import seconds_ns
from ..base.variant import Variant
from ..experiment.cluster import Pool
from ..experiment.memory import Budget
from ..experiment.scaling.base import Rearranging
from ..experiment.scheduling.base import Scheduling
from ..experiment.scheduling.default import FairThreads
from ..experiment.scheduling.klink import Klink
from ..experiment.scheduling.switched import SwitchedScheduling, final_threads
from .draft import Draft
from .watermarks import downstream

AT = ("policies", "scheduling")
Place = tuple[str, ...]


def scheduling_problems(
    draft: Draft, params: Mapping[str, Any], indices: Mapping[str, Sequence[int]] | None, cycles_max: int
) -> Iterator[Problem]:
    """params: typed parameters by operator id, None if they are invalid. indices: hosts by operator, all copies, None if unknown."""
    about = draft.scheduling
    if isinstance(about, Scheduling | SwitchedScheduling | FairThreads):
        yield from _processors(draft, about)
    for policy, at in _policies(about, AT):
        yield from _cycles(draft, policy, at, cycles_max)
        if policy.needs_windows:
            yield from _windows(draft, policy, at, params)
        if policy.whole_queries and indices is not None:
            yield from _whole(draft, policy, at, indices)
            yield from _scaled(draft, policy, at)
        if isinstance(policy, Klink):
            yield from _threshold(draft, policy, at)
    yield from _switches(draft, about, AT)


def _policies(about: Any, at: Place) -> Iterator[tuple[Scheduling, Place]]:
    if isinstance(about, SwitchedScheduling):
        yield from _policies(about.before, (*at, "before"))
        yield from _policies(about.after, (*at, "after"))
    elif isinstance(about, Scheduling):
        yield about, at


def _processors(draft: Draft, about: Variant) -> Iterator[Problem]:
    """Only a pool lets any core serve any instance, in an order that a policy chooses."""
    for n, host in enumerate(draft.cluster.hosts if draft.cluster is not None else ()):
        if not isinstance(host.processor, Pool):
            message = f"processor is '{host.processor.kind}', but scheduling is {about.title}, which needs a pool of cores; choose pool"
            yield Problem(pointer("cluster", "hosts", n, "processor"), "needs_pool", message, host.processor.kind)


def _cycles(draft: Draft, policy: Scheduling, at: Place, cycles_max: int) -> Iterator[Problem]:
    if draft.workload is None:
        return
    cycle_ns, end_ns = policy.cycle_ns, draft.workload.end_ns
    if cycle_ns >= draft.workload.horizon_ns:
        message = f"cycle_ms is {policy.cycle_ms:g}, but the horizon is {draft.workload.horizon_s:g} s, so no cycle would begin; lower it"
        yield Problem(pointer(*at, "cycle_ms"), "outside_run", message, policy.cycle_ms)
    elif end_ns // cycle_ns > cycles_max:
        message = f"cycle_ms is {policy.cycle_ms:g}, which gives {end_ns // cycle_ns:,} cycles; at most {cycles_max:,} are allowed"
        yield Problem(pointer(*at, "cycle_ms"), "budget", message, policy.cycle_ms)


def _windows(draft: Draft, policy: Scheduling, at: Place, params: Mapping[str, Any]) -> Iterator[Problem]:
    """Each source feeds a window that watermarks close, and sends watermarks."""
    closing = {id for id, kind in draft.kinds.items() if params.get(id) is not None and kind.deadlines(params[id]) is not None}
    query_of = {id: query.name for query in draft.queries.values() for id in query.operators}
    for id, source in draft.sources.items():
        whose = f" of query '{query_of[id]}'" if id in query_of else ""
        if not closing & downstream(draft, id):
            message = (
                f"source '{id}'{whose} feeds no window that ends by event time, so {policy.title} knows no deadline of it; add a tumbling "
            )
            message += "or sliding window that gives output when it closes, or choose another policy"
            yield Problem(pointer(*at, "kind"), "no_deadlines", message, id)
        elif source.watermarks.kind == "none":
            message = (
                f"source '{id}'{whose} sends no watermarks, which {policy.title} waits for; choose watermarks for it, or another policy"
            )
            yield Problem(pointer("workload", "sources", id, "watermarks"), "no_watermarks", message, "none")


def _threshold(draft: Draft, policy: Klink, at: Place) -> Iterator[Problem]:
    given = policy.memory_threshold
    if given is not None and draft.hosts is not None and not any(isinstance(host.memory, Budget) for host in draft.hosts):
        message = (
            f"memory_threshold is {given:g}, but no host has a memory budget to compare with; give one (cluster.hosts.memory), or null"
        )
        yield Problem(pointer(*at, "memory_threshold"), "no_memory_budget", message, given)


def _whole(draft: Draft, policy: Scheduling, at: Place, indices: Mapping[str, Sequence[int]]) -> Iterator[Problem]:
    queries = [(query.name, query.operators, query.copy_count) for query in draft.queries.values()]
    named = {id for _, operators, _ in queries for id in operators}
    rest = tuple(id for id in draft.by_id if id not in named)
    for name, operators, copies in [*queries, ("", rest, 1)]:
        for k in range(copies):
            of = {id: (draft.by_id[id].parallelism, indices[id]) for id in operators if id in draft.by_id and id in indices}
            hosts = {host for parallelism, placed in of.values() for host in placed[k * parallelism : (k + 1) * parallelism]}
            if len(hosts) > 1:
                whose = f"query '{name}'" if name else "the query"
                message = f"{policy.title} needs whole queries on one host, but {whose} runs on {len(hosts)}; place it on one, or choose "
                yield Problem(pointer(*at, "kind"), "on_several_hosts", f"{message}another policy", len(hosts))
                break


def _scaled(draft: Draft, policy: Scheduling, at: Place) -> Iterator[Problem]:
    """A rescale may place new instances on any host."""
    if isinstance(draft.scaling, Rearranging) and draft.hosts is not None and len(draft.hosts) > 1:
        hosts, scaling = len(draft.hosts), draft.scaling.title
        message = f"{policy.title} needs whole queries on one host, but {scaling} may place instances on all {hosts}; keep to one host, or "
        yield Problem(pointer(*at, "kind"), "on_several_hosts", f"{message}choose another policy", hosts)


def _switches(draft: Draft, about: Any, at: Place) -> Iterator[Problem]:
    if not isinstance(about, SwitchedScheduling):
        return
    if draft.workload is not None and seconds_ns(about.at_s) >= draft.workload.horizon_ns:
        message = f"at_s is {about.at_s:g}, but the horizon is {draft.workload.horizon_s:g} s, so nothing would switch; lower it"
        yield Problem(pointer(*at, "at_s"), "outside_run", message, about.at_s)
    for field in ("before", "after"):
        part = getattr(about, field)
        if field == "before" and final_threads(part) is not None:
            message = f"before ends with '{FairThreads().kind}', where more operators may be in service than there are cores, so no other "
            message += "policy can follow; choose another one"
            yield Problem(pointer(*at, field), "not_switched", message, part.kind)
        yield from _switches(draft, part, (*at, field))
