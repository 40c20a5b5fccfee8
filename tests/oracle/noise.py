"""The factors by which chance changes the cost of a service (docs/event-core.md, section 3.2), from their definitions."""

from __future__ import annotations

import functools
import hashlib
import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any

from .build import U64, mix64
from .plan import seconds

EDGES = [Fraction(64 + j, 64 * 2 ** (k + 1)) for k in range(32, 0, -1) for j in range(64)] + [Fraction(1, 2)]
"""Shares beyond a value, rising."""


def noise_word(names: tuple[Any, ...], service: int) -> int:
    digest = hashlib.blake2b("\x1f".join(map(str, names)).encode(), digest_size=8).digest()
    return mix64((service + 1) * 0x9E3779B97F4A7C15 + int.from_bytes(digest, "little") & U64)


def value(law: Any, share: float, upper: bool) -> float:
    """The value with this share of the law below it, or above it."""
    if law.kind == "exponential":
        return -math.log(share) if upper else -math.log1p(-share)
    side = 1 if upper else -1
    if law.kind == "lognormal":
        square = math.log(1 + law.cv**2)
        return math.exp(-side * math.sqrt(square) * NormalDist().inv_cdf(share) - square / 2)
    return 1 + side * math.sqrt(3) * law.cv * (1 - 2 * share)


@functools.cache
def table(law: Any) -> tuple[list[int], list[int]]:
    """Factors at the edges, in units of 2^-16: below and above the median."""
    below, above = ([math.floor(value(law, float(edge), upper) * 2**16 + 0.5) for edge in EDGES] for upper in (False, True))
    return below, above


def noise_factor(law: Any, word: int) -> int:
    v = max(word & U64 >> 1, 1 << 31)
    factors = table(law)[word >> 63]
    leading = v.bit_length() - 1
    edge = 64 * (leading - 31) + (v << 62 - leading >> 56) - 64
    rest = v << 62 - leading >> 40 & 0xFFFF
    return factors[edge] + ((factors[edge + 1] - factors[edge]) * rest >> 16)


def drift_factor(names: tuple[Any, ...], drift: Any, step: int) -> int:
    return drift_factors(names, drift, 1 << step.bit_length())[step]


@functools.cache
def drift_factors(names: tuple[Any, ...], drift: Any, count: int) -> list[int]:
    """The first factors of an autoregressive series."""
    kept = math.exp(-seconds(drift.step_s) / seconds(drift.time_constant_s))
    scaled = [math.floor(x * 2**32 + 0.5) for x in (kept, drift.sigma, drift.sigma * math.sqrt(1 - kept * kept))]
    state, found = 0, []
    for step in range(count):
        share = Fraction(2 * (noise_word(names, step) >> 11) + 1, 2**54)
        draw = math.floor(NormalDist().inv_cdf(float(share)) * 2**24 + 0.5)
        state = (scaled[0] * state >> 32) + (scaled[2] * draw >> 24) if step else scaled[1] * draw >> 24
        found.append(math.floor(math.exp(state / 2**32) * 2**16 + 0.5))
    return found
