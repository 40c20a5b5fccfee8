"""Balancing of worksets, one file each: which of them move to other workers (docs/similarity.md). `engine.similarity` implements them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import Balancing
from .none import NoBalancing

BALANCINGS = Family("balancings", __name__, Balancing, {"plan": "it makes the moves (`engine.similarity.loads`)"})

if TYPE_CHECKING:
    AnyBalancing = NoBalancing | Balancing
else:
    AnyBalancing = BALANCINGS.union
