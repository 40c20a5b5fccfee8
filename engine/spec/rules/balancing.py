"""Checks of the balancing of worksets: similarity joins with windows that start, and state that nothing else moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..base.family import kind_of
from ..base.problems import Problem, pointer
from ..base.units import seconds_ns
from ..experiment.balancings.base import Balancing
from ..experiment.memory import Budget
from ..experiment.rates.recorded import RecordedRate
from ..experiment.streams import FileStream
from .draft import Draft
from .similarity import FORMULATIONS, sink_of_workers

AT = ("policies", "balancing", "kind")


def balancing_problems(draft: Draft, params: Mapping[str, Any]) -> Iterator[Problem]:
    """params: typed parameters by operator id, None if they are invalid."""
    about = draft.balancing
    if not isinstance(about, Balancing):
        return
    joins = [id for id, kind in draft.kinds.items() if kind.kind in FORMULATIONS]
    if not joins:
        kind = kind_of(type(about))
        message = f"balancing is '{kind}', but the query has no similarity join with worksets to move; draw one, or choose none"
        yield Problem(pointer(*AT), "nothing_to_balance", message, kind)
    for id in joins:
        yield from _window_problems(draft, about, id, params.get(id))
        if about.trigger == "latency":
            yield from _measuring_problems(draft, id)
    yield from _order_problems(draft, about, joins)
    if about.split_oversized:
        yield from _split_problems(draft, about, joins)
    if about.statistics == "artefact":
        yield from _estimate_problems(about)
    if about.mechanism != "next_window":
        yield from _loss_problems(draft, about)
    for id, source in draft.sources.items() if about.mechanism == "next_window" else ():
        rate = source.rate
        if isinstance(source.stream, FileStream) and not (isinstance(rate, RecordedRate) and rate.speed <= 1):
            found = f"speed is {rate.speed:g}" if isinstance(rate, RecordedRate) else f"rate is {kind_of(type(rate))}"
            message = (
                f"{found}, so event times of '{id}' may be ahead of the clock by which windows are balanced; use recorded, at a speed of "
                "at most 1, or balancing none"
            )
            yield Problem(pointer("workload", "sources", id, "rate"), "not_with_balancing", message)
    for name in ("checkpointing", "scaling"):
        policy = getattr(draft, name)
        if policy is not None and policy.kind != "none":
            message = f"{name} is '{policy.kind}', but balancing moves worksets between workers, of which {name} knows nothing; choose none"
            yield Problem(pointer("policies", name, "kind"), "not_with_balancing", message, policy.kind)


def _window_problems(draft: Draft, about: Balancing, id: str, params: Any) -> Iterator[Problem]:
    if params is None:
        return
    place = ("query", "operators", draft.ids[id], "params", "window")
    window = params.window
    if about.mechanism != "next_window":
        if getattr(window, "clock", "event") != "event":
            message = (
                f"window is {window.kind} by the {window.clock} clock, whose windows end at different times on two workers; use event "
                "time, or balancing none"
            )
            yield Problem(pointer(*place, "kind"), "not_with_balancing", message, window.kind)
        return
    if window.kind != "tumbling" or window.clock != "event":
        found = window.kind if window.kind != "tumbling" else f"{window.kind} by the {window.clock} clock"
        message = (
            f"window is {found}, but worksets move when a window starts; use tumbling windows by event time, mechanism online, or "
            "balancing none"
        )
        yield Problem(pointer(*place, "kind"), "not_with_balancing", message, window.kind)
    elif about.notice_ns >= seconds_ns(window.size_s):
        message = f"notice_ms is {about.notice_ms:g}, not below the windows of '{id}' ({window.size_s:g} s); use less"
        yield Problem(pointer("policies", "balancing", "notice_ms"), "out_of_range", message, about.notice_ms)


def _order_problems(draft: Draft, about: Balancing, joins: Sequence[str]) -> Iterator[Problem]:
    """Orders name joins and workers that exist."""
    for n, order in enumerate(about.orders):
        at = ("policies", "balancing", "orders", n)
        if draft.workload is not None and seconds_ns(order.at_s) >= draft.workload.horizon_ns:
            message = f"at_s is {order.at_s:g}, not before the horizon ({draft.workload.horizon_s:g}), so nothing would follow; use less"
            yield Problem(pointer(*at, "at_s"), "out_of_range", message, order.at_s)
        named = [order.join] if order.join else joins
        if order.join and order.join not in joins:
            message = f"join is '{order.join}', which is no similarity join of the query; name one of {', '.join(joins)}"
            yield Problem(pointer(*at, "join"), "unknown_join", message, order.join)
            continue
        if len(named) > 1:
            message = f"the query has the similarity joins {', '.join(joins)}; say which of them the order is for"
            yield Problem(pointer(*at, "join"), "missing", message)
        for m, move in enumerate(order.moves):
            workers = min((draft.by_id[join].parallelism for join in named), default=0)
            if move.to >= workers:
                message = f"to is {move.to}, but the join has the workers 0 to {workers - 1}; name one of them"
                yield Problem(pointer(*at, "moves", m, "to"), "unknown_worker", message, move.to)


def _split_problems(draft: Draft, about: Balancing, joins: Sequence[str]) -> Iterator[Problem]:
    """Parts begin with a window, and left records are divided among them."""
    at = pointer("policies", "balancing", "split_oversized")
    if about.mechanism != "next_window":
        message = f"split_oversized divides worksets when a window starts, but mechanism is '{about.mechanism}'; use next_window"
        yield Problem(at, "not_at_once", message, True)
    for join in joins:
        if draft.kinds[join].kind == "self_similarity_join":
            message = f"split_oversized divides the left records of a workset, but '{join}' joins one stream with itself; switch it off"
            yield Problem(at, "one_stream", message, True)


def _estimate_problems(about: Balancing) -> Iterator[Problem]:
    """Estimates are of comparisons within a window, at one worker."""
    for name, wanted in (("mechanism", "next_window"), ("load", "comparisons"), ("split_oversized", False)):
        if (found := getattr(about, name)) != wanted:
            message = (
                f"{name} is '{found}', but statistics 'artefact' estimates comparisons by window and worker; use {wanted}, or exact "
                "statistics"
            )
            yield Problem(pointer("policies", "balancing", name), "not_with_estimates", message, found)


def _measuring_problems(draft: Draft, join: str) -> Iterator[Problem]:
    """A sink behind the join tells the latency of each worker."""
    spec = draft.by_id[join]
    if sink_of_workers(draft.by_id.values(), draft.edges.values(), spec) is None:
        message = (
            f"trigger is 'latency', but no sink measures each worker of '{join}'; put one behind it by a forward edge, with "
            f"{spec.parallelism} instances and by_instance, or use load"
        )
        yield Problem(pointer("policies", "balancing", "trigger"), "nothing_measured", message, "latency")


def _loss_problems(draft: Draft, about: Balancing) -> Iterator[Problem]:
    """No host may be lost amid a move of records."""
    message = f"mechanism is '{about.mechanism}', and a host that is lost while records move would never send them; use next_window"
    for n, fault in draft.faults.items():
        if fault.loses_host:
            yield Problem(pointer("faults", n, "kind"), "not_with_balancing", message, fault.kind)
    for n, host in enumerate(draft.cluster.hosts if draft.cluster is not None else ()):
        if isinstance(host.memory, Budget) and host.memory.restart_after_s is not None:
            yield Problem(
                pointer("cluster", "hosts", n, "memory", "restart_after_s"), "not_with_balancing", message, host.memory.restart_after_s
            )
    if about.mechanism == "stop_restart" and any(wire.feedback for wire in draft.wires):
        message = "mechanism is 'stop_restart', but records circulate on the query's cycle behind the barrier that stops it; use online"
        yield Problem(pointer("policies", "balancing", "mechanism"), "cycle", message, about.mechanism)
