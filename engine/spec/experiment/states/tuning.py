"""Goals of an agent that tunes how often changelogs are compacted."""

from __future__ import annotations

from pydantic import model_validator

from ...base.operator import Model
from ...base.problems import Refusal
from ...base.units import Number, quantity, seconds_ns


class Tuning(Model):
    """An agent looks at the changelogs from time to time, and takes one step towards compacting more if a goal is missed, or one back if
    half of it would do, or if the broker's CPU is above its limit, which comes first.

    Source: Chronarakis 2019, 5 (the idea); the steps are ours.
    """

    changelog_mb: Number | None = quantity(
        None, unit="MB", gt=0, le=1e9, title="Changelogs", description="Goal for the size of all changelogs together."
    )
    restore_s: Number | None = quantity(
        None, unit="s", gt=0, le=1e6, title="Restore", description="Goal for the longest restore of a store from its changelog."
    )
    broker_busy: Number | None = quantity(
        None, unit="share", gt=0, le=1, title="Broker's CPU", description="Limit for the share of the broker's cores in use."
    )
    every_s: Number = quantity(30.0, unit="s", gt=0, le=1e6, title="Every", description="Time between two looks.")

    @model_validator(mode="after")
    def _has_a_goal(self) -> Tuning:
        if self.changelog_mb is None and self.restore_s is None:
            message = "there is no goal; give changelog_mb or restore_s"
            raise Refusal(message, at=("changelog_mb",), code="no_goal", value=None)
        return self

    @property
    def every_ns(self) -> int:
        return seconds_ns(self.every_s)
