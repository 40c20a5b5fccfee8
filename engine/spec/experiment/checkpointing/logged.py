"""What protocols with logs of channels share."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from ...base.problems import Refusal
from ...base.units import Number, milliseconds_ns, quantity, scaled, seconds_ns
from .base import Semantics
from .checkpoints import Checkpoints


class LoggedCheckpoints(Checkpoints):
    """What protocols with logs of channels have in common."""

    jitter_s: Number = quantity(
        1,
        unit="s",
        ge=0,
        le=1e6,
        title="Jitter",
        description="Each span between two checkpoints is the interval, so much less, or so much more, by chance.",
    )
    semantics: Semantics = Field(
        default="exactly_once",
        title="Semantics",
        description="Of records that were under way: sent again and counted once; all that is logged sent again; gone.",
    )
    log: bool = Field(default=True, title="Log", description="Whether channels are logged.")
    log_share: Number = Field(
        default=0.1,
        ge=0,
        le=10,
        title="Logging",
        description="Work for each record that is logged, as a share of what its operator takes for one.",
    )
    open_log_ms: Number = quantity(
        5, unit="ms", ge=0, le=1e6, title="Opening a log", description="In a recovery, for each channel from which something is sent again."
    )
    replay_us: Number = quantity(
        20, unit="us", ge=0, le=1e9, title="Replaying", description="In a recovery, for each record that is sent again."
    )

    @property
    def jitter_ns(self) -> int:
        return seconds_ns(self.jitter_s)

    @property
    def open_log_ns(self) -> int:
        return milliseconds_ns(self.open_log_ms)

    @property
    def replay_ns(self) -> int:
        return scaled(self.replay_us, 1000)

    @property
    def promise(self) -> Semantics:
        return self.semantics

    @property
    def logs_channels(self) -> bool:
        return self.log

    @property
    def log_work(self) -> float:
        return self.log_share if self.log else 0.0

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        if not self.log and self.semantics != "at_most_once":
            message = (
                f"semantics is {self.semantics}, but channels are not logged: what was under way when a host is lost could not be sent "
                "again; log them, or choose at_most_once"
            )
            raise Refusal(message, at=("semantics",), value=self.semantics)
        if self.jitter_ns >= self.interval_ns:
            message = f"jitter_s is {self.jitter_s:g}, not less than interval_s, {self.interval_s:g}; a span would be nothing"
            raise Refusal(message, at=("jitter_s",), code="out_of_range", value=self.jitter_s)
        return self
