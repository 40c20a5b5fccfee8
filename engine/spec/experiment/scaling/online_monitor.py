"""Parameters of `online_monitor`: moves decided from loads and traffic."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from ...base.problems import Refusal
from ...base.units import Number, quantity, seconds_ns
from .moving import Moving


class OnlineMonitor(Moving):
    """Measures the CPU load of operators and the traffic between them, and moves operators that talk much to one host, as far as its
    CPU allows. It knows nothing of a host but its CPU.
    """

    title: ClassVar[str] = "Online monitor"
    source: ClassVar[str] = "Aniello 2013; Heinrich 2024, V-B"
    position: ClassVar[int] = 21
    decides_live: ClassVar[bool] = True
    kind: Literal["online_monitor"] = "online_monitor"
    start_s: Number = quantity(
        30, unit="s", ge=0, le=1e8, title="Begin after", description="Least time before it measures: the query's rates become steady."
    )
    sample_s: Number = quantity(10, unit="s", ge=0.001, le=1e6, title="Sample", description="Time between two readings of all counters.")
    steady: Number = Field(
        default=0.05,
        gt=0,
        le=10,
        title="Steady below",
        description="It measures once throughput changes by less than this share from one sample to the next.",
    )
    window_s: Number = quantity(
        30,
        unit="s",
        ge=0.001,
        le=1e6,
        title="Window",
        description="Span over which loads and traffic are measured; a multiple of a sample.",
    )
    every_s: Number = quantity(30, unit="s", ge=0.001, le=1e6, title="Period", description="Time from one look to the next.")
    improvement: Number = Field(
        default=0.1, ge=0, le=1, title="Improvement", description="Share of the traffic between hosts that a move must save."
    )
    capacity: Number = Field(default=0.9, gt=0, le=1, title="Capacity", description="Share of a host's CPU that its operators may take.")

    @model_validator(mode="after")
    def _whole_samples(self) -> Self:
        if seconds_ns(self.window_s) % seconds_ns(self.sample_s):
            message = f"window_s is {self.window_s:g}, but sample_s is {self.sample_s:g}; window_s must be a multiple of sample_s"
            raise Refusal(message, at=("window_s",), code="out_of_range", value=self.window_s)
        return self

    @property
    def first_look_ns(self) -> int:
        """Earliest time of a look: throughput is compared over two samples, and then loads and traffic are measured over a window."""
        sample_ns = seconds_ns(self.sample_s)
        steady_ns = max(seconds_ns(self.start_s), 2 * sample_ns)
        return -(-steady_ns // sample_ns) * sample_ns + seconds_ns(self.window_s)
