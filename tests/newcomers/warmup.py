"""A warm-up from outside the package, in one file: its length is given in batches."""

from __future__ import annotations

from typing import ClassVar, Literal

from engine.spec.base.units import Integer, Number, quantity
from engine.spec.experiment.warmups.base import WarmUp, extra_of


class WarmUpByBatches(WarmUp):
    """The cost falls with the batches of records that an instance has served."""

    title: ClassVar[str] = "By batches"
    source: ClassVar[str] = "Newcomer et al., section 13"
    kind: Literal["batches"] = "batches"
    factor: Number = quantity(2.0, unit="x", ge=1, le=100, title="Factor", description="How many times the usual cost the first one costs.")
    batches: Integer = quantity(10, unit="batches", ge=1, le=10**6, title="Batches", description="After so many an instance is warm.")
    batch: Integer = quantity(100, unit="records", ge=1, le=1000, title="Batch", description="Records in a batch.")

    @property
    def extra(self) -> int:
        return extra_of(self.factor)

    def records_of(self, weight: int) -> int:
        return -(-self.batches * self.batch // weight)
