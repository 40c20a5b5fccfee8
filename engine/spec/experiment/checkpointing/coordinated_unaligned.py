"""Coordinated checkpoints, unaligned."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Number, quantity, scaled
from .checkpoints import Checkpoints


class UnalignedCheckpoints(Checkpoints):
    """Rounds whose barriers overtake what waits, so that none waits for them: an instance takes its checkpoint with the first barrier, and
    what is under way on its channels until theirs come is part of it. It works on cycles.
    """

    title: ClassVar[str] = "Coordinated, unaligned"
    position: ClassVar[int] = 2
    loss_text: ClassVar[str] = "All instances go back to the last confirmed round"
    kind: Literal["coordinated_unaligned"] = "coordinated_unaligned"
    replay_us: Number = quantity(
        20, unit="us", ge=0, le=1e9, title="Replaying", description="In a recovery, for each record that was under way."
    )

    @property
    def replay_ns(self) -> int:
        return scaled(self.replay_us, 1000)
