"""Lowers noise, drift and warm-up of an operator's costs to words (docs/event-core.md, section 3.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.core.layout import NOISE_BINS, NOISE_FACTORS, NOISE_OCTAVES
from engine.core.random import RandomStream
from engine.core.tables import Words
from engine.lowering import drifts, noises
from engine.spec.base.family import kind_of
from engine.spec.base.variant import Variant
from engine.spec.experiment.drifts.base import FACTOR_BELOW as DRIFT_BELOW
from engine.spec.experiment.drifts.base import Drift
from engine.spec.experiment.noises.base import FACTOR_BELOW as NOISE_BELOW
from engine.spec.experiment.noises.base import Noise
from engine.spec.experiment.query import Cost

Floats = NDArray[np.float64]

FACTOR_UNIT = 1 << 16
EDGES = NOISE_OCTAVES * NOISE_BINS + 1  # entries for one half of the distribution


def shares() -> Floats:
    """The probabilities from 2^-33 to 1/2 at which a table holds factors: NOISE_BINS per octave. Shape (EDGES,)."""
    edge = np.arange(EDGES)
    octave, step = np.divmod(edge, NOISE_BINS)
    share: Floats = (1.0 + step / NOISE_BINS) * (((octave - NOISE_OCTAVES - 1 + 1023) << 52).astype(np.int64)).view(np.float64)
    return share


def factors(noise: Noise) -> Words:
    """Factors of both halves, in units of 2^-16. Shape (2 x EDGES,). Raises ValueError as `_words`."""
    return _words(noise, np.concatenate(noises.quantiles(noise, shares())), NOISE_BELOW)


def drift_factors(drift: Drift, seed: int, operator_id: str, end_ns: int) -> list[int]:
    """The factors of all steps of a run that ends at `end_ns`, in units of 2^-16; empty without drift. Raises ValueError as `_words`."""
    if not drift.step_ns:
        return []
    random = RandomStream(seed, operator_id, "drift")
    series: list[int] = _words(drift, drifts.factors(drift, random, end_ns // drift.step_ns + 1), DRIFT_BELOW).tolist()
    return series


def _words(law: Variant, factors: Floats, below: int) -> Words:
    """Factors in units of 2^-16. Raises ValueError for a negative, too large or NaN factor: costs would not fit a word."""
    if not ((factors >= 0) & (factors < below)).all():
        raise ValueError(
            f"{type(law).__module__}: '{kind_of(type(law))}' has factors from {factors.min():g} to {factors.max():g}; "
            f"they must be at least 0 and below {below}"
        )
    words: Words = np.floor(factors * FACTOR_UNIT + 0.5).astype(np.int64)
    return words


def lower(cost: Cost, drift: list[int], weight: int = 1) -> list[int]:
    """The words that `engine.core.kernels.service_cost.varied` reads; empty if equal work always costs the same.

    drift: `drift_factors` of the cost. weight: real records per record served.
    """
    if not cost.varies and cost.state_reference_mb is None:
        return []
    noisy, warmup = cost.noise.varies, cost.warmup
    table = factors(cost.noise).tolist() if noisy else []
    cold = [warmup.extra, warmup.records_of(weight), warmup.span_ns]
    return [*cold, int(noisy), cost.drift.step_ns, NOISE_FACTORS + len(table), cost.state_reference_bytes, *table, *drift]


def keys(seed: int, operator_id: str, parallelism: int) -> list[int]:
    """Random-number keys of an operator's instances, as signed words."""
    return [RandomStream(seed, operator_id, "noise", index).key for index in range(parallelism)]
