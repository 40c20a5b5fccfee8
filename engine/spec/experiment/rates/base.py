"""Base classes of all rates."""

from __future__ import annotations

from pydantic import Field

from ...base.operator import Model
from ...base.units import Number, quantity
from ...base.variant import Variant

AUTOSCALERS = "Siachamis 2024, 4.5; the authors' load generator"


def per_second(default: float = ..., *, title: str, description: str, ge: float = 0) -> float:  # type: ignore[assignment]
    """A field for a rate, in records/s."""
    rate: float = quantity(default, unit="records/s", ge=ge, le=1e9, title=title, description=description)
    return rate


def seconds(default: float = ..., *, title: str, description: str, ge: float = 0) -> float:  # type: ignore[assignment]
    """A field for a time or a duration, in s."""
    time: float = quantity(default, unit="s", ge=ge, le=1e8, title=title, description=description)
    return time


SEED = Field(
    default=1066, ge=0, le=2**47 - 1, title="Seed", description="Seed of the pattern alone. The load is the same for all seeds of the run."
)


class Step(Model):
    at_s: Number = seconds(title="From", description="Virtual time from which this rate applies.")
    per_s: Number = per_second(title="Rate", description="Records per second of virtual time.")


class Rate(Variant):
    """Rate of one source operator in records per second, all partitions together."""

    def jumps(self) -> tuple[Step, ...]:
        """The steps of a piecewise constant rate, ascending. Empty for other rates, and for a rate that never changes."""
        return ()

    def stretches(self) -> tuple[Step, ...]:
        """Like `jumps`, but a rate that never changes is a single step."""
        return self.jumps()


class Pattern(Rate):
    """A rate defined by the document alone. A kind of another package derives from this class and has a method `curve(horizon_ns)`, which
    returns an `engine.workloads.curves.Curve`.
    """
