"""When a fault of a host happens."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ..base.units import Number, quantity
from ..base.variant import Variant


class At(Variant):
    """Once, at a time of the run."""

    title: ClassVar[str] = "At a time"
    kind: Literal["at"] = "at"
    at_s: Number = quantity(unit="s", ge=0, le=1e9, title="At", description="Virtual time; before the end of the run's horizon.")


class AtRandom(Variant):
    """Again and again, with exponentially distributed spans between the end of one and the start of the next, from the workload's seed."""

    title: ClassVar[str] = "At random"
    kind: Literal["random"] = "random"
    mean_s: Number = quantity(unit="s", ge=0.001, le=1e9, title="Mean span", description="Mean time from the end of one to the next.")


AnyOccurrence = Annotated[At | AtRandom, Field(discriminator="kind")]
