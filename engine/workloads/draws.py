"""Draws from distributions as pure functions of a random stream and counters (record numbers); the same bits on every machine.

Each returns one value per counter. Counters are below 2^40. The maximum of a draw is a property of the law, since draws use 53
random bits: `EXPONENTIAL_MAX`, `NORMAL_MAX`, `lognormal_max`, `gamma_max`.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from engine.core.mathematics import exp, ln, normal_quantile
from engine.core.random import RandomStream

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

UNIT_BITS = 53
EXPONENTIAL_MAX = 37.5  # -ln 2^-54 is 37.43
NORMAL_MAX = 8.3  # the quantile of 1 - 2^-54 is 8.29

ZIPF_TABLE = 1 << 16  # ranks with individual probabilities in the table; later ones follow the integral of the density
GAMMA_TRIES = 32  # each is accepted with a probability above 0.95


def unit(stream: RandomStream, counters: Integers) -> Floats:
    """Draw uniformly from (0, 1), on a grid of 2^53 points that excludes both ends."""
    return ((stream.words(counters) >> np.uint64(64 - UNIT_BITS)).astype(np.float64) + 0.5) * 2.0**-UNIT_BITS


def exponential(stream: RandomStream, counters: Integers) -> Floats:
    """Draw exponentially with mean 1."""
    return -ln(unit(stream, counters))


def normal(stream: RandomStream, counters: Integers) -> Floats:
    """Draw normally with mean 0 and standard deviation 1."""
    return normal_quantile(unit(stream, counters))


def lognormal(stream: RandomStream, counters: Integers, sigma: float) -> Floats:
    """Draw lognormally with median 1; the logarithm has the standard deviation sigma."""
    return exp(sigma * normal(stream, counters))


def lognormal_max(sigma: float) -> float:
    return float(exp(np.array([sigma * NORMAL_MAX]))[0])


def lognormal_sigma(cv: float) -> float:
    """Return the sigma of a lognormal distribution whose standard deviation is cv times its mean: sqrt(ln(1 + cv^2))."""
    return float(np.sqrt(ln(np.array([1.0 + cv * cv]))[0]))


def gamma(stream: RandomStream, counters: Integers, shape: float) -> Floats:
    """Draw from a gamma distribution with mean and variance `shape` (at least 1).

    Source: Marsaglia and Tsang 2000, "A simple method for generating gamma variables", ACM TOMS 26(3). Each try has its own counters.
    """
    d = shape - 1.0 / 3.0
    c = 1.0 / float(np.sqrt(9.0 * d))
    values = np.zeros(len(counters))
    open_places = np.arange(len(counters))
    for attempt in range(GAMMA_TRIES):
        base = counters[open_places] * (2 * GAMMA_TRIES) + 2 * attempt
        x, u = normal(stream, base), unit(stream, base + 1)
        root = 1.0 + c * x
        possible = root > 0
        v = np.where(possible, root * root * root, 1.0)
        accepted = possible & (ln(u) < 0.5 * x * x + d - d * v + d * ln(v))
        values[open_places[accepted]] = d * v[accepted]
        open_places = open_places[~accepted]
        if not len(open_places):
            break
    return values


def gamma_max(shape: float) -> float:
    d = shape - 1.0 / 3.0
    root = 1.0 + NORMAL_MAX / float(np.sqrt(9.0 * d))
    return d * root * root * root


class Zipf:
    """Ranks 1 .. ranks, rank k with a probability proportional to k^-exponent.

    The first 65,536 ranks have thresholds in a table, computed with our own logarithm; beyond them a rank is the rounded inverse of the
    integral of x^-exponent, which differs from the sum by less than one part in 10^9.
    """

    def __init__(self, exponent: float, ranks: int):
        self._exponent = exponent
        head = min(ranks, ZIPF_TABLE)
        weights = _power(np.arange(1, head + 1, dtype=np.float64), -exponent)
        self._low, self._high = (self._integral(end) for end in (head + 0.5, ranks + 0.5))  # of the density beyond the table
        total = float(np.cumsum(weights)[-1]) + (self._high - self._low)
        # Below 2^62: a word is compared in its 62 upper bits, where rounding of the last threshold cannot overflow.
        self._thresholds = np.minimum(np.cumsum(weights) / total * 2.0**62, 2.0**62).astype(np.int64)
        if ranks == head:
            self._thresholds[-1] = 1 << 62
        self._tail_share = (self._high - self._low) / total
        self._ranks, self._head = ranks, head

    def ranks(self, stream: RandomStream, counters: Integers) -> Integers:
        words = (stream.words(counters) >> np.uint64(2)).astype(np.int64)
        found: Integers = np.searchsorted(self._thresholds, words, side="right") + 1
        behind = np.flatnonzero(found > self._head)
        if len(behind):
            first = int(self._thresholds[-1])
            share = ((words[behind] - first).astype(np.float64) + 0.5) / float((1 << 62) - first)
            x = self._inverse(self._low + share * (self._high - self._low))
            found[behind] = np.minimum(np.maximum(np.floor(x + 0.5), self._head + 1), self._ranks).astype(np.int64)
        return found

    def _integral(self, end: float) -> float:
        """Return the integral of x^-exponent from 1 to `end`."""
        if self._exponent == 1.0:
            return float(ln(np.array([end]))[0])
        return (float(_power(np.array([end]), 1.0 - self._exponent)[0]) - 1.0) / (1.0 - self._exponent)

    def _inverse(self, area: Floats) -> Floats:
        if self._exponent == 1.0:
            return exp(area)
        return _power(1.0 + area * (1.0 - self._exponent), 1.0 / (1.0 - self._exponent))


@functools.lru_cache(maxsize=32)
def zipf(exponent: float, ranks: int) -> Zipf:
    """Return the cached table of a law."""
    return Zipf(exponent, ranks)


def _power(base: Floats, exponent: float) -> Floats:
    return exp(exponent * ln(base))
