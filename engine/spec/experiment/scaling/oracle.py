"""Parameters of the scaling `oracle`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ...base.units import Number, quantity
from .base import BY_OPERATOR, Scaling, refusal_without_shares


class Oracle(Scaling):
    """Knows the load beforehand, and what its own rescales cost: it divides the run into segments of whole minutes, each with one
    parallelism that carries the segment's load and makes up for its own outage, so that workers and actions are cheapest.
    """

    title: ClassVar[str] = "Oracle"
    position: ClassVar[int] = 3
    plans_by_minute: ClassVar[bool] = True
    kind: Literal["oracle"] = "oracle"
    drain_s: Number | None = quantity(
        300,
        unit="s",
        gt=0,
        le=1e8,
        title="Made up within",
        description="What came in an outage is served within this time; not given: never.",
    )
    action_cost_worker_s: Number = quantity(
        0, unit="worker s", ge=0, le=1e9, title="Cost of an action", description="What a rescale counts for, beside the workers."
    )
    headroom: Number = Field(
        default=1.0,
        ge=0.01,
        le=100,
        title="Headroom",
        description="Capacity for so many times the load: for what it does not know, such as noise and channels that hold few records.",
    )
    per_input: dict[str, Annotated[Number, Field(ge=0, le=1e6)]] = Field(
        default_factory=dict,
        title="Per input",
        description="Records that each operator serves for each record of the sources.",
        json_schema_extra=BY_OPERATOR,
    )

    @property
    def plans_ahead(self) -> bool:
        return True

    @property
    def known_shares(self) -> Mapping[str, float] | None:
        return self.per_input

    @property
    def spare_capacity(self) -> float:
        return self.headroom

    @model_validator(mode="after")
    def _knows_what_operators_serve(self) -> Self:
        if not self.per_input:
            raise refusal_without_shares("what carries a load")
        return self
