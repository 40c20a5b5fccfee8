"""Parameters of the scaling `fixed`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from ...base.units import Number
from .base import BY_OPERATOR, Scaling, refusal_without_shares


class Fixed(Scaling):
    """The same parallelism for the whole run: as in the query, or the lowest that sustains a load known in advance."""

    model_config = ConfigDict(populate_by_name=True)

    title: ClassVar[str] = "Fixed"
    source: ClassVar[str] = "Siachamis 2024, 1.3 (Figure 1.7)"
    position: ClassVar[int] = 2
    kind: Literal["fixed"] = "fixed"
    for_: Literal["document", "maximum", "mean"] = Field(
        default="document",
        alias="for",
        title="For",
        description="Parallelism as in the query (document), or enough for the load's maximum or mean.",
    )
    headroom: Number = Field(default=1.1, ge=0.01, le=100, title="Headroom", description="Capacity, as a multiple of that load.")
    per_input: dict[str, Annotated[Number, Field(ge=0, le=1e6)]] = Field(
        default_factory=dict,
        title="Per input",
        description="Records served by each operator per source record.",
        json_schema_extra=BY_OPERATOR,
    )

    @property
    def plans_ahead(self) -> bool:
        return self.for_ != "document"

    @property
    def known_shares(self) -> Mapping[str, float] | None:
        return self.per_input if self.plans_ahead else None

    @property
    def plan_name(self) -> str:
        return f"fixed, for the {self.for_} of the load"

    @model_validator(mode="after")
    def _knows_what_operators_serve(self) -> Self:
        if self.for_ != "document" and not self.per_input:
            raise refusal_without_shares(f"the lowest parallelism for the {self.for_} of the load")
        return self
