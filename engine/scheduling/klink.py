"""Klink: the query with the least slack until its next sweeping watermark runs first (Farhat 2020, chapter 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.core.tables import Words
from engine.spec.experiment.scheduling import klink

from .policy import PAUSED, Judged, Selection, ranked
from .regression import Features, Regression
from .slack import Expected, Floats, Slacks, deviations, slacks
from .statistics import Statistics

MODE_MAX_NS = 3_000_000_000
NEARLY_BEST = 0.95


class Klink:
    """Its memory: the span of the present memory mode, and of each input the interval predicted at the beginning of its epoch, and what the
    regression has learnt."""

    def __init__(self, about: klink.Klink):
        self._confidence, self._variance, self._normalise = about.confidence, about.variance, about.normalise
        self._threshold = about.memory_threshold
        self._mode_until_ns, self._mode_began_bytes = -1, 0
        self._predicted: dict[int, tuple[int, float, float]] = {}  # by input: epoch, and interval of the watermark that ends it
        self._judged: dict[int, Judged] = {}  # by input: the last watermark
        self._hits, self._misses, self._width_ns = 0, 0, 0.0  # of predicted intervals; widths summed
        self._memory_ns = 0  # in the memory mode
        self._by_regression = about.estimator == "regression"
        self._regressions: dict[int, Regression] = {}  # by input
        self._features: dict[int, tuple[int, int, Features]] = {}  # by input: epoch, when the last watermark was made, and what is known

    def select(self, statistics: Statistics) -> Selection:
        estimates = self._estimates(statistics) if self._by_regression else {}
        of = slacks(statistics, self._confidence, self._variance, self._normalise, estimates)
        self._judge(statistics, of, estimates)
        order = np.lexsort((np.arange(len(of.slack_ns)), -of.cost_ns, of.deadline_ns, of.slack_ns))
        why = {q: _why(statistics, of, q) for q in range(len(of.slack_ns))}
        if self._managing(statistics, of):
            ranks, order = self._freeing(statistics, order)
            return Selection(ranks, order.tolist(), why, of.bins, "memory")
        return Selection(ranked(statistics, order.tolist()), order.tolist(), why, of.bins, "slack")

    # Predictions

    def _estimates(self, statistics: Statistics) -> dict[int, Expected]:
        """When the next watermark of each input comes, by regression. It learns from epochs that have just ended."""
        found = {}
        for k, about in enumerate(statistics.inputs):
            if about.measured_ns is not None or about.epochs == 0:
                continue
            past, regression = about.history, self._regressions.setdefault(k, Regression())
            epoch, made_ns, features = self._features.get(k, (-1, 0, (0.0, 0.0)))
            if epoch != about.epochs:
                if epoch == about.epochs - 1:
                    regression.learn(features, float(past.taken_ns - made_ns))
                features = float(past.taken_ns - past.made_ns), past.last_mean_us
                self._features[k] = about.epochs, past.made_ns, features
            if (estimate := regression.estimate(features)) is not None:
                found[k] = Expected(past.made_ns + estimate, 0.0)
        return found

    def _judge(self, statistics: Statistics, of: Slacks, estimates: Mapping[int, Expected]) -> None:
        """Compare what has been taken in with the interval of its epoch's beginning, and predict the end of epochs that have begun. An
        estimate of the regression is a point, and hits within one cycle."""
        half = deviations(self._confidence)
        for k, about in enumerate(statistics.inputs):
            if about.measured_ns is not None:
                continue  # its own host judges
            epoch, low, high = self._predicted.get(k, (-1, 0.0, 0.0))
            if epoch == about.epochs:
                continue
            if 0 < epoch == about.epochs - 1:
                inside = low <= about.history.taken_ns <= high
                self._hits, self._misses, self._width_ns = self._hits + inside, self._misses + (not inside), self._width_ns + high - low
                self._judged[k] = Judged(about.history.taken_ns, low, high)
            mean, sd = of.expected[k]
            width = statistics.cycle_ns if k in estimates else half * sd
            self._predicted[k] = about.epochs, mean - width, mean + width

    # Memory management (3.7 of the specification)

    def _managing(self, statistics: Statistics, of: Slacks) -> bool:
        """Whether memory is freed in this cycle: from the threshold on, for the least slack, or until half of the memory is free."""
        budget = statistics.tasks.budget_bytes
        if self._threshold is None or budget is None:
            return False
        now = statistics.now_ns
        if self._mode_until_ns >= 0 and (now >= self._mode_until_ns or 2 * statistics.used_bytes <= self._mode_began_bytes):
            self._mode_until_ns = -1
        if self._mode_until_ns < 0 and statistics.used_bytes >= self._threshold * budget:
            least = float(np.abs(of.slack_ns).min(initial=float(MODE_MAX_NS)))
            self._mode_until_ns = now + int(min(max(least, statistics.cycle_ns), MODE_MAX_NS))
            self._mode_began_bytes = statistics.used_bytes
        self._memory_ns += statistics.cycle_ns * (self._mode_until_ns >= 0)
        return self._mode_until_ns >= 0

    @staticmethod
    def _freeing(statistics: Statistics, order: Words) -> tuple[Words, Words]:
        """Queries that free the most, within 5 %, come first, by slack. Sources pause."""
        gain = freed(statistics)
        best = float(gain.max(initial=0.0))
        chosen = [q for q in order.tolist() if best > 0 and gain[q] >= NEARLY_BEST * best]
        places = np.array(chosen + [q for q in order.tolist() if q not in chosen], np.int64)
        ranks = ranked(statistics, places.tolist())
        ranks[statistics.tasks.is_source] = PAUSED
        return ranks, places

    def counts(self) -> dict[str, float]:
        return {"hits": self._hits, "misses": self._misses, "width_ns": self._width_ns, "memory_ns": self._memory_ns}

    def judged(self) -> dict[int, Judged]:
        return self._judged

    # State

    def state(self) -> Any:
        return {
            "mode": [self._mode_until_ns, self._mode_began_bytes],
            "memory_ns": self._memory_ns,
            "predicted": [[k, *about] for k, about in sorted(self._predicted.items())],
            "judged": [[k, *about] for k, about in sorted(self._judged.items())],
            "counts": [self._hits, self._misses, self._width_ns],
            "regressions": [[k, of.state()] for k, of in sorted(self._regressions.items())],
            "features": [[k, epoch, made_ns, list(features)] for k, (epoch, made_ns, features) in sorted(self._features.items())],
        }

    def restore(self, state: Any) -> None:
        self._mode_until_ns, self._mode_began_bytes = state["mode"]
        self._memory_ns = state["memory_ns"]
        self._predicted = {k: (epoch, low, high) for k, epoch, low, high in state["predicted"]}
        self._judged = {k: Judged(*about) for k, *about in state["judged"]}
        self._hits, self._misses, self._width_ns = state["counts"]
        self._regressions = {k: Regression.restored(of) for k, of in state["regressions"]}
        self._features = {k: (epoch, made_ns, (features[0], features[1])) for k, epoch, made_ns, features in state["features"]}


def freed(statistics: Statistics) -> Floats:
    """By query, how many records at most leave memory in a cycle, if it is served up to one of its filters or windows."""
    tasks = statistics.tasks
    gain = np.zeros(len(tasks.names))
    for q in range(len(tasks.names)):
        queued, cost_ns, kept = 0.0, 0.0, 1.0
        for k in np.flatnonzero((tasks.query == q) & statistics.open).tolist():
            queued += float(statistics.queued[k])
            cost_ns += float(statistics.cost_ns[k])
            kept *= min(float(statistics.streaming[k]), 1.0)
            served = min(queued, statistics.cycle_ns / cost_ns) if cost_ns else queued
            if statistics.streaming[k] < 1:
                gain[q] = max(gain[q], served * (1 - kept))
    return gain


def _why(statistics: Statistics, of: Slacks, q: int) -> dict[str, float]:
    found = {
        "slack_ms": of.slack_ns[q],
        "cost_ms": of.cost_ns[q],
        "expected_ms": of.mean_ns[q] - statistics.now_ns,
        "sigma_ms": of.sd_ns[q],
    }
    if statistics.elsewhere_ns[q] > 0:
        found["elsewhere_ms"] = statistics.elsewhere_ns[q]
    return {name: round(float(value) / 1e6, 3) for name, value in found.items() if np.isfinite(value)}


policy = Klink
