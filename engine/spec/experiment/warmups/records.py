"""Parameters of the warm-up `records`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Integer, Number
from .base import FACTOR_MAX, WarmUp, extra_of


class WarmUpByRecords(WarmUp):
    """The cost falls linearly to its usual value with the records that an instance has served: code is compiled as it is used."""

    title: ClassVar[str] = "By records"
    position: ClassVar[int] = 1
    kind: Literal["records"] = "records"
    factor: Number = Field(
        default=5.0, ge=1, le=FACTOR_MAX, title="Factor", description="Cost of the first record, as a multiple of the usual cost."
    )
    records: Integer = Field(
        default=10_000,
        ge=1,
        le=1_000_000_000,
        title="Records",
        description="Number of records after which an instance is warm.",
    )

    @property
    def extra(self) -> int:
        return extra_of(self.factor)

    def records_of(self, weight: int) -> int:
        return -(-self.records // weight)
