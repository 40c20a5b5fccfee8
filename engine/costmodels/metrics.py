"""The five costs that are predicted, each by models of its own (Heinrich et al. 2024, section III)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """unit: of a number; a class has none. least: below it, values count as it in q-errors. highest: whether more is better."""

    name: str
    title: str
    unit: str = ""
    least: float = 0.0
    highest: bool = False

    @property
    def classifies(self) -> bool:
        return not self.unit


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("throughput", "Throughput", "records/s", 1 / 240, highest=True),
        Metric("processing_latency", "Processing latency", "ms", 0.1),
        Metric("end_to_end_latency", "End-to-end latency", "ms", 0.1),
        Metric("flows", "Keeps up"),  # the good class: it is not backpressured
        Metric("success", "Delivers"),
    )
}
