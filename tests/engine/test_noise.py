"""Costs that vary: the tables of factors against the laws, warm-up by hand, and what runs make of both."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from engine import noise
from engine.spec.noise import AnyNoise, ExponentialNoise, LognormalNoise, NoNoise, UniformNoise
from engine.spec.problems import InvalidExperiment
from engine.spec.validation import load
from tests.oracle.noise import table

from .agreement import assert_agreement, traced

LAWS = [ExponentialNoise(), *(LognormalNoise(cv=cv) for cv in (0.05, 0.3, 1.0, 3.0)), *(UniformNoise(cv=cv) for cv in (0.1, 0.577))]


def beyond(law: AnyNoise, x: float, upper: bool) -> float:
    """The share of the law above x, or below it."""
    match law:
        case ExponentialNoise():
            return math.exp(-x) if upper else -math.expm1(-x)
        case LognormalNoise(cv=cv):
            square = math.log(1 + cv * cv)
            z = (math.log(x) + square / 2) / math.sqrt(square)
            return NormalDist().cdf(-z if upper else z)
        case UniformNoise(cv=cv):
            share = 0.5 + (x - 1) / (2 * math.sqrt(3) * cv)
            return 1 - share if upper else share
    raise AssertionError(law)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_factors_follow_their_law_up_to_the_tails(law: AnyNoise) -> None:
    """Between the edges, too: the share beyond a factor is met to 1e-4 of itself, but for the grid of 2^-16 near 0."""
    factors = noise.factors(law) / noise.FACTOR_UNIT
    shares = noise.shares()
    for upper, half in ((False, factors[: noise.EDGES]), (True, factors[noise.EDGES :])):
        for at in range(0, noise.EDGES - 1, 7):
            for step in (0.0, 0.5):
                x = half[at] + step * (half[at + 1] - half[at])
                share = shares[at] + step * (shares[at + 1] - shares[at])
                grid = max(abs(beyond(law, max(x + d, 1e-300), upper) - beyond(law, x, upper)) for d in (-(2**-16), 2**-16))
                assert abs(beyond(law, x, upper) - share) <= 1e-4 * share + grid


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_factors_have_mean_one_and_the_variation_asked_for(law: AnyNoise) -> None:
    factors, steps = noise.factors(law) / noise.FACTOR_UNIT, np.diff(noise.shares())
    halves = [(half[:-1], half[1:]) for half in (factors[: noise.EDGES], factors[noise.EDGES :])]
    mean = sum((steps * (a + b) / 2).sum() for a, b in halves)
    square = sum((steps * (a * a + a * b + b * b) / 3).sum() for a, b in halves)
    assert mean == pytest.approx(1, abs=2**-15)
    assert math.sqrt(square - mean * mean) == pytest.approx(getattr(law, "cv", 1.0), rel=1e-3)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_tables_are_those_of_the_definition(law: AnyNoise) -> None:
    """The same words from the functions of libm."""
    below, above = table(law)
    assert noise.factors(law).tolist() == below + above


def document(cost: dict[str, Any], parallelism: int = 1, records: int = 1000) -> dict[str, Any]:
    free = {"record_us": 0.001, "output_us": 0.0, "control_us": 0.0}
    return {
        "format": 1,
        "query": {
            "operators": [
                {"id": "server", "kind": "source", "parallelism": parallelism, "cost": free | cost},
                {"id": "sink", "kind": "sink", "parallelism": parallelism, "cost": free},
            ],
            "edges": [{"source": "server", "target": "sink"}],
        },
        "cluster": {"hosts": [{"name": "h", "processor": {"kind": "dedicated"}, "cores": 2 * parallelism}]},
        "workload": {
            "horizon_s": 1.0,
            "drain": True,
            "sources": {"server": {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": records}}},
        },
    }


def services_ns(made: dict[str, Any], instance: int = 0) -> np.ndarray:
    rows = traced(made).service_trace()
    rows = rows[rows[:, 0] == instance]
    return rows[:, 2] - rows[:, 1]


def test_the_first_services_cost_more() -> None:
    """Five times as much, then a quarter of the difference less each time."""
    made = document({"record_us": 10.0, "warmup": {"factor": 5, "records": 4}})
    assert services_ns(made)[:6].tolist() == [50_000, 40_000, 30_000, 20_000, 10_000, 10_000]


def test_every_instance_warms_up_by_itself_and_draws_its_own_factors() -> None:
    made = document({"record_us": 10.0, "noise": {"kind": "exponential"}, "warmup": {"factor": 5, "records": 4}}, parallelism=2)
    simulation = traced(made)
    assert_agreement(made, simulation)
    rows = simulation.service_trace()
    first, second = ((rows[:, 2] - rows[:, 1])[rows[:, 0] == instance] for instance in (0, 1))
    n = min(len(first), len(second))
    assert (first[:n] == second[:n]).mean() < 0.05


def test_noise_depends_on_the_seed_alone() -> None:
    made = document({"record_us": 10.0, "noise": {"kind": "lognormal", "cv": 0.5}})
    first = services_ns(made)
    made["workload"]["sources"]["server"]["rate"] = {"kind": "constant", "per_s": 500}
    assert services_ns(made).tolist() == first[:500].tolist()
    made["workload"]["seed"] = 2
    assert services_ns(made).tolist() != first[:500].tolist()


def test_no_noise_draws_nothing() -> None:
    assert noise.factors(NoNoise()).tolist() == [noise.FACTOR_UNIT] * (2 * noise.EDGES)
    assert len(set(services_ns(document({"record_us": 10.0, "noise": {"kind": "none"}})).tolist())) == 1


@pytest.mark.parametrize(
    ("cost", "place", "says"),
    [
        ({"record_us": 2e6, "noise": {"kind": "exponential"}}, "/record_us", "at most 1e+06"),
        ({"output_us": 2e6, "warmup": {}}, "/output_us", "at most 1e+06"),
        ({"noise": {"kind": "uniform", "cv": 0.6}}, "/noise", "0.577"),
        ({"noise": {"kind": "normal"}}, "/noise", "exponential"),
        ({"warmup": {"factor": 0.5}}, "/warmup/factor", "1"),
    ],
)
def test_refusals_name_the_field(cost: dict[str, Any], place: str, says: str) -> None:
    with pytest.raises(InvalidExperiment) as refused:
        load(document(cost))
    [problem] = refused.value.problems
    assert problem.pointer.startswith(f"/query/operators/0/cost{place}")
    assert says in problem.message
