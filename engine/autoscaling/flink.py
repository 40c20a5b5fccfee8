"""The autoscaler of Flink's Kubernetes operator: DS2's rate propagation, a band around a target utilisation, and terms for the backlog and
the restart time (the specification's appendix A; the operator's documentation and behaviour)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from engine.spec.base.units import seconds_ns
from engine.spec.experiment.scaling import flink

from .metrics import SECOND_NS, Graph, Metrics
from .policy import SECOND, Advice, NoAdvice, Value, exact, running

Rate = Fraction | None
"""Records per second; None: infinite."""


class Reading(NamedTuple):
    """Metrics of a vertex at one time. records_in, records_out: since the last restart. busy: share of time, aggregated over instances.
    blocked: share of time, the mean. pending: records."""

    records_in: int
    records_out: int
    busy: Fraction
    blocked: Fraction
    pending: int


class Sample(NamedTuple):
    at_ns: int
    readings: dict[str, Reading]


class Action(NamedTuple):
    """A rescale of a vertex. true_rate: at that time; expected_rate: expected afterwards."""

    at_ns: int
    before: int
    after: int
    true_rate: Rate
    expected_rate: Rate


class Load(NamedTuple):
    """Required and possible rates of a vertex, in records per second."""

    target: Fraction
    catch_up: Fraction
    true_rate: Rate


class Flink:
    """Sizes every vertex to be busy for the target share of time while it serves the incoming rate, a part of the backlog, and a part of
    what would arrive during the next restart. While all vertices are within the band, nothing changes; if one is outside, all requests
    apply.

    Keeps its own samples, one per iteration, and discards them on each restart: metrics count only after the stabilisation interval, and a
    full window of them is needed. A request to scale down is delayed; the largest one during the delay is applied.
    """

    def __init__(self, about: flink.Flink):
        options = about.options
        self._options = options
        self._stabilization_ns, self._window_ns = seconds_ns(options.stabilization_s), seconds_ns(options.window_s)
        self._down_interval_ns, self._history_ns = seconds_ns(options.scale_down_interval_s), seconds_ns(options.history_age_s)
        self._target, self._upper = exact(options.utilization_target), exact(options.utilization_upper)
        self._lower, self._catch_up_s = exact(options.utilization_lower), exact(options.catch_up_s)
        self._since_ns = 0  # the last restart
        self._first_ns = -1  # the first sample since then
        self._samples: list[Sample] = []
        self._requests: dict[str, list[tuple[int, int]]] = {}  # to scale down: when, and to what
        self._history: dict[str, list[Action]] = {}
        self._true_rates: dict[str, Rate] = {}  # as last evaluated
        self._ordered_ns = -1  # a restart not observed yet
        self._restart_ns = 0  # the longest observed

    def advise(self, metrics: Metrics) -> Advice:
        self._sample(metrics)
        graph, now_ns = metrics.graph(), metrics.now_ns
        loads = self._loads(graph)
        self._true_rates = {vertex: load.true_rate for vertex, load in loads.items()}
        backlog = any(self._is_behind(source) for source in graph.sources)
        upper, lower = (Fraction(1), Fraction(0)) if backlog else (self._upper, self._lower)
        wanted = dict(metrics.parallelism())
        values: list[Value] = []
        outside = []
        for vertex, p in list(wanted.items()):
            load = loads[vertex]
            factor = self._factor(vertex, load)
            ineffective = self._is_ineffective(vertex, p, load.true_rate)
            wanted[vertex] = self._delayed(vertex, p, self._parallelism(p, factor, graph.parts.get(vertex)), now_ns, ineffective)
            too_slow = less(load.true_rate, self._capacity(load, upper, with_restart=False))
            too_fast = less(self._capacity(load, lower, with_restart=True), load.true_rate)
            if wanted[vertex] != p and (too_slow or too_fast):
                outside.append(vertex)
            values += [("target", vertex, load.target), ("catch_up", vertex, load.catch_up), ("tpr", vertex, load.true_rate)]
            values += [("factor", vertex, factor)] + ([("ineffective", vertex, Fraction(1))] if ineffective else [])
        why = "processing a backlog" if backlog else ""
        if not outside:
            return Advice(metrics.parallelism(), values, why=why or "all vertices are within the band, or waiting to scale down")
        return Advice(wanted, values, outside, why)

    # Samples

    def _sample(self, metrics: Metrics) -> None:
        """Take a sample. Raises NoAdvice until samples fill a window."""
        graph, now_ns = metrics.graph(), metrics.now_ns
        restarted_ns = max(each.since_ns for vertex in graph.operators for each in running(metrics, vertex))
        if restarted_ns != self._since_ns:
            self._restarted(restarted_ns)
        if now_ns < self._since_ns + self._stabilization_ns:
            raise NoAdvice("metrics do not count yet: the job restarted too recently")
        if self._first_ns < 0:
            self._first_ns = now_ns
        self._samples = [sample for sample in self._samples if sample.at_ns >= now_ns - self._window_ns]
        self._samples.append(Sample(now_ns, {vertex: self._read(metrics, vertex) for vertex in graph.operators}))
        if now_ns < self._first_ns + self._window_ns or len(self._samples) < 2:
            raise NoAdvice("metrics do not fill a window yet")

    def _restarted(self, now_ns: int) -> None:
        if 0 <= self._ordered_ns < now_ns:
            self._restart_ns = max(self._restart_ns, now_ns - self._ordered_ns)
        self._since_ns, self._first_ns, self._ordered_ns = now_ns, -1, -1
        self._samples = []

    def _read(self, metrics: Metrics, vertex: str) -> Reading:
        found = running(metrics, vertex)
        busy = [metrics.last(each, "busy_ns") / SECOND for each in found]
        counts = {"max": max(busy), "min": min(busy), "mean": sum(busy, Fraction()) / len(busy)}
        return Reading(
            sum(metrics.last(each, "records_in") for each in found),
            sum(metrics.last(each, "records_out") for each in found),
            counts[self._options.busy_aggregator],
            sum(metrics.last(each, "blocked_ns") for each in found) / SECOND / len(found),
            metrics.pending(vertex) if vertex in metrics.graph().sources else 0,
        )

    # Rates

    def _rate(self, vertex: str, name: str) -> Fraction:
        """Return the rate from the first to the last sample of the window."""
        first, last = self._samples[0], self._samples[-1]
        grown = getattr(last.readings[vertex], name) - getattr(first.readings[vertex], name)
        return Fraction(grown * SECOND_NS, last.at_ns - first.at_ns)

    def _loads(self, graph: Graph) -> dict[str, Load]:
        loads: dict[str, Load] = {}
        for vertex in graph.operators:
            if vertex in graph.sources:
                pending = self._samples[-1].readings[vertex].pending
                target = max(Fraction(0), self._rate(vertex, "records_in") + self._rate(vertex, "pending"))
                catch_up = pending / self._catch_up_s if self._catch_up_s else Fraction(0)
            else:
                ratios = {sender: self._ratio(graph, sender, vertex) for sender, receiver in graph.edges if receiver == vertex}
                target = sum((loads[sender].target * ratio for sender, ratio in ratios.items()), Fraction(0))
                catch_up = sum((loads[sender].catch_up * ratio for sender, ratio in ratios.items()), Fraction(0))
            loads[vertex] = Load(target, catch_up, self._true_rate(graph, vertex))
        return loads

    def _ratio(self, graph: Graph, sender: str, receiver: str) -> Fraction:
        """Return the records on this edge per input record of its sender.

        No metric counts the records on an edge: they are the receiver's input minus the output of its other senders; or the sender's
        output, if another sender has further receivers.
        """
        taken = self._rate(sender, "records_in")
        if not taken:
            return Fraction(0)
        others = list(dict.fromkeys(other for other, target in graph.edges if target == receiver and other != sender))
        if all(len({target for other, target in graph.edges if other == each}) == 1 for each in others):
            flows = self._rate(receiver, "records_in") - sum((self._rate(each, "records_out") for each in others), Fraction(0))
        else:
            flows = self._rate(sender, "records_out")
        return max(flows, Fraction(0)) / taken

    def _true_rate(self, graph: Graph, vertex: str) -> Rate:
        busy = sum((sample.readings[vertex].busy for sample in self._samples), Fraction(0)) / len(self._samples)
        taken = self._rate(vertex, "records_in")
        by_busy_time = taken / busy if taken and busy else None
        observed = self._observed_rate(vertex) if vertex in graph.sources else None
        if observed is not None and less(observed * (1 + exact(self._options.switch_threshold)), by_busy_time):
            return observed
        return by_busy_time

    def _observed_rate(self, source: str) -> Fraction | None:
        """Return the mean rate at which a source read while its queue was long enough, over its unblocked time; None with too few
        samples."""
        seen = []
        for before, after in zip(self._samples, self._samples[1:], strict=False):
            reading = after.readings[source]
            rate = Fraction((reading.records_in - before.readings[source].records_in) * SECOND_NS, after.at_ns - before.at_ns)
            free = 1 - reading.blocked
            if rate > 0 and free > 0 and reading.pending >= exact(self._options.observed_lag_s) * rate:
                seen.append(rate / free)
        return sum(seen, Fraction(0)) / len(seen) if len(seen) >= max(1, self._options.observations_min) else None

    def _is_behind(self, source: str) -> bool:
        pending, rate = self._samples[-1].readings[source].pending, self._rate(source, "records_in")
        return pending > exact(self._options.backlog_lag_s) * rate

    # Parallelism

    def _capacity(self, load: Load, utilization: Fraction, *, with_restart: bool) -> Rate:
        """Return the capacity that a vertex needs to be busy for this share of the time; rounded half up."""
        share = min(max(utilization, Fraction(0)), Fraction(1))
        if not share:
            return None
        restart = load.target * self._restart_s() / self._catch_up_s if with_restart and self._catch_up_s else Fraction(0)
        return Fraction(math.floor(load.catch_up + restart + load.target / share + Fraction(1, 2)))

    def _restart_s(self) -> Fraction:
        if self._options.restart_tracking and self._restart_ns:
            return min(Fraction(self._restart_ns, SECOND_NS), exact(self._options.restart_limit_s))
        return exact(self._options.restart_s)

    def _factor(self, vertex: str, load: Load) -> Fraction:
        capacity = self._capacity(load, self._target, with_restart=True)
        factor = Fraction(0) if load.true_rate is None or capacity is None else capacity / load.true_rate / self._scalability(vertex)
        return min(max(factor, 1 - exact(self._options.scale_down_factor_max)), 1 + exact(self._options.scale_up_factor_max))

    def _parallelism(self, p: int, factor: Fraction, parts: int | None) -> int:
        most = max(p, self._options.parallelism_max)
        most = most if parts is None else min(most, parts)
        wanted = min(max(math.ceil(factor * p), min(p, self._options.parallelism_min)), most)
        if parts is None or wanted == p or self._options.alignment == "none":
            return wanted
        return aligned(wanted, parts, most if wanted > p else p)

    def _delayed(self, vertex: str, p: int, wanted: int, now_ns: int, ineffective: bool) -> int:
        """Return the parallelism to apply now."""
        if wanted >= p:
            self._requests.pop(vertex, None)
            return p if ineffective and self._options.effectiveness_detection else wanted
        requests = self._requests.setdefault(vertex, [])
        requests.append((now_ns, wanted))
        if now_ns < requests[0][0] + self._down_interval_ns:
            return p
        return max(n for at_ns, n in requests if at_ns >= now_ns - self._down_interval_ns)

    # Effects of rescales

    def acted(self, before: Mapping[str, int], after: Mapping[str, int], now_ns: int) -> None:
        self._requests = {}
        self._ordered_ns = now_ns
        for vertex, p in after.items():
            if p != before[vertex]:
                rate = self._true_rates.get(vertex)
                action = Action(now_ns, before[vertex], p, rate, None if rate is None else rate / before[vertex] * p)
                kept = [past for past in self._history.get(vertex, []) if past.at_ns >= now_ns - self._history_ns]
                self._history[vertex] = [*kept, action][-self._options.history_max :]

    def _is_ineffective(self, vertex: str, p: int, rate: Rate) -> bool:
        """Return whether the last action scaled it up to its present parallelism with hardly any effect."""
        past = self._history.get(vertex, [])
        if not past or past[-1].after != p or past[-1].before >= p:
            return False
        then, expected = past[-1].true_rate, past[-1].expected_rate
        if then is None or expected is None or rate is None:
            return False
        return (rate - then) / (expected - then) < exact(self._options.effectiveness_threshold)

    def _scalability(self, vertex: str) -> Fraction:
        """Return how the true rate scaled with parallelism in past actions, by least squares; 1: linearly."""
        past = [(Fraction(action.before), action.true_rate) for action in self._history.get(vertex, []) if action.true_rate is not None]
        if not self._options.observed_scalability or len(past) < self._options.scalability_observations:
            return Fraction(1)
        least_p, least_rate = min(past)
        beta = least_rate / least_p
        alpha = sum((p * rate for p, rate in past), Fraction(0)) / (beta * sum((p * p for p, _ in past), Fraction(0)))
        return min(max(alpha, exact(self._options.scalability_min)), Fraction(1))

    # State

    def state(self) -> Any:
        return {
            "since_ns": self._since_ns,
            "first_ns": self._first_ns,
            "samples": [[at_ns, {vertex: _written(reading) for vertex, reading in all.items()}] for at_ns, all in self._samples],
            "requests": {vertex: [list(request) for request in requests] for vertex, requests in self._requests.items()},
            "history": {vertex: [_written(action) for action in past] for vertex, past in self._history.items()},
            "true_rates": {vertex: None if rate is None else str(rate) for vertex, rate in self._true_rates.items()},
            "ordered_ns": self._ordered_ns,
            "restart_ns": self._restart_ns,
        }

    def restore(self, state: Any) -> None:
        samples = state["samples"]
        self._since_ns, self._first_ns = state["since_ns"], state["first_ns"]
        self._samples = [Sample(at_ns, {vertex: Reading(*map(_read, row)) for vertex, row in all.items()}) for at_ns, all in samples]
        self._requests = {vertex: [(at_ns, n) for at_ns, n in requests] for vertex, requests in state["requests"].items()}
        self._history = {vertex: [Action(*map(_read, row)) for row in past] for vertex, past in state["history"].items()}
        self._true_rates = {vertex: None if rate is None else Fraction(rate) for vertex, rate in state["true_rates"].items()}
        self._ordered_ns, self._restart_ns = state["ordered_ns"], state["restart_ns"]


def less(rate: Rate, other: Rate) -> bool:
    """Return whether the first is less; either may be infinite."""
    return rate is not None and (other is None or rate < other)


def aligned(wanted: int, parts: int, most: int) -> int:
    """Return the first number from `wanted` to `most` that divides the parts evenly or lowers the minimum parts per instance; `wanted` if
    there is none. So no instance is added without relieving another one."""
    for q in range(wanted, most + 1):
        if parts % q == 0 or parts // q < parts // wanted:
            return q
    return wanted


def _written(row: tuple[Any, ...]) -> list[Any]:
    return [str(value) if isinstance(value, Fraction) else value for value in row]


def _read(value: Any) -> Any:
    return Fraction(value) if isinstance(value, str) else value


policy = Flink
