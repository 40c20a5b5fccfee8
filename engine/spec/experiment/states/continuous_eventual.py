"""Parameters of the state `continuous_eventual`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import model_validator

from ...base.problems import Refusal
from ...base.units import Integer, quantity
from .replayed import ReplayedState


class ContinuousEventual(ReplayedState):
    """Operators keep their state in memory, and their output log also has checkpoints of single windows. The window with the oldest one is
    checkpointed whenever a recovery would read, or process again, more than it may. Nothing counts twice."""

    title: ClassVar[str] = "Continuous eventual checkpoints"
    source: ClassVar[str] = "Chronarakis 2019, 3.3"
    position: ClassVar[int] = 3
    kind: Literal["continuous_eventual"] = "continuous_eventual"
    records_max: Integer | None = quantity(
        None,
        ge=1,
        le=10**9,
        title="Records to read",
        description="Of the output log, in a recovery; at least one for each open window. Default: any number.",
    )
    replay_max: Integer | None = quantity(
        10_000, ge=1, le=10**9, title="Records to process again", description="Of the input, in a recovery. null: any number."
    )

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        return self.records_max, self.replay_max

    @model_validator(mode="after")
    def _has_a_bound(self) -> ContinuousEventual:
        if self.records_max is None and self.replay_max is None:
            message = "neither records_max nor replay_max is given, so no window would be checkpointed; give one, or choose upstream_backup"
            raise Refusal(message, at=("replay_max",), code="no_bound", value=None)
        return self
