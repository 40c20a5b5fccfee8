"""Verdict on whether a run's load was sustained, from the driver's view: logs outside the system, and the output of its sinks.

Source: Karimov 2020, section 3.4.3 ("sustainable throughput"); the numbers are our reading of its text, all of them parameters
(`engine.spec.study.study.Sustained`). Frames as in docs/engine-api.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.spec.study.study import Sustained

Floats = NDArray[np.float64]
SLOPE_POINTS_MAX = 600
"""Maximum number of evenly spaced bins used for a slope, which compares all pairs."""


@dataclass(frozen=True)
class Bins:
    """The driver's measurements per bin after warm-up; shape (n,) each.

    end_s: end of the bin. offered_per_s, taken_per_s: records appended to the logs, and read by the sources. queue: records in the logs at
    its end. delivered: results. latency_s: their mean latency, NaN without results. head_age_s: waiting time of the next record to read, if
    the logs were one queue (to a frame's width).
    """

    end_s: Floats
    offered_per_s: Floats
    taken_per_s: Floats
    queue: Floats
    delivered: Floats
    latency_s: Floats
    head_age_s: Floats

    @classmethod
    def of(cls, frames: Sequence[Mapping[str, Any]], limits: Sustained) -> Bins:
        """Group frames into bins of `bin_s` (or of a frame, if wider), without the first `warmup_share` of the input."""
        end = np.array([frame["t_s"] for frame in frames], np.float64)
        span = np.diff(end, prepend=0.0)
        offered = np.array([frame["offered_per_s"] for frame in frames], np.float64) * span
        taken = np.array([frame["in_per_s"] for frame in frames], np.float64) * span
        queue = np.array([frame["backlog"] - sum(o["queue"] for o in frame["operators"].values()) for frame in frames], np.float64)
        count = np.array([frame["latency_ms"]["count"] for frame in frames], np.float64)
        latency = np.array([frame["latency_ms"]["mean"] or 0.0 for frame in frames], np.float64) / 1000
        came = np.cumsum(offered)
        head_age = end - np.interp(came - queue, np.r_[0.0, came], np.r_[0.0, end])
        counts = came > limits.warmup_share * came[-1:].sum()
        if not counts.any():
            return cls(*[np.zeros(0)] * 7)
        number = np.ceil(np.round(end / limits.bin_s, 9)).astype(np.int64)[counts]
        first = np.flatnonzero(np.diff(number, prepend=-1))
        last = np.r_[first[1:], len(number)] - 1

        def total(values: Floats) -> Floats:
            sums: Floats = np.add.reduceat(values[counts], first)
            return sums

        width, delivered = total(span), total(count)
        mean = np.divide(total(count * latency), delivered, out=np.full(len(delivered), np.nan), where=delivered > 0)
        at_end = (values[counts][last] for values in (end, queue, head_age))
        ends, queues, ages = at_end
        return cls(ends, total(offered) / width, total(taken) / width, queues, delivered, mean, ages)


@dataclass(frozen=True)
class Verdict:
    """reasons: why the load was not sustained; empty if it was. figures: the compared values, by name."""

    reasons: tuple[str, ...]
    figures: dict[str, float]

    @property
    def sustained(self) -> bool:
        return not self.reasons


def judge(frames: Sequence[Mapping[str, Any]], summary: Mapping[str, Any], limits: Sustained) -> Verdict:
    """Return the verdict on a run. frames: all frames, in order. summary: the run's summary."""
    bins = Bins.of(frames, limits)
    reasons: list[str] = [*_broken(frames, summary)]
    if len(bins.end_s) < 3 or not bins.offered_per_s.any():
        return Verdict((*reasons, "the run is too short: fewer than three bins with input after warm-up"), {})
    offered = float(bins.offered_per_s.mean())
    third = max(1, len(bins.end_s) // 3)
    figures = {
        "offered_per_s": offered,
        "taken_per_s": float(bins.taken_per_s.mean()),
        "queue_at_end": float(bins.queue[-1]),
        "queue_growth_per_s": slope(bins.end_s, bins.queue),
        "head_age_at_end_s": float(bins.head_age_s[-1]),
        "silence_s": _silence_s(bins),
    }
    if figures["silence_s"] >= limits.stall_s or not bins.delivered.any():
        reasons.append(f"no results for {_said(figures['silence_s'])} s")
    early, queue_s = float(np.median(bins.queue[:third])), limits.queue_s
    if bins.queue.max() > queue_s * offered:
        reasons.append(f"the driver's queue holds {bins.queue.max():,.0f} records, more than arrive in {queue_s:g} s")
    if figures["queue_growth_per_s"] > limits.growth_max * offered and bins.queue[-1] > limits.rise_max * early + offered:
        reasons.append(f"the driver's queue grows by {_said(figures['queue_growth_per_s'])} records/s")
    seen = ~np.isnan(bins.latency_s)
    if seen.sum() >= 3:
        time_s, latency_s = bins.end_s[seen], bins.latency_s[seen]
        part = max(1, len(latency_s) // 3)
        figures["latency_growth"] = slope(time_s, latency_s)
        figures["latency_first_s"], figures["latency_last_s"] = float(latency_s[:part].mean()), float(latency_s[-part:].mean())
        if figures["latency_growth"] > limits.growth_max and figures["latency_last_s"] > limits.rise_max * figures["latency_first_s"]:
            reasons.append(f"latency grows by {_said(figures['latency_growth'])} s/s")
    elif seen.any():
        reasons.append("the run is too short: results in fewer than three bins after warm-up, so it is not known whether latency grows")
    if figures["head_age_at_end_s"] > limits.qos_delay_s:
        reasons.append(f"at the end the next record has waited for {_said(figures['head_age_at_end_s'])} s")
    return Verdict(tuple(reasons), figures)


def _said(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


def slope(x: Floats, y: Floats) -> float:
    """Theil-Sen: the median of the slopes between all pairs. Shapes (n,), x ascending."""
    chosen = np.unique(np.linspace(0, len(x) - 1, min(len(x), SLOPE_POINTS_MAX)).astype(np.int64))
    i, j = np.triu_indices(len(chosen), 1)
    x, y = x[chosen], y[chosen]
    return float(np.median((y[j] - y[i]) / (x[j] - x[i])))


def _broken(frames: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]) -> list[str]:
    reasons = [f"host '{death['host']}' died at {_said(death['at_s'])} s" for frame in frames for death in frame["deaths"]][:3]
    reasons += [f"{summary[what]:,} records were {what}" for what in ("dropped", "shed", "lost") if summary.get(what)]
    return reasons + [str(summary[what]) for what in ("deadlock", "exhaustion") if summary.get(what)]


def _silence_s(bins: Bins) -> float:
    """Return the longest time without a result."""
    results = bins.end_s[bins.delivered > 0]
    start_s = bins.end_s[0] - (bins.end_s[1] - bins.end_s[0])
    return float(np.diff(np.r_[start_s, results, bins.end_s[-1]]).max() - (bins.end_s[1] - bins.end_s[0]) * (len(results) > 0))
