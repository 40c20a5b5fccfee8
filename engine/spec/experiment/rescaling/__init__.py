"""Rescaling mechanisms, one file each. `engine.rescaling` implements them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import Rescaling

SETUP = "it returns the classes of the job manager and the workers (`engine.rescaling.setup.RescalingSetup`)"
RESCALINGS = Family("rescalings", __name__, Rescaling, {"setup": SETUP})

if TYPE_CHECKING:
    AnyRescaling = Rescaling
else:
    AnyRescaling = RESCALINGS.union
