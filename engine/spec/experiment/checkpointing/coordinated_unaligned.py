"""Coordinated checkpoints, unaligned."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.origins import ASSUMED
from ...base.units import Number, quantity, scaled
from .checkpoints import Checkpoints


class UnalignedCheckpoints(Checkpoints):
    """Rounds without alignment: barriers overtake queued records. An instance takes its checkpoint at the first barrier and adds the
    in-flight records of every other channel until its barrier arrives. Works on cycles.
    """

    title: ClassVar[str] = "Coordinated, unaligned"
    position: ClassVar[int] = 2
    loss_text: ClassVar[str] = "All instances roll back to the last confirmed round"
    kind: Literal["coordinated_unaligned"] = "coordinated_unaligned"
    replay_us: Number = quantity(
        20, unit="us", ge=0, le=1e9, title="Replay", description="Time per in-flight record in a recovery.", charge=ASSUMED
    )

    @property
    def replay_ns(self) -> int:
        return scaled(self.replay_us, 1000)
