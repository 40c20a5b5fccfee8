"""Parameters of the engine `storm`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field

from ...base.origins import ASSUMED, Charge
from ...base.problems import Problem, pointer
from ...base.units import Integer, Number, milliseconds_ns, quantity
from .base import DrivenEngine

LEAST_COUNTED = 20
"""Records of the run that a queue should hold at the high mark."""

CALIBRATED = Charge("fitted", "a delay of this order makes pull rates oscillate as observed", ("benchmark/3.17",))


class StormEngine(DrivenEngine):
    """Tuple at a time, with one switch for all spouts: a queue above the high mark stops every spout, until all queues are below the low
    mark. Channels are not bounded. Windows keep all tuples and are computed when they end. Each connection to another worker makes every
    tuple dearer.

    Marks count records, so `workload.scale` must leave enough of them in a queue: 20 or less, 10 on eight workers. Left out:
    acknowledgements and replays, notifications that get lost.
    """

    title: ClassVar[str] = "Storm 1.0"
    source: ClassVar[str] = "Karimov 2020, 2.2 and 3.6"
    position: ClassVar[int] = 1
    price_list: ClassVar[str] = "storm_2020"
    acts: ClassVar[bool] = True
    kind: Literal["storm"] = "storm"
    queue: Integer = quantity(
        1024, unit="tuples", ge=2, le=1_000_000, title="Receive queue", description="Tuples in the receive queue of an executor."
    )
    high: Number = Field(
        default=0.9, gt=0, le=1, title="High mark", description="Share of a receive queue above which all spouts are stopped."
    )
    low: Number = Field(
        default=0.4, ge=0, lt=1, title="Low mark", description="Share of a receive queue below which all must be before spouts go on."
    )
    check_ms: Number = quantity(
        10, unit="ms", ge=0.1, le=1e5, title="Check", description="Time between two looks at the queues.", advanced=True, charge=ASSUMED
    )
    notify_ms: Number = quantity(
        100,
        unit="ms",
        ge=0,
        le=1e6,
        title="Notification",
        description="Time until all spouts know of a change.",
        advanced=True,
        charge=CALIBRATED,
    )

    def problems(self, draft: Any) -> Iterator[Problem]:
        yield from super().problems(draft)
        if self.low >= self.high:
            message = f"the low mark {self.low:g} is not below the high mark {self.high:g}; spouts would go on while a queue is too long"
            yield Problem(pointer("policies", "engine", "low"), "inconsistent", message, self.low)
        if draft.flow_control is not None and draft.flow_control.kind != "unbounded":
            message = (
                f"flow_control is '{draft.flow_control.kind}', but queues of Storm are not bounded: its switch stops the spouts; omit it"
            )
            yield Problem(pointer("policies", "flow_control", "kind"), "not_with_engine", message, draft.flow_control.kind)
        most = max(1, int(self.high * self.queue / LEAST_COUNTED))
        if draft.workload is not None and draft.workload.scale > most:
            message = (
                f"scale is {draft.workload.scale}, so that few records fill a queue of {self.queue}, and chance throws the switch of Storm"
            )
            yield Problem("/workload/scale", "coarse", f"{message}; choose {most} or less", draft.workload.scale, severity="warning")

    @property
    def check_ns(self) -> int:
        return milliseconds_ns(self.check_ms)

    @property
    def notify_ns(self) -> int:
        return milliseconds_ns(self.notify_ms)
