"""Policies and their loop on a fluid job, against what the specification found with one (parts 7.1, 7.2, 9.13 and 9.14).

What this catches: parts that are each right and together not: rates in the wrong unit, a metric that comes too late, limits that never
let go.
Figures are made by the engine, never by this.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from engine.spec.experiment import scaling
from engine.spec.experiment.rates.base import Rate
from engine.spec.experiment.rates.cosine import CosineRate
from engine.spec.experiment.rates.increasing import IncreasingRate
from engine.workloads.rates import curve_of

from ...support.fluid_job import MAP, SESSIONS, FluidJob, Operator

HORIZON_S = 140 * 60
COSINE = CosineRate(mean_per_s=1.2e6, amplitude_per_s=1e6, noise_per_s=1e5, period_s=3600, step_s=60, seed=1066)
INCREASING = IncreasingRate(top_per_s=2.5e6, seed=1066)
POLICIES: dict[str, scaling.looped.Looped] = {
    "dhalion": scaling.dhalion.Dhalion(),
    "ds2": scaling.ds2.DS2(),
    "hpa_cpu": scaling.hpa_cpu.HPACpu(),
    "hpa_varga": scaling.hpa_varga.HPAVarga(),
    "flink": scaling.flink.Flink(preset="tuned"),
}


def job_under(about: scaling.looped.Looped, query: dict[str, Operator], p: int, rate: Rate, sigma: float = 0.06) -> FluidJob:
    pieces = list(curve_of(rate, HORIZON_S * 10**9, lambda name: None).pieces_between(0, HORIZON_S * 10**9))
    job = FluidJob(query, p, lambda now_s: pieces[min(int(now_s) // 60, len(pieces) - 1)][1] / 1e6, sigma)
    loop = job.run(about, HORIZON_S)
    assert len(job.orders) == sum(decision.verdict == "order" for decision in loop.decisions)
    return job


@pytest.mark.parametrize(
    ("query", "p", "rate", "workers"),
    [(MAP, 5, COSINE, (15, 9, 12, 8, 10)), (SESSIONS, 10, INCREASING, (24, 14, 17, 46, 18))],
    ids=["map, cosine", "sessions, increasing"],
)
def test_as_many_workers_as_in_the_specifications_own_fluid(query: Any, p: int, rate: Rate, workers: tuple[int, ...]) -> None:
    """Its band is 40 %; noise comes from another generator."""
    jobs = {kind: job_under(about, query, p, rate) for kind, about in POLICIES.items()}
    for (kind, job), expected in zip(jobs.items(), workers, strict=True):
        mean = sum(job.workers) / len(job.workers)
        assert 0.6 * expected <= mean <= 1.4 * expected, (kind, mean)
        assert max(job.workers) <= 70
        if kind != "flink":
            assert len(job.orders) <= 26
            assert all(later - earlier >= 315 for (earlier, *_), (later, *_) in pairwise(job.orders))
    wait_s = {kind: job.wait_s / job.read for kind, job in jobs.items()}
    assert min(wait_s, key=lambda kind: wait_s[kind]) == "flink", wait_s
    assert len(jobs["flink"].orders) <= 18
    if query is SESSIONS:
        assert max(jobs["hpa_varga"].workers) >= 65, "the blocked source grows until it squeezes the window"
        assert wait_s["hpa_varga"] > 100
        assert sum(wait < 5 for wait in jobs["ds2"].waits) / HORIZON_S <= 0.25, "it never looks at what waits"


def test_without_noise_ds2_comes_to_rest() -> None:
    """One or two actions in each phase: what alternates in the study comes from noise."""
    job = FluidJob(MAP, 1, lambda now_s: 0.0 if now_s < 11 * 60 else 2e6 if now_s < 50 * 60 else 1e6)
    job.run(scaling.ds2.DS2(), 90 * 60)
    phases = {"high": [o for o in job.orders if 660 <= o[0] < 3000], "medium": [o for o in job.orders if o[0] >= 3000]}
    assert 1 <= len(phases["high"]) <= 2, phases
    assert 1 <= len(phases["medium"]) <= 2, phases
