"""Checks of moves: hosts, times, and conflicts with other parts of the run."""

from __future__ import annotations

from collections.abc import Iterator

from ..base.family import kind_of
from ..base.problems import Problem, pointer, suggestion
from ..base.units import seconds_ns
from ..experiment.generation import Coordinated
from ..experiment.scaling.moving import Moving
from ..experiment.scaling.online_monitor import OnlineMonitor
from .draft import Draft
from .graph import at_operator
from .scaling import AT, incompatible_parts, state_lost_in_restarts


def moving_problems(draft: Draft) -> Iterator[Problem]:
    scaling = draft.scaling
    if not isinstance(scaling, Moving):
        return
    yield from incompatible_parts(draft)
    yield from _unmovable_operators(draft)
    if draft.hosts is not None and len(draft.hosts) < 2:
        kind = kind_of(type(scaling))
        message = f"'{kind}' moves operators to other hosts, but the cluster has only one; add a host, or choose scaling none"
        yield Problem(pointer(*AT, "kind"), "not_movable", message, kind)
    if scaling.moves or scaling.decides_live:
        yield from state_lost_in_restarts(draft, scaling, "choose scaling none, or a kind that keeps its state")
    if isinstance(scaling, OnlineMonitor):
        yield from _looks(draft, scaling)
    yield from _moves(draft, scaling)


def _unmovable_operators(draft: Draft) -> Iterator[Problem]:
    for id, spec in draft.by_id.items():
        if spec.parallelism > 1:
            message = (
                f"parallelism is {spec.parallelism}, but '{draft.scaling.kind}' moves operators of one instance each; set it to 1, or "
                "choose another scaling"
            )
            yield Problem(f"{at_operator(draft, id)}/parallelism", "not_movable", message, spec.parallelism)
    for id, source in draft.sources.items():
        if isinstance(source.generation, Coordinated):
            message = f"a generator of '{id}' waits for its instance and cannot follow it to another host; choose open generation"
            yield Problem(pointer("workload", "sources", id, "generation", "kind"), "not_movable", message, "coordinated")


def _looks(draft: Draft, scaling: OnlineMonitor) -> Iterator[Problem]:
    first_ns = scaling.first_look_ns
    if draft.workload is not None and first_ns >= draft.workload.horizon_ns:
        longer = "start_s" if scaling.start_s > scaling.window_s else "window_s"
        message = (
            f"{longer} is {getattr(scaling, longer):g}; with start_s {scaling.start_s:g}, sample_s {scaling.sample_s:g} and window_s "
            f"{scaling.window_s:g} the first look is at {first_ns / 1e9:g} s, but the horizon is {draft.workload.horizon_s:g} s; lower it, "
            "or choose a longer run"
        )
        yield Problem(pointer(*AT, longer), "outside_run", message, getattr(scaling, longer))


def _moves(draft: Draft, scaling: Moving) -> Iterator[Problem]:
    known = None if draft.hosts is None else [host.name for host in draft.hosts]
    for n, move in enumerate(scaling.moves):
        at = (*AT, "moves", n)
        if draft.workload is not None and seconds_ns(move.at_s) >= draft.workload.horizon_ns:
            message = f"at_s is {move.at_s:g}, but the horizon is {draft.workload.horizon_s:g} s; choose an earlier time or a longer run"
            yield Problem(pointer(*at, "at_s"), "outside_run", message, move.at_s)
        for id, name in move.hosts.items():
            if id not in draft.ids:
                message = f"the move names '{id}', but the query has no such operator; remove the entry or correct its name"
                yield Problem(pointer(*at, "hosts", id), "unknown_operator", message, id, suggestion(id, draft.ids))
            elif known is not None and name not in known:
                message = f"the move takes '{id}' to host '{name}', which the cluster does not have; name one of its hosts"
                yield Problem(pointer(*at, "hosts", id), "unknown_host", message, name, suggestion(name, known))
