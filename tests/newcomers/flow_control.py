"""A flow control from outside the package: what an instance may hold is shared by its input channels."""

from __future__ import annotations

from typing import ClassVar, Literal

from engine.spec.base.units import Integer, quantity
from engine.spec.experiment.flow_control.base import FlowControl


class SharedCredits(FlowControl):
    """All input channels of an instance together hold so many records, each an equal share."""

    title: ClassVar[str] = "Shared credits"
    source: ClassVar[str] = "Newcomer et al., section 5"
    kind: Literal["shared"] = "shared"
    per_instance: Integer = quantity(32, unit="records", ge=1, le=10**6, title="Per instance", description="Records that it may hold.")

    def records(self, record_bytes: int, inputs: int, weight: int, record_ns: int) -> int:
        return self.per_instance // (inputs * weight)
