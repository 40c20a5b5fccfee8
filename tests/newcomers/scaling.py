"""An autoscaler from outside the package, all of it in one file: parameters and policy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Literal

from engine.autoscaling.metrics import Metrics
from engine.autoscaling.policy import Advice
from engine.spec.base.units import Integer, quantity
from engine.spec.experiment.scaling.looped import Looped


class BacklogPolicy:
    """Wishes for every vertex one instance for each so many records that wait in the topics."""

    def __init__(self, records_per_instance: int):
        self._records_per_instance = records_per_instance

    def advise(self, metrics: Metrics) -> Advice:
        graph = metrics.graph()
        waiting = sum(metrics.pending(source) for source in graph.sources)
        wish = max(1, math.ceil(Fraction(waiting, self._records_per_instance)))
        return Advice(
            dict.fromkeys(graph.operators, wish), [("backlog", source, Fraction(metrics.pending(source))) for source in graph.sources]
        )

    def acted(self, before: Mapping[str, int], after: Mapping[str, int], now_ns: int) -> None:
        pass

    def state(self) -> Any:
        return None

    def restore(self, state: Any) -> None:
        pass


class Backlog(Looped):
    """Gives the job as many instances as its backlog asks for, and takes them away as the backlog goes."""

    title: ClassVar[str] = "Backlog"
    source: ClassVar[str] = "Newcomer et al., section 4"
    kind: Literal["backlog"] = "backlog"
    records_per_instance: Integer = quantity(
        1_000_000, unit="records", ge=1, le=10**12, title="Per instance", description="Backlog for which one more instance is taken."
    )

    def policy(self) -> BacklogPolicy:
        return BacklogPolicy(self.records_per_instance)
