"""Lowers what varies the cost of an operator's services to words (docs/event-core.md, section 3.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.core.layout import NOISE_BINS, NOISE_FACTORS, NOISE_OCTAVES
from engine.core.mathematics import exp, ln, normal_quantile
from engine.core.random import RandomStream
from engine.core.tables import Words
from engine.spec.experiment.noise import (
    AnyDrift,
    AnyNoise,
    AutoregressiveDrift,
    ExponentialNoise,
    LognormalNoise,
    NoDrift,
    NoNoise,
    NoWarmUp,
    UniformNoise,
)
from engine.spec.experiment.query import Cost
from engine.workloads.draws import normal

Floats = NDArray[np.float64]

FACTOR_UNIT = 1 << 16
DRAW_UNIT = 1 << 24  # of normal values that drift is made of ...
STATE_UNIT = 1 << 32  # ... and of the logarithm of its factors
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


def drift_factors(drift: AnyDrift, seed: int, operator_id: str, end_ns: int) -> list[int]:
    """The factors of all steps of a run that ends at `end_ns`, in units of 2^-16; none without drift."""
    if isinstance(drift, NoDrift):
        return []
    kept, sigma, fresh = _autoregression(drift)
    steps = end_ns // drift.step_ns + 1
    values = normal(RandomStream(seed, operator_id, "drift"), np.arange(steps))
    draws = np.floor(values * DRAW_UNIT + 0.5).astype(np.int64).tolist()
    state = sigma * draws[0] // DRAW_UNIT
    states = [state]
    for draw in draws[1:]:
        state = kept * state // STATE_UNIT + fresh * draw // DRAW_UNIT
        states.append(state)
    factors: list[int] = np.floor(exp(np.array(states) / STATE_UNIT) * FACTOR_UNIT + 0.5).astype(np.int64).tolist()
    return factors


def _autoregression(drift: AutoregressiveDrift) -> tuple[int, int, int]:
    """What a step keeps of the last state, the standard deviation, and that of what a step adds, in units of 2^-32."""
    kept = exp(np.array([-drift.step_ns / drift.time_constant_ns]))
    added = drift.sigma * np.sqrt(1.0 - kept * kept)
    return tuple(int(word) for word in np.floor(np.array([kept[0], drift.sigma, added[0]]) * STATE_UNIT + 0.5))  # type: ignore[return-value]


def lower(cost: Cost, drift: list[int], weight: int = 1) -> list[int]:
    """The words that `engine.core.kernels.service_cost.varied` reads, none where every service of equal work costs the same.

    drift: `drift_factors` of the cost. weight: how many real records one that is served stands for.
    """
    noisy, warmup = not isinstance(cost.noise, NoNoise), cost.warmup
    if not noisy and not drift and isinstance(warmup, NoWarmUp) and cost.state_reference_mb is None:
        return []
    step_ns = 0 if isinstance(cost.drift, NoDrift) else cost.drift.step_ns
    table = [int(word) for word in (factors(cost.noise) if noisy else ())]
    cold = [warmup.extra, warmup.records_of(weight), warmup.span_ns]
    return [*cold, int(noisy), step_ns, NOISE_FACTORS + len(table), cost.state_reference_bytes, *table, *drift]


def keys(seed: int, operator_id: str, parallelism: int) -> list[int]:
    """The keys of the random numbers of an operator's instances, as signed words."""
    return [RandomStream(seed, operator_id, "noise", index).key for index in range(parallelism)]
