"""Cheapest schedule for a load that is known in advance, including the cost of rescales."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from engine.spec.base.units import seconds_ns
from engine.spec.experiment.scaling import oracle

from .known_load import MINUTE_NS, Truth


class Segment(NamedTuple):
    """A part of the run with constant parallelism, by vertex. enough: it sustains the load, and catches up after its own outage in time."""

    start_ns: int
    end_ns: int
    parallelism: dict[str, int]
    enough: bool


class Cost(NamedTuple):
    """Cost of a cover; the minimum is best. lacking_ns: time in segments that do not sustain the load. worker_ns: includes the cost of
    actions."""

    lacking_ns: int
    worker_ns: int
    actions: int


def cheapest_cover(truth: Truth, outage_ns: int, drain_ns: int | None, action_cost_worker_ns: int) -> list[Segment]:
    """Return segments of whole minutes that cover the run at minimum cost, by dynamic programming over minutes.

    Each segment sustains its maximum rate. Each but the first starts with an outage, and has spare capacity to process what arrived in the
    meantime within drain_ns of the end of the outage, and before the segment ends (None: no such requirement). Unsustained time outweighs
    all other costs.
    """
    segments = _Segments(truth, outage_ns, drain_ns)
    costs = [Cost(0, 0, 0)]
    lasts: list[tuple[int, Segment]] = []  # by end: the minute in which the last segment begins
    for b in range(1, len(truth.rates_per_s) + 1):
        found: list[tuple[Cost, int, Segment]] = []
        peak = Fraction(0)
        for a in range(b - 1, -1, -1):
            peak = max(peak, truth.rates_per_s[a])
            segment, workers = segments.between(a, b, peak)
            span_ns, before = segment.end_ns - segment.start_ns, costs[a]
            worker_ns = before.worker_ns + workers * span_ns + (action_cost_worker_ns if a else 0)
            found.append((Cost(before.lacking_ns + (not segment.enough) * span_ns, worker_ns, before.actions + (a > 0)), a, segment))
        cost, a, segment = min(found, key=lambda each: each[:2])
        costs.append(cost)
        lasts.append((a, segment))
    cover: list[Segment] = []
    b = len(lasts)
    while b:
        b, segment = lasts[b - 1]
        cover.append(segment)
    return cover[::-1]


def plan(about: oracle.Oracle, truth: Truth) -> tuple[dict[str, int], list[tuple[int, dict[str, int]]]]:
    """Return the parallelism of the cheapest cover's first segment, by vertex, and the later orders with their times."""
    drain_ns = None if about.drain_s is None else seconds_ns(about.drain_s)
    cover = cheapest_cover(truth, about.rescaling.outage_ns, drain_ns, seconds_ns(about.action_cost_worker_s))
    return cover[0].parallelism, orders(cover)


class _Segments:
    """Requirements of segments, cached by rate."""

    def __init__(self, truth: Truth, outage_ns: int, drain_ns: int | None):
        self._truth, self._outage_ns, self._drain_ns = truth, outage_ns, drain_ns
        self._needed: dict[Fraction, tuple[dict[str, int], bool, int]] = {}
        self._outages: dict[tuple[int, int], Fraction] = {}

    def between(self, a: int, b: int, peak_per_s: Fraction) -> tuple[Segment, int]:
        """Return the segment from minute a to minute b, and its workers."""
        start_ns, end_ns = a * MINUTE_NS, min(b * MINUTE_NS, self._truth.horizon_ns)
        made_up = self._outage_rate(start_ns, end_ns) if a else Fraction(0)
        rate = peak_per_s if made_up is None else max(peak_per_s, made_up)
        if rate not in self._needed:
            parallelism, enough = self._truth.needed(rate)
            self._needed[rate] = parallelism, enough, self._truth.workers(parallelism)
        parallelism, enough, workers = self._needed[rate]
        return Segment(start_ns, end_ns, parallelism, enough and made_up is not None), workers

    def _outage_rate(self, start_ns: int, end_ns: int) -> Fraction | None:
        """Return the capacity that serves, after the outage, everything that arrives from the segment's start until its backlog must be
        gone, in source records per second; None if the segment is too short."""
        if self._drain_ns is None:
            return Fraction(0)
        until_ns = min(start_ns + self._outage_ns + self._drain_ns, end_ns)
        serving_ns = until_ns - start_ns - self._outage_ns
        if serving_ns <= 0:
            return None
        if (start_ns, until_ns) not in self._outages:
            offered = Fraction(0)  # records x ns / s
            for minute in range(start_ns // MINUTE_NS, -(-until_ns // MINUTE_NS)):
                lasts_ns = min((minute + 1) * MINUTE_NS, until_ns) - minute * MINUTE_NS
                offered += self._truth.rates_per_s[minute] * lasts_ns
            self._outages[start_ns, until_ns] = offered / serving_ns
        return self._outages[start_ns, until_ns]


def orders(cover: Sequence[Segment]) -> list[tuple[int, dict[str, int]]]:
    """Return times and parallelisms of the rescales; the run starts with the first segment's parallelism."""
    return [(after.start_ns, after.parallelism) for before, after in pairwise(cover) if after.parallelism != before.parallelism]
