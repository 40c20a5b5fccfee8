"""Parameters of the balancing `local_search`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Integer, quantity
from .base import Balancing


class LocalSearchBalancing(Balancing):
    """Moves or exchanges worksets as long as that lowers the imbalance, the best change of the busiest worker first."""

    title: ClassVar[str] = "Local search"
    source: ClassVar[str] = "Siachamis 2024, artefact (local search)"
    position: ClassVar[int] = 3
    kind: Literal["local_search"] = "local_search"

    steps_max: Integer = quantity(1000, unit="steps", ge=1, le=100_000, title="Most steps", description="Changes of one plan, at most.")
