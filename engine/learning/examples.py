"""What models of a cost learn from rows (specification 3.4): costs of traces that succeeded; of classes as many of either."""

from __future__ import annotations

from collections.abc import Sequence

from engine.corpus.labels import Labels
from engine.corpus.rows import Row
from engine.costmodels.errors import balanced
from engine.costmodels.examples import Examples
from engine.costmodels.metrics import Metric


def target(metric: Metric, labels: Labels) -> float | None:
    """A cost, or a class as 1 (good) or 0; None if the trace has none, since it failed."""
    match metric.name:
        case "success":
            return float(labels.success)
        case "flows":
            return None if labels.backpressured is None else float(not labels.backpressured)
        case "throughput":
            return labels.throughput_per_s
        case "processing_latency":
            return labels.processing_ms
        case "end_to_end_latency":
            return labels.end_to_end_ms
    raise AssertionError(metric.name)


def examples(metric: Metric, rows: Sequence[Row], seed: int) -> Examples:
    """Of one part of a split. Classes are balanced inside of the part."""
    chosen = balanced_rows(metric, rows, seed)
    return Examples([row.graph for row, _ in chosen], [value for _, value in chosen])


def with_targets(metric: Metric, rows: Sequence[Row]) -> list[tuple[Row, float]]:
    """The rows that have a target, with it."""
    return [(row, value) for row in rows if (value := target(metric, row.labels)) is not None]


def balanced_rows(metric: Metric, rows: Sequence[Row], seed: int) -> list[tuple[Row, float]]:
    """Like `with_targets`; of classes as many of either."""
    having = with_targets(metric, rows)
    return [having[n] for n in balanced([value > 0.5 for _, value in having], seed)] if metric.classifies else having
