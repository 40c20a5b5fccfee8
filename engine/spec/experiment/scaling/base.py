"""Base of everything that changes the parallelism of a running query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator
from pydantic.config import JsonDict

from ...base.operator import Model
from ...base.origins import ASSUMED
from ...base.problems import Refusal
from ...base.units import Integer, Number, quantity, seconds_ns
from ...base.variant import Variant
from ...base.words import number_in_words
from ..rescaling import AnyRescaling
from ..rescaling.stop_and_restart import StopAndRestart

BY_OPERATOR: JsonDict = {"x-keys": "operator"}
"""The keys are operator ids, which forms offer for selection."""


PARALLELISM_MAX = 32_768
"""The limit of key groups and partitions."""


class Bounds(Model):
    """Parallelism bounds of an operator. The tightest bounds apply to operators connected by forward edges."""

    min: Integer = quantity(1, unit="instances", ge=1, le=PARALLELISM_MAX, title="Minimum", description="Lowest parallelism.")
    max: Integer | None = quantity(
        None,
        unit="instances",
        ge=1,
        le=PARALLELISM_MAX,
        title="Maximum",
        description="Highest parallelism. Default: limited by the number of instances, key groups and partitions.",
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.max is not None and self.max < self.min:
            message = f"max is {self.max}, below min ({self.min}); it must be at least min"
            raise Refusal(message, at=("max",), code="out_of_range", value=self.max)
        return self


class Order(Model):
    """A rescale at a given time of the run."""

    at_s: Number = quantity(unit="s", gt=0, le=1e9, title="At", description="Virtual time, before the end of the run's horizon.")
    parallelism: dict[str, Annotated[Integer, Field(ge=1, le=PARALLELISM_MAX)]] = Field(
        min_length=1,
        title="Parallelism",
        description="New parallelism by operator. Other operators keep theirs.",
        json_schema_extra=BY_OPERATOR,
    )

    @property
    def in_words(self) -> str:
        wanted = ", ".join(f"{operator} to {count}" for operator, count in self.parallelism.items())
        return f"{wanted} at {number_in_words(self.at_s, 's')}"


def objective_field() -> Any:
    description = "Longest time that records should wait in topics (service-level objective)."
    return quantity(5, unit="s", gt=0, le=1e6, title="Objective", description=description)


def capture_field() -> Any:
    description = "CPU time per savepoint of an instance. With coordinated checkpoints, their value applies."
    return quantity(1, unit="ms", ge=0, le=1e6, title="Capture", description=description, advanced=True, charge=ASSUMED)


def serialise_field() -> Any:
    description = "State serialised or deserialised by a core of speed 1. With coordinated checkpoints, their value applies."
    return quantity(30, unit="MB/s", ge=0.001, le=1e6, title="Serialisation", description=description, advanced=True, charge=ASSUMED)


class Rearranging(Variant):
    """Base of everything that changes how many instances the operators of a running query have, or where they are.

    Its kinds have the fields `rescaling` (how a change is carried out), `capture_ms` and `serialise_mb_per_s`.
    """

    facts: ClassVar[tuple[str, ...]] = ("decides_live", "relocates")
    decides_live: ClassVar[bool] = False  # it decides periodically during the run
    relocates: ClassVar[bool] = False  # it changes hosts, not parallelism
    by_hand: ClassVar[bool] = False  # only people order changes


class Scaling(Rearranging):
    """Base of everything that changes the parallelism of a running query."""

    plans_by_minute: ClassVar[bool] = False  # the work of its plan grows with the minutes of the run
    workers_max: Integer = quantity(
        70, unit="instances", ge=1, le=PARALLELISM_MAX, title="Instances", description="Largest number active at the same time."
    )
    operators: dict[str, Bounds] = Field(
        default_factory=dict,
        title="Bounds",
        description="Parallelism bounds by operator. Default: at least 1.",
        json_schema_extra=BY_OPERATOR,
    )
    rescaling: AnyRescaling = Field(default=StopAndRestart(), title="Rescaling", description="How a rescale is carried out.")
    orders: tuple[Order, ...] = Field(
        default=(), max_length=10_000, title="Orders", description="Rescales at given times, independent of the policy's decisions."
    )
    slo_s: Number = objective_field()
    capture_ms: Number = capture_field()
    serialise_mb_per_s: Number = serialise_field()

    @property
    def plans_ahead(self) -> bool:
        """Whether it plans from the whole load before the run."""
        return False

    @property
    def decides(self) -> bool:
        """Whether it sets parallelisms beyond the document's orders."""
        return self.decides_live or self.plans_ahead

    @property
    def known_shares(self) -> Mapping[str, float] | None:
        """Records served by each operator per source record, for plans; None if not needed."""
        return None

    @property
    def spare_capacity(self) -> float:
        """Capacity that a plan provides, as a multiple of the load."""
        return 1

    @property
    def plan_name(self) -> str:
        """Name of its plan within a sentence."""
        return str(getattr(self, "kind", ""))

    @model_validator(mode="after")
    def _orders_at_different_times(self) -> Self:
        times = [seconds_ns(order.at_s) for order in self.orders]
        for n, order in enumerate(self.orders):
            if times[n] in times[:n]:
                message = f"at_s is {order.at_s:g} in two orders; put all operators of one time into one order"
                raise Refusal(message, at=("orders", n, "at_s"), code="duplicate", value=order.at_s)
        return self


def refusal_without_shares(what: str) -> Refusal:
    message = f"per_input is empty, but {what} depends on it; give for each operator"
    return Refusal(f"{message} how many records it serves per source record", at=("per_input",), code="missing")
