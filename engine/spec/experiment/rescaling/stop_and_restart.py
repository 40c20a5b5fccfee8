"""Parameters of the rescaling `stop_and_restart`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.origins import Charge
from ...base.units import Number, quantity, seconds_ns
from .base import Rescaling


class StopAndRestart(Rescaling):
    """Sources stop, in-flight records are served, and a savepoint is taken. Then the job is deleted and restarts from the savepoint with
    the new parallelisms. Meanwhile input accumulates in the topics.
    """

    title: ClassVar[str] = "Stop and restart"
    source: ClassVar[str] = "Siachamis 2024, 4.3"
    begins_anew: ClassVar[bool] = True
    position: ClassVar[int] = 0
    kind: Literal["stop_and_restart"] = "stop_and_restart"
    restart_s: Number = quantity(
        30,
        unit="s",
        ge=0,
        le=1e6,
        title="Restart",
        description="Time from the complete savepoint until the new job starts to fetch it.",
        charge=Charge("assumed", "the authors measured outages of 30 to 45 s, 30 s in the median"),
    )

    @property
    def outage_ns(self) -> int:
        return seconds_ns(self.restart_s) + seconds_ns(self.pod_start_s)
