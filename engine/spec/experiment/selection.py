"""Which delivered records are looked at closely: the slowest, a random sample, or some by name."""

from __future__ import annotations

from pydantic import Field, model_validator

from ..base.operator import Model
from ..base.problems import Refusal

RECORDS_MAX = 1000


class Sample(Model):
    """Records drawn at random, each with the same chance."""

    rate: float = Field(gt=0, le=1, description="share of the delivered records")
    seed: int = Field(0, ge=0, lt=2**63, description="another seed draws others")


class DeliveredRecord(Model):
    """A record by its place: a sink delivers at most one at a time for each instance."""

    sink: str = Field(max_length=100, description="operator that delivered it")
    trigger: int = Field(ge=0, lt=2**63, description="identity of the input record that caused it")
    end_ns: int = Field(ge=0, lt=2**63, description="virtual time at which it was delivered")


class Stretch(Model):
    """A stretch of virtual time."""

    after_ns: int = Field(ge=0, lt=2**63, description="later than this")
    to_ns: int = Field(ge=0, lt=2**63, description="up to and with this")

    @model_validator(mode="after")
    def _has_a_length(self) -> Stretch:
        if self.to_ns <= self.after_ns:
            message = f"the stretch ends at {self.to_ns} ns, not after its beginning; give a time above {self.after_ns}"
            raise Refusal(message, at=("to_ns",), value=self.to_ns)
        return self


class Selection(Model):
    """Slowest and sample are taken over all sinks, from the records delivered in a stretch of time if one is given, else after warm-up."""

    slowest: int = Field(0, ge=0, le=RECORDS_MAX, description="how many of those with the largest latency")
    sample: Sample | None = Field(None, description="records drawn at random")
    between: Stretch | None = Field(None, description="when slowest and sample were delivered; after warm-up if it is not given")
    records: tuple[DeliveredRecord, ...] = Field((), max_length=RECORDS_MAX, description="certain records")

    @model_validator(mode="after")
    def _chooses_something(self) -> Selection:
        if not self.slowest and self.sample is None and not self.records:
            raise Refusal(f"nothing is chosen; give slowest (1 to {RECORDS_MAX}), sample or records", at=("slowest",), value=0)
        return self
