"""What all rates have in common."""

from __future__ import annotations

from pydantic import Field

from ...base.operator import Model
from ...base.units import Number, quantity
from ...base.variant import Variant

AUTOSCALERS = "Siachamis 2024, 4.5; the authors' load generator"


def per_second(default: float = ..., *, title: str, description: str, ge: float = 0) -> float:  # type: ignore[assignment]
    """A field for a rate."""
    rate: float = quantity(default, unit="records/s", ge=ge, le=1e9, title=title, description=description)
    return rate


def seconds(default: float = ..., *, title: str, description: str, ge: float = 0) -> float:  # type: ignore[assignment]
    """A field for a time or a length of time."""
    time: float = quantity(default, unit="s", ge=ge, le=1e8, title=title, description=description)
    return time


SEED = Field(
    default=1066, ge=0, le=2**47 - 1, title="Seed", description="Of the pattern alone: the load stays the same over the run's seeds."
)


class Step(Model):
    at_s: Number = seconds(title="From", description="Virtual time from which the rate holds.")
    per_s: Number = per_second(title="Rate", description="Records per second of virtual time.")


class Rate(Variant):
    """How many records a second are made for one source operator, all its partitions together."""

    def jumps(self) -> tuple[Step, ...]:
        """The steps of a rate that is constant between them, ascending; none of others, and of one that is constant all the time."""
        return ()

    def stretches(self) -> tuple[Step, ...]:
        """As `jumps`, but a rate that is constant all the time is one step."""
        return self.jumps()


class Pattern(Rate):
    """A rate that the document alone says. One of another package derives from this class and has a method `curve(horizon_ns)`, which
    returns an `engine.workloads.curves.Curve`.
    """
