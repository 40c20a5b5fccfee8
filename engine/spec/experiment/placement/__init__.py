"""Placement strategies, one file each: which instance runs on which host. `engine.placement` implements them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from ...base.variant import Variant
from .base import Placement

PLACEMENTS = Family("placements", __name__, Placement, {"place": "it returns which instance runs on which host"})

if TYPE_CHECKING:
    AnyPlacement = Variant
else:
    AnyPlacement = PLACEMENTS.union
