"""Partitionings, one file each: which instance receives which record of an edge. The event loop chooses the receiver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.family import Family
from .base import Keying as Keying
from .base import Partitioning as Partitioning

PARTITIONINGS = Family("partitionings", __name__, Partitioning, {"choose_receiver": "it returns the index of the receiver of a record"})

if TYPE_CHECKING:
    AnyPartitioning = Partitioning
else:
    AnyPartitioning = PARTITIONINGS.union
