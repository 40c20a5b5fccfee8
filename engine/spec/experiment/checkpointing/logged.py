"""Parameters shared by protocols that log channels."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from ...base.origins import Charge
from ...base.problems import Refusal
from ...base.units import Number, milliseconds_ns, quantity, scaled, seconds_ns
from .base import Semantics
from .checkpoints import Checkpoints

REPLAY = Charge("fitted", fitted_to=("checkmate/3.11",))


class LoggedCheckpoints(Checkpoints):
    """Base of protocols that log channels."""

    jitter_s: Number = quantity(
        1,
        unit="s",
        ge=0,
        le=1e6,
        title="Jitter",
        description="Random deviation of each checkpoint interval: up to this much shorter or longer.",
        advanced=True,
    )
    semantics: Semantics = Field(
        default="exactly_once",
        title="Semantics",
        description="In-flight records after a loss. exactly_once: replayed, counted once. at_least_once: all logged records replayed. "
        "at_most_once: lost.",
    )
    log: bool = Field(default=True, title="Log", description="Log the channels.")
    log_share: Number = quantity(
        0.1,
        ge=0,
        le=10,
        title="Logging work",
        description="Work per logged record, as a share of its operator's work per record.",
        advanced=True,
        charge=Charge("fitted", fitted_to=("checkmate/3.7",)),
    )
    open_log_ms: Number = quantity(
        5,
        unit="ms",
        ge=0,
        le=1e6,
        title="Opening a log",
        description="Time per replayed channel in a recovery.",
        advanced=True,
        charge=REPLAY,
    )
    replay_us: Number = quantity(
        20,
        unit="us",
        ge=0,
        le=1e9,
        title="Replay",
        description="Time per replayed record in a recovery.",
        advanced=True,
        charge=REPLAY,
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
                f"semantics is {self.semantics}, but channels are not logged, so records in flight when a host is lost could not be "
                "replayed; log them, or choose at_most_once"
            )
            raise Refusal(message, at=("semantics",), value=self.semantics)
        if self.jitter_ns >= self.interval_ns:
            message = f"jitter_s is {self.jitter_s:g}, not below interval_s ({self.interval_s:g}), so an interval could be empty; lower it"
            raise Refusal(message, at=("jitter_s",), code="out_of_range", value=self.jitter_s)
        return self
