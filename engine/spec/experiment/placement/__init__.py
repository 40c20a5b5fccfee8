"""Placement strategies, a file each: which instance stands on which host. What each does stands in `engine.placement`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from ...base.variant import Variant
from .base import Placement

PLACEMENTS = Family("placements", __name__, Placement, {"place": "it says which instance stands on which host"})

if TYPE_CHECKING:
    AnyPlacement = Variant
else:
    AnyPlacement = PLACEMENTS.union
