"""Ways to carry out a rescale, a file each. What each does stands in `engine.rescaling`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import Rescaling

SETUP = "it returns the classes of job manager and workers (`engine.rescaling.setup.RescalingSetup`)"
RESCALINGS = Family("rescalings", __name__, Rescaling, {"setup": SETUP})

if TYPE_CHECKING:
    AnyRescaling = Rescaling
else:
    AnyRescaling = RESCALINGS.union
