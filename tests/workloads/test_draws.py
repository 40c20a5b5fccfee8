"""Distributions: their laws on large samples, their bounds, and pinned values."""

from __future__ import annotations

import hashlib
import math
from statistics import NormalDist

import numpy as np
import pytest

from engine.core.random import RandomStream
from engine.workloads import draws

COUNT = 200_000
NUMBERS = np.arange(COUNT)
STREAM = RandomStream(1, "test")


def distance(sample: np.ndarray, distribution) -> float:
    """Kolmogorov and Smirnov's: the largest distance between the sample's distribution and the law's, times sqrt(n)."""
    x = np.sort(sample)
    exact = np.array([distribution(value) for value in x[::200].tolist()])
    return float(abs(exact - np.arange(len(x))[::200] / len(x)).max()) * math.sqrt(len(x))


def test_the_unit_interval():
    values = draws.unit(STREAM, NUMBERS)
    assert 0 < values.min() < values.max() < 1
    assert distance(values, lambda x: x) < 1.95


def test_exponential():
    values = draws.exponential(STREAM, NUMBERS)
    assert distance(values, lambda x: 1 - math.exp(-x)) < 1.95
    assert values.max() < draws.EXPONENTIAL_MAX


def test_normal():
    values = draws.normal(STREAM, NUMBERS)
    assert distance(values, NormalDist().cdf) < 1.95
    assert abs(values).max() < draws.NORMAL_MAX


def test_lognormal_with_a_given_coefficient_of_variation():
    sigma = draws.lognormal_sigma(1.17)
    assert sigma == pytest.approx(math.sqrt(math.log(1 + 1.17**2)))
    values = draws.lognormal(STREAM, NUMBERS, sigma)
    assert np.median(values) == pytest.approx(1, rel=0.01)
    assert values.std() / values.mean() == pytest.approx(1.17, rel=0.03)
    assert distance(values, lambda x: NormalDist().cdf(math.log(x) / sigma)) < 1.95


@pytest.mark.parametrize("shape", [1.0, 2.0, 3.56, 60.0])
def test_gamma(shape):
    values = draws.gamma(STREAM, NUMBERS, shape)
    assert values.mean() == pytest.approx(shape, abs=4 * math.sqrt(shape / COUNT))
    assert values.var() == pytest.approx(shape, rel=0.03)
    assert ((values - shape) ** 3).mean() == pytest.approx(2 * shape, rel=0.1 + shape / 200)
    assert values.min() > 0
    assert values.max() < draws.gamma_max(shape)
    if shape == 2.0:
        assert distance(values, lambda x: 1 - math.exp(-x) * (1 + x)) < 1.95


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exponent", "ranks"), [(0.99, 1000), (1.0, 100), (1.1, 600_000), (0.8, 260), (2.0, 5), (0.0, 7), (1.1, 20_000_000)]
)
def test_zipf(exponent, ranks):
    found = draws.Zipf(exponent, ranks).ranks(STREAM, NUMBERS)
    assert found.min() >= 1
    assert found.max() <= ranks
    every = np.arange(1, ranks + 1, dtype=float)
    below = np.cumsum(every**-exponent)
    shares = below / below[-1]
    edges = np.unique(np.clip(np.geomspace(1, ranks, 40).astype(int), 1, ranks))
    counts = np.searchsorted(np.sort(found), edges, side="right") / COUNT
    assert abs(counts - shares[edges - 1]).max() < 1.95 / math.sqrt(COUNT)


def test_the_delays_of_the_klink_experiments_have_their_mean_and_deviation():
    """Zipf with exponent 0.99 over 1..1000 (ms): mean 137, standard deviation 224."""
    found = draws.Zipf(0.99, 1000).ranks(STREAM, NUMBERS)
    assert found.mean() == pytest.approx(137, rel=0.02)
    assert found.std() == pytest.approx(224, rel=0.02)


def test_a_draw_depends_on_its_counter_alone():
    chosen = np.array([5, 70_000, 5, 123_456])
    for draw in (
        draws.exponential,
        draws.normal,
        lambda stream, numbers: draws.gamma(stream, numbers, 1.5),
        lambda stream, numbers: draws.Zipf(1.1, 10**6).ranks(stream, numbers),
    ):
        assert draw(STREAM, chosen).tolist() == draw(STREAM, NUMBERS)[chosen].tolist()


def test_the_bits_are_the_same_on_every_machine():
    values = [
        draws.exponential(STREAM, NUMBERS),
        draws.lognormal(STREAM, NUMBERS, 0.75),
        draws.gamma(STREAM, NUMBERS, 3.56),
        draws.Zipf(1.1, 10**6).ranks(STREAM, NUMBERS),
    ]
    digest = hashlib.blake2b(b"".join(each.astype(each.dtype.newbyteorder("<")).tobytes() for each in values), digest_size=16)
    assert digest.hexdigest() == "4444c06db50d7cd052b122085d5e69e4"
