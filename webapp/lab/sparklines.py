"""Sparklines: the latency of a run over virtual time in a few points, stored with the run for lists."""

from __future__ import annotations

from collections.abc import Sequence

POINTS = 32


def sparkline(values: Sequence[float | None]) -> list[float | None]:
    """Reduce values at equal intervals to at most `POINTS`: the largest of each stretch, so that no peak is lost, in three digits. None
    where a stretch has no value; empty if there are no values at all."""
    if all(value is None for value in values):
        return []
    points: list[float | None] = []
    count = min(POINTS, len(values))
    for n in range(count):
        stretch = [value for value in values[n * len(values) // count : (n + 1) * len(values) // count] if value is not None]
        points.append(float(f"{max(stretch):.3g}") if stretch else None)
    return points
