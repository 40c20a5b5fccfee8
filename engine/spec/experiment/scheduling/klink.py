"""Parameters of the scheduling policy `klink`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.origins import ASSUMED
from ...base.units import ADVANCED, Integer, Number, quantity
from .base import Scheduling


class Klink(Scheduling):
    """The query with the least slack runs first: the time until the watermark that closes its next window is expected, less the time that
    its waiting records need. When memory fills, it first serves what frees the most of it.
    """

    title: ClassVar[str] = "Klink"
    source: ClassVar[str] = "Farhat 2020, 3"
    position: ClassVar[int] = 1
    kind: Literal["klink"] = "klink"
    needs_windows: ClassVar[bool] = True
    confidence: Number = Field(
        default=0.95, gt=0, lt=1, title="Confidence", description="Confidence f of the interval in which the next watermark is expected."
    )
    history: Integer = quantity(
        400, unit="epochs", ge=1, le=10_000, title="History", description="Number m of past epochs whose delays are averaged."
    )
    estimator: Literal["history", "regression"] = Field(
        default="history",
        title="Estimator",
        description="What predicts the next watermark: mean and variance of past delays, or a linear regression over the last delay and "
        "the last epoch's mean, which gives a point that hits within one cycle.",
        json_schema_extra=ADVANCED,
    )
    variance: Literal["event", "printed"] = Field(
        default="event",
        title="Variance",
        description="That of a single delay, or that of the mean of the history, as in the source's Eq. 3.6, which is far too small.",
        json_schema_extra=ADVANCED,
    )
    normalise: bool = Field(
        default=False,
        title="Normalise",
        description="Whether the probabilities of the bins of slack are scaled to a sum of 1.",
        json_schema_extra=ADVANCED,
    )
    memory_threshold: Number | None = Field(
        default=None,
        gt=0,
        le=1,
        title="Memory threshold",
        description="Share b of a host's memory budget from which it serves first what frees the most memory, 0.8 in the source. Null: "
        "never.",
    )
    forwarding: bool = Field(
        default=True,
        title="Forwarding",
        description="Whether each host tells those downstream of its sources, and those upstream of what waits, in each cycle.",
        json_schema_extra=ADVANCED,
    )
    bin_us: Number = quantity(
        25, unit="us", ge=0, le=1e6, title="Slack bin", description="CPU time per bin of expected slack.", advanced=True, charge=ASSUMED
    )

    @property
    def epochs_kept(self) -> int:
        return self.history

    @property
    def forwards(self) -> bool:
        return self.forwarding

    @property
    def bin_cost_us(self) -> float:
        return self.bin_us
