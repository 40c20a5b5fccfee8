"""Noise distributions, one file each: how the costs of equal services vary. `engine.lowering.noises` has their quantiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import Noise

QUANTILES = "it returns the quantiles of the factor, counted from below and from above"
NOISES = Family("noises", __name__, Noise, {"quantiles": QUANTILES})

if TYPE_CHECKING:
    AnyNoise = Noise
else:
    AnyNoise = NOISES.union
