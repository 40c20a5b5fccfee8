"""Delivered records selected for inspection: the slowest, a random sample, or individual records."""

from __future__ import annotations

from pydantic import Field, model_validator

from ..base.operator import Model
from ..base.problems import Refusal

RECORDS_MAX = 1000


class Sample(Model):
    """Records drawn at random, each with equal probability."""

    rate: float = Field(gt=0, le=1, description="share of the delivered records")
    seed: int = Field(0, ge=0, lt=2**63, description="seed of the random draw")


class DeliveredRecord(Model):
    """A record identified by its delivery. Each sink instance delivers at most one record at a time."""

    sink: str = Field(max_length=100, description="sink operator that delivered the record")
    trigger: int = Field(ge=0, lt=2**63, description="identifier of the input record that triggered it")
    end_ns: int = Field(ge=0, lt=2**63, description="virtual time of delivery")


class Stretch(Model):
    """An interval of virtual time."""

    after_ns: int = Field(ge=0, lt=2**63, description="start, exclusive")
    to_ns: int = Field(ge=0, lt=2**63, description="end, inclusive")

    @model_validator(mode="after")
    def _has_a_length(self) -> Stretch:
        if self.to_ns <= self.after_ns:
            message = f"the interval ends at {self.to_ns} ns, which is not after its start; give a time above {self.after_ns}"
            raise Refusal(message, at=("to_ns",), value=self.to_ns)
        return self


class Selection(Model):
    """The slowest and the sample are taken over all sinks, from records delivered in the given interval, by default after warm-up."""

    slowest: int = Field(0, ge=0, le=RECORDS_MAX, description="number of records with the largest latency to select")
    sample: Sample | None = Field(None, description="random sample of the delivered records")
    between: Stretch | None = Field(None, description="delivery interval for slowest and sample; default: after warm-up")
    records: tuple[DeliveredRecord, ...] = Field((), max_length=RECORDS_MAX, description="individual records")

    @model_validator(mode="after")
    def _selects_something(self) -> Selection:
        if not self.slowest and self.sample is None and not self.records:
            raise Refusal(f"nothing is selected; give slowest (1 to {RECORDS_MAX}), sample or records", at=("slowest",), value=0)
        return self
