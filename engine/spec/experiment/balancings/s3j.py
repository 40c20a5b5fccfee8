"""Parameters of the balancing `s3j`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Number, quantity
from .base import Balancing


class S3JBalancing(Balancing):
    """Moves one workset after another from workers above the mean load to workers below it, that of the largest benefit first. A workset
    whose load alone exceeds the mean stays."""

    title: ClassVar[str] = "S3J"
    source: ClassVar[str] = "Siachamis 2024, Algorithm 1"
    position: ClassVar[int] = 1
    kind: Literal["s3j"] = "s3j"

    accept: Literal["net", "text", "listing"] = Field(
        default="net",
        title="Accept",
        description="Which workers may receive. net: if the imbalance falls by more than the cost of the move; text: if the receiver comes "
        "nearer to the mean; listing: any below the mean.",
    )
    per_byte: Number = quantity(
        0.0, unit="load/byte", ge=0, le=1e9, title="Cost of a byte", description="Load that moving a byte counts as: comparisons, or us."
    )
