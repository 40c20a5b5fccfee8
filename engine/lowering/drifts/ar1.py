"""The factors of the drift `ar1` (docs/event-core.md, section 3.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.core.mathematics import exp
from engine.core.random import RandomStream
from engine.spec.experiment.drifts.ar1 import AutoregressiveDrift
from engine.workloads.draws import normal

DRAW_UNIT = 1 << 24  # unit of the normal values that the series is built from ...
STATE_UNIT = 1 << 32  # ... and of the logarithm of its factors


def factors(drift: AutoregressiveDrift, random: RandomStream, steps: int) -> NDArray[np.float64]:
    """Compute the steps in sequence, in integers, so that the series is the same on every machine."""
    kept, sigma, fresh = _autoregression(drift)
    draws = np.floor(normal(random, np.arange(steps)) * DRAW_UNIT + 0.5).astype(np.int64).tolist()
    state = sigma * draws[0] // DRAW_UNIT
    states = [state]
    for draw in draws[1:]:
        state = kept * state // STATE_UNIT + fresh * draw // DRAW_UNIT
        states.append(state)
    return exp(np.array(states) / STATE_UNIT)


def _autoregression(drift: AutoregressiveDrift) -> tuple[int, int, int]:
    """The share of the last state that a step keeps, the standard deviation, and that of a step's innovation, in units of 2^-32."""
    kept = exp(np.array([-drift.step_ns / drift.time_constant_ns]))
    added = drift.sigma * np.sqrt(1.0 - kept * kept)
    return tuple(int(word) for word in np.floor(np.array([kept[0], drift.sigma, added[0]]) * STATE_UNIT + 0.5))  # type: ignore[return-value]
