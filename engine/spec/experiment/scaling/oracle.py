"""Parameters of the scaling `oracle`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ...base.units import Number, quantity
from .base import BY_OPERATOR, Scaling, refusal_without_shares


class Oracle(Scaling):
    """Knows the load and the cost of its own rescales in advance. It divides the run into segments of whole minutes, each with a
    parallelism that sustains the segment's load and catches up after its own outage, at the lowest cost of instances and actions.
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
        title="Catch up within",
        description="Time within which the backlog of an outage is served. If null, catching up is not required.",
    )
    action_cost_worker_s: Number = quantity(
        0, unit="instance s", ge=0, le=1e9, title="Cost of an action", description="Cost of a rescale, in addition to the instances."
    )
    headroom: Number = Field(
        default=1.0,
        ge=0.01,
        le=100,
        title="Headroom",
        description="Capacity, as a multiple of the load; a margin for effects not in its model, such as noise and small channels.",
    )
    per_input: dict[str, Annotated[Number, Field(ge=0, le=1e6)]] = Field(
        default_factory=dict,
        title="Per input",
        description="Records served by each operator per source record.",
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
            raise refusal_without_shares("the parallelism that sustains a load")
        return self
