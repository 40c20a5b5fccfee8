"""Lowers the noise and warm-up of an operator's cost to words (docs/event-core.md, section 3.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.core.layout import NOISE_BINS, NOISE_OCTAVES
from engine.core.mathematics import exp, ln, normal_quantile
from engine.core.random import RandomStream
from engine.core.world import Words
from engine.spec.noise import AnyNoise, ExponentialNoise, LognormalNoise, NoNoise, UniformNoise
from engine.spec.query import Cost

Floats = NDArray[np.float64]

FACTOR_UNIT = 1 << 16
EDGES = NOISE_OCTAVES * NOISE_BINS + 1  # of one half of the distribution


def shares() -> Floats:
    """The shares from 2^-33 to 1/2 at which factors stand in a table: NOISE_BINS to the octave. Shape (EDGES,)."""
    edge = np.arange(EDGES)
    octave, step = np.divmod(edge, NOISE_BINS)
    share: Floats = (1.0 + step / NOISE_BINS) * (((octave - NOISE_OCTAVES - 1 + 1023) << 52).astype(np.int64)).view(np.float64)
    return share


def quantiles(law: AnyNoise) -> tuple[Floats, Floats]:
    """The values that have those shares of the distribution below them, and those that have them above. Shapes (EDGES,)."""
    share = shares()
    match law:
        case ExponentialNoise():
            return -ln(1.0 - share), -ln(share)
        case LognormalNoise(cv=cv):
            square = ln(np.array([1.0 + cv * cv]))
            reach = np.sqrt(square) * normal_quantile(share)
            return exp(reach - square / 2), exp(-reach - square / 2)
        case UniformNoise(cv=cv):
            reach = np.sqrt(np.array([3.0])) * cv * (1.0 - 2.0 * share)
            return 1.0 - reach, 1.0 + reach
        case NoNoise():
            return np.ones(EDGES), np.ones(EDGES)


def factors(law: AnyNoise) -> Words:
    """Both halves, in units of 2^-16. Shape (2 x EDGES,)."""
    table: Words = np.floor(np.concatenate(quantiles(law)) * FACTOR_UNIT + 0.5).astype(np.int64)
    return table


def lower(cost: Cost, weight: int = 1) -> list[int]:
    """The words that `engine.core.tools.varied` reads, none where every service of equal work costs the same.

    weight: how many real records one that is served stands for.
    """
    noisy, warmup = not isinstance(cost.noise, NoNoise), cost.warmup
    if not noisy and warmup is None:
        return []
    extra, records = (warmup.extra, -(-warmup.records // weight)) if warmup is not None else (0, 0)
    return [extra, records, int(noisy), *(int(word) for word in (factors(cost.noise) if noisy else ()))]


def keys(seed: int, operator_id: str, parallelism: int) -> list[int]:
    """The keys of the random numbers of an operator's instances, as signed words."""
    return [RandomStream(seed, operator_id, "noise", index).key for index in range(parallelism)]
