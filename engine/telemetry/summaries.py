"""Summary of a run over a span of virtual time, from its files alone: the part of an analysis that is computed once per run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as compute
from numpy.typing import NDArray

from engine.spec.base.units import seconds_ns
from engine.spec.experiment.spans import Span

from .recorded import NoFiles, Recorded
from .spans import PARTS, SpanHistogram, shares

Words = NDArray[np.int64]
Floats = NDArray[np.float64]

PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}


@dataclass(frozen=True)
class Of:
    """A run whose files are read. warmup_ns, horizon_ns: from its document. faults_ns: start times of faults that the document specifies;
    deaths of hosts are found in the frames."""

    directory: Path
    warmup_ns: int
    horizon_ns: int
    faults_ns: tuple[int, ...] = ()


def summarise(run: Of, span: Span) -> dict[str, Any]:
    """Summarise the run over the span, as plain values.

    frames: number of frames wholly or partly in the span; cut_frames: number of frames it cuts. from_s, to_s: the span. samples: of
    latency. p50_ms, ...: percentiles, with bounds p50_low_ms and p50_high_ms; None without samples. offered_per_s, in_per_s, out_per_s: per
    virtual second; cut frames count by the share of their time. attribution_ns: sums over the operators, by part. recoveries: one per fault
    in the span (`recoveries`). buckets, whole, cut, inside: the histogram's non-empty buckets. Raises NoFiles.
    """
    frames = Frames.of(Recorded.read(run.directory), span.latency)
    from_ns = run.warmup_ns if span.from_s is None else seconds_ns(span.from_s)
    last_ns = int(frames.end_ns[-1])
    to_ns = last_ns if span.to_s is None else min(seconds_ns(span.to_s), last_ns)
    share = shares(frames.end_ns, from_ns, to_ns)
    histogram = frames.histogram(share)
    weight = share / PARTS
    span_s = max((to_ns - from_ns) / 1e9, 1e-9)
    used = np.flatnonzero(histogram.whole + histogram.cut)
    numbers: dict[str, Any] = {}
    for name, found in zip(PERCENTILES, histogram.percentiles(list(PERCENTILES.values())), strict=True):
        numbers |= {
            f"{name}_ms": found and found.value_ns / 1e6,
            f"{name}_low_ms": found and found.low_ns / 1e6,
            f"{name}_high_ms": found and found.high_ns / 1e6,
        }
    return {
        "from_s": from_ns / 1e9,
        "to_s": to_ns / 1e9,
        "frames": int((share > 0).sum()),
        "cut_frames": int(((share > 0) & (share < PARTS)).sum()),
        "samples": histogram.samples,
        **numbers,
        **{f"{name}_per_s": float((counts * weight).sum() / span_s) for name, counts in frames.records.items()},
        "attribution_ns": {part: round(float((sums * weight).sum())) for part, sums in frames.attribution.items()},
        "recoveries": recoveries(frames, span, run.faults_ns, from_ns, to_ns, run.horizon_ns),
        "buckets": used.tolist(),
        "whole": histogram.whole[used].tolist(),
        "cut": histogram.cut[used].tolist(),
        "inside": histogram.inside[used].tolist(),
    }


def histogram_of(row: Mapping[str, Any]) -> SpanHistogram:
    """Return the histogram of a row of `summarise`; histograms of rows can be added."""
    made = SpanHistogram.empty()
    used = np.array(row["buckets"], np.int64)
    for name in ("whole", "cut", "inside"):
        getattr(made, name)[used] = row[name]
    return made


@dataclass(frozen=True)
class Frames:
    """The frames of a run; shape (frames,) each.

    p99_ns: of the latency, NaN without samples. queue: records in the driver's logs at the frame's end. records: offered to, taken in and
    delivered by the system. attribution: sums over the operators, by part. deaths_ns: deaths of hosts. frame, bucket, count: the
    histograms.
    """

    end_ns: Words
    p99_ns: Floats
    queue: Floats
    records: dict[str, Floats]
    attribution: dict[str, Floats]
    deaths_ns: tuple[int, ...]
    frame: Words
    bucket: Words
    count: Words

    @classmethod
    def of(cls, recorded: Recorded, latency: str = "") -> Frames:
        """latency: name of an additional latency; empty for the main one. Raises NoFiles."""
        live = recorded.live
        if latency and latency not in live[0].get("latencies_ms", {}):
            raise NoFiles(f"latency '{latency}' was not measured")
        table = recorded.latency.filter(compute.equal(recorded.latency.column("latency"), latency))
        end_ns = np.array([round(frame["t_s"] * 1e9) for frame in live], np.int64)
        length_s = np.diff(end_ns, prepend=0) / 1e9
        seen = [frame["latencies_ms"][latency] if latency else frame["latency_ms"] for frame in live]
        per_s = {name: np.array([frame[f"{name}_per_s"] for frame in live], np.float64) for name in ("offered", "in", "out")}
        return cls(
            end_ns,
            np.array([np.nan if one["p99"] is None else one["p99"] * 1e6 for one in seen], np.float64),
            np.array([frame["backlog"] - sum(o["queue"] for o in frame["operators"].values()) for frame in live], np.float64),
            {name: values * length_s for name, values in per_s.items()},
            _attribution(live),
            tuple(seconds_ns(death["at_s"]) for frame in live for death in frame["deaths"]),
            *(table.column(name).to_numpy().astype(np.int64) for name in ("frame", "bucket", "count")),
        )

    def histogram(self, share: Words) -> SpanHistogram:
        """Return the histogram. share: part of each frame inside the span, in millionths."""
        return SpanHistogram.of(self.frame, self.bucket, self.count, share)


def recoveries(frames: Frames, span: Span, faults_ns: Sequence[int], from_ns: int, to_ns: int, horizon_ns: int) -> list[dict[str, Any]]:
    """Return the effect of each fault that starts in the span, and the time to recovery. faults_ns: those that the document specifies.

    Baseline: p99 latency and median driver queue over the `before_s` before the fault. A frame is normal if its p99 is at most `factor`
    times the baseline's, and its queue at most `factor` times the baseline's plus the records offered in one frame. After the first
    abnormal frame, the system has recovered with the first frame from which on all frames are normal for `steady_s`, or until the
    observation ends: at the next fault, the span's end or the horizon. recovery_s: time from the fault to the end of that frame; 0 if no
    frame was disturbed; None if the system did not recover during the observation. reason: why no statement is possible, otherwise empty.
    """
    at_ns = sorted({*faults_ns, *frames.deaths_ns})
    found = []
    for number, fault_ns in enumerate(at_ns):
        if not from_ns <= fault_ns <= to_ns:
            continue
        until_ns = min([to_ns, horizon_ns, *at_ns[number + 1 : number + 2]])
        found.append({"at_s": fault_ns / 1e9, **_recovery(frames, span, fault_ns, until_ns)})
    return found


def _recovery(frames: Frames, span: Span, fault_ns: int, until_ns: int) -> dict[str, Any]:
    start_ns = np.concatenate([[0], frames.end_ns[:-1]])
    began_ns = fault_ns - seconds_ns(span.before_s)
    before = (start_ns >= began_ns) & (frames.end_ns <= fault_ns)
    (normal,) = frames.histogram(before * PARTS).percentiles([0.99])
    after = np.flatnonzero((frames.end_ns > fault_ns) & (frames.end_ns <= until_ns))
    if normal is None:
        return {"recovery_s": None, "disturbed": False, "reason": f"no results in the {span.before_s:g} s before the fault"}
    if not len(after):
        return {"recovery_s": None, "disturbed": False, "reason": "no frame between the fault and the next one, or the end"}
    latency_ok = frames.p99_ns[after] <= span.factor * normal.value_ns
    silent = np.isnan(frames.p99_ns[after]) & (frames.records["offered"][after] == 0)
    queue_max = span.factor * np.median(frames.queue[before]) + frames.records["offered"][after]
    fine = (latency_ok | silent) & (frames.queue[after] <= queue_max)
    if fine.all():
        return {"recovery_s": 0.0, "disturbed": False, "reason": ""}
    first = int(np.argmin(fine))
    end_ns, steady_ns = frames.end_ns[after], seconds_ns(span.steady_s)
    for k in range(first + 1, len(after)):
        stays = end_ns <= min(int(end_ns[k]) + steady_ns, until_ns)
        if fine[k:][stays[k:]].all():
            return {"recovery_s": (int(end_ns[k]) - fault_ns) / 1e9, "disturbed": True, "reason": ""}
    return {"recovery_s": None, "disturbed": True, "reason": ""}


def _attribution(live: Sequence[Mapping[str, Any]]) -> dict[str, Floats]:
    rows = [[operator["attribution"] for operator in frame["operators"].values()] for frame in live]
    parts = [name for name in rows[0][0] if name.endswith("_ns")] if rows[0] else []
    return {part.removesuffix("_ns"): np.array([sum(one[part] for one in row) for row in rows], np.float64) for part in parts}
