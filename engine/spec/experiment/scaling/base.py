"""What all that change the parallelism of a running query have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator
from pydantic.config import JsonDict

from ...base.operator import Model
from ...base.problems import Refusal
from ...base.units import Integer, Number, quantity, seconds_ns
from ...base.variant import Variant
from ..rescaling import AnyRescaling
from ..rescaling.stop_and_restart import StopAndRestart

BY_OPERATOR: JsonDict = {"x-keys": "operator"}
"""The names of the entries are ids of operators: forms offer them."""


PARALLELISM_MAX = 32_768
"""As many as key groups and partitions can be."""


class Bounds(Model):
    """How far an operator may be scaled. Of operators that forward edges connect the tightest bounds hold."""

    min: Integer = quantity(1, unit="instances", ge=1, le=PARALLELISM_MAX, title="Least", description="Least parallelism.")
    max: Integer | None = quantity(
        None,
        unit="instances",
        ge=1,
        le=PARALLELISM_MAX,
        title="Most",
        description="Greatest parallelism; not given: as many as there are workers, key groups or partitions.",
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.max is not None and self.max < self.min:
            message = f"max is {self.max}, less than min, {self.min}; it must be at least as large"
            raise Refusal(message, at=("max",), code="out_of_range", value=self.max)
        return self


class Order(Model):
    """A wish for other parallelisms, at a time of the run."""

    at_s: Number = quantity(unit="s", gt=0, le=1e9, title="At", description="Virtual time; before the end of the run's horizon.")
    parallelism: dict[str, Annotated[Integer, Field(ge=1, le=PARALLELISM_MAX)]] = Field(
        min_length=1, title="Parallelism", description="By operator; those that are not named keep theirs.", json_schema_extra=BY_OPERATOR
    )


class Scaling(Variant):
    """What all that change the parallelism have in common."""

    facts: ClassVar[tuple[str, ...]] = ("decides_live",)
    decides_live: ClassVar[bool] = False  # whether it is asked again and again during the run
    by_hand: ClassVar[bool] = False  # whether people alone order rescales
    plans_by_minute: ClassVar[bool] = False  # whether its plan takes work for each minute of the run
    workers_max: Integer = quantity(
        70, unit="workers", ge=1, le=PARALLELISM_MAX, title="Workers", description="So many instances may be active at a time."
    )
    operators: dict[str, Bounds] = Field(
        default_factory=dict, title="Bounds", description="By operator; the others may have 1 and more.", json_schema_extra=BY_OPERATOR
    )
    rescaling: AnyRescaling = Field(default=StopAndRestart(), title="Rescaling", description="How an order is carried out.")
    orders: tuple[Order, ...] = Field(
        default=(), max_length=10_000, title="Orders", description="Rescales at given times, whatever a policy decides."
    )
    slo_s: Number = quantity(5, unit="s", gt=0, le=1e6, title="Objective", description="Records should not wait in topics for longer.")
    capture_ms: Number = quantity(
        1,
        unit="ms",
        ge=0,
        le=1e6,
        title="Capture",
        description="Work of the processor for the savepoint of an instance; with coordinated checkpoints theirs is taken.",
    )
    serialise_mb_per_s: Number = quantity(
        30,
        unit="MB/s",
        ge=0.001,
        le=1e6,
        title="Serialisation",
        description="State that a core of speed 1 writes or reads; with coordinated checkpoints theirs is taken.",
    )

    @property
    def plans_ahead(self) -> bool:
        """Whether its plan follows from the whole load, before the run."""
        return False

    @property
    def decides(self) -> bool:
        """Whether parallelisms follow from anything but the document's orders."""
        return self.decides_live or self.plans_ahead

    @property
    def known_shares(self) -> Mapping[str, float] | None:
        """Records that each operator serves for each record of the sources, for plans; None where it needs none."""
        return None

    @property
    def spare_capacity(self) -> float:
        """A plan takes instances for such a multiple of the load to be at capacity."""
        return 1

    @property
    def plan_name(self) -> str:
        """Of its plan, in a sentence."""
        return str(getattr(self, "kind", ""))

    @model_validator(mode="after")
    def _orders_at_different_times(self) -> Self:
        times = [seconds_ns(order.at_s) for order in self.orders]
        for n, order in enumerate(self.orders):
            if times[n] in times[:n]:
                message = f"at_s is {order.at_s:g} in two orders; name all operators of one moment in one order"
                raise Refusal(message, at=("orders", n, "at_s"), code="duplicate", value=order.at_s)
        return self


def refusal_without_shares(what: str) -> Refusal:
    message = f"per_input is empty, and {what} follows from it; give for each operator"
    return Refusal(f"{message} how many records it serves for each record of the sources", at=("per_input",), code="missing")
