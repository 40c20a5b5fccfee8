"""Parameters of the delay distribution `switched`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from ...base.units import Number, quantity
from .base import Delay
from .none import NoDelay
from .uniform import UniformDelay

if TYPE_CHECKING:
    AnyDelay = Delay


class SwitchedDelay(Delay):
    """One law for records made before a given time, another one for later ones: a network that changes."""

    title: ClassVar[str] = "Switched"
    position: ClassVar[int] = 8
    kind: Literal["switched"] = "switched"
    before: AnyDelay = Field(default=NoDelay(), title="Before", description="Law until the switch.")
    at_s: Number = quantity(30.0, unit="s", ge=0, le=1e8, title="At", description="Virtual time of the switch.")
    after: AnyDelay = Field(default=UniformDelay(max_ms=300), title="After", description="Law after the switch.")
