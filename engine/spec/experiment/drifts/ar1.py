"""Parameters of the drift `ar1`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Number, quantity, seconds_ns
from .base import Drift


class AutoregressiveDrift(Drift):
    """The logarithm of the factor follows a first-order autoregressive process around 0, shared by all instances of the operator. It
    models temporary effects of caches, clocks or neighbours. The median factor is 1.
    """

    title: ClassVar[str] = "Autoregressive, AR(1)"
    position: ClassVar[int] = 1
    kind: Literal["ar1"] = "ar1"
    sigma: Number = Field(default=0.06, ge=0, le=0.25, title="Sigma", description="Standard deviation of the factor's logarithm.")
    time_constant_s: Number = quantity(
        30.0, unit="s", ge=0.001, le=1e6, title="Time constant", description="Time after which a deviation has decayed to e^-1 on average."
    )
    step_s: Number = quantity(1.0, unit="s", ge=0.001, le=1e6, title="Step", description="Time for which a factor holds.")

    @property
    def time_constant_ns(self) -> int:
        return seconds_ns(self.time_constant_s)
