"""Laws of noise, a file each: how the costs of equal services differ. `engine.lowering.noises` has the quantiles of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import Noise

QUANTILES = "it returns the factors with given shares of the law below and above them"
NOISES = Family("noises", __name__, Noise, {"quantiles": QUANTILES})

if TYPE_CHECKING:
    AnyNoise = Noise
else:
    AnyNoise = NOISES.union
