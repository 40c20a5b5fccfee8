"""The times of the occurrence `random`."""

from __future__ import annotations

import numpy as np

from engine.core.mathematics import ln
from engine.core.random import RandomStream
from engine.spec.base.units import seconds_ns
from engine.spec.experiment.occurrences.random import AtRandom


def next_ns(when: AtRandom, random: RandomStream, begun: int, now_ns: int) -> int:
    """After an exponentially distributed gap of at least 1 ns."""
    word = int(random.words(np.array([begun]))[0] >> np.uint64(11))
    share = np.array([(word + 0.5) / (1 << 53)])
    return now_ns + max(1, int(-float(ln(share)[0]) * seconds_ns(when.mean_s)))
