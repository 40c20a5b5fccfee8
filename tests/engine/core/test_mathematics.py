"""Our own functions against those of the standard library, within a few units in the last place, and pinned bits."""

from __future__ import annotations

import hashlib
import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.core.mathematics import cosine, exp, ln, normal_quantile

ULP = 2.0**-52


def one(function, x: float) -> float:
    return float(function(np.array([x]))[0])


@given(st.floats(1e-300, 1e300) | st.floats(0.5, 2.0))
@example(1.0)
@example(math.sqrt(2))
@example(1 - 2**-53)
def test_the_logarithm(x):
    assert one(ln, x) == pytest.approx(math.log(x), rel=4 * ULP, abs=1e-18)


@given(st.floats(-708, 709) | st.floats(-1, 1))
@example(0.0)
@example(709.0)
@example(-708.0)
def test_the_exponential(x):
    assert one(exp, x) == pytest.approx(math.exp(x), rel=1e-15 + abs(x) * ULP)


def test_the_exponential_stays_finite():
    assert [one(exp, x) for x in (-1e9, 1e9)] == [one(exp, -708.0), one(exp, 709.0)]


@given(st.floats(2.0**-54, 1 - 2.0**-53))
@example(0.5)
@example(2.0**-54)
@example(1 - 2.0**-53)
@example(0.075)
def test_the_normal_quantile(share):
    assert one(normal_quantile, share) == pytest.approx(NormalDist().inv_cdf(share), rel=1e-13, abs=1e-16)


@given(st.floats(-1000, 1000))
@example(0.25)
@example(0.5)
@example(1 / 6)
def test_the_cosine(turns):
    assert one(cosine, turns) == pytest.approx(math.cos(2 * math.pi * math.fmod(turns, 1)), abs=1e-12)


def test_ends_and_whole_numbers_are_exact():
    assert one(ln, 1.0) == 0.0
    assert one(exp, 0.0) == 1.0
    assert [one(cosine, turns) for turns in (0.0, 0.5, 1.0, 7.0)] == [1.0, -1.0, 1.0, 1.0]
    assert one(normal_quantile, 0.5) == 0.0


def test_the_bits_are_the_same_on_every_machine():
    shares = np.arange(1, 20_000) / 20_000.0
    shares *= shares * shares
    bytes = b"".join(values.astype("<f8").tobytes() for values in (ln(shares), exp(100 * shares - 50), normal_quantile(shares)))
    assert hashlib.blake2b(bytes, digest_size=16).hexdigest() == "490c7f84ae5217ffd2504a4872184388"
