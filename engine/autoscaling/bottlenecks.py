"""Detection of bottlenecks by backpressure and growing queues (Floratou 2017; as in the study's artifact)."""

from __future__ import annotations

from fractions import Fraction

from .metrics import Metrics
from .policy import known, running


def pending_rate(metrics: Metrics, source: str, window_ns: int, signed: bool) -> Fraction:
    """Return the growth of a source's queue in records per second. Raises NoAdvice.

    signed: negative if the queue drains. Otherwise the queue length is treated as a counter, so a draining queue seems to grow by its
    remaining length at each scrape.
    """
    rate = metrics.growth if signed else metrics.rate
    return sum((known(rate(each, "pending", window_ns), source) for each in running(metrics, source)), Fraction())


def blocked_vertices(metrics: Metrics, window_ns: int) -> set[str]:
    """Return the vertices with an instance that was blocked at a scrape of the window. Raises NoAdvice."""
    return {
        operator
        for operator in metrics.graph().operators
        if any(metrics.most(each, "blocked", window_ns) for each in running(metrics, operator))
    }


def bottlenecks(metrics: Metrics, window_ns: int, theta_per_s: Fraction, signed: bool) -> list[str]:
    """Return unblocked receivers of blocked senders, and sources whose queues grow faster than theta, in the order of edges. Raises
    NoAdvice."""
    graph, blocked = metrics.graph(), blocked_vertices(metrics, window_ns)
    grows = {source: pending_rate(metrics, source, window_ns, signed) > theta_per_s for source in graph.sources}
    found: list[str] = []
    for sender, receiver in graph.edges:
        if sender in blocked and receiver not in blocked:
            found.append(receiver)
        elif sender not in blocked and grows.get(sender, False):
            found.append(sender)
    return list(dict.fromkeys(found))
