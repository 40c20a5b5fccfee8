"""Drifts, one file each: how all costs of an operator vary over time. `engine.lowering.drifts` has the factors of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import Drift

DRIFTS = Family("drifts", __name__, Drift, {"factors": "it returns the factors of the first steps of a run"})

if TYPE_CHECKING:
    AnyDrift = Drift
else:
    AnyDrift = DRIFTS.union
