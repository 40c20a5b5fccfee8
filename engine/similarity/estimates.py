"""Loads of worksets as the prototype estimates them: from how many records of each role were stored before and came since.

Source: Siachamis 2024, artefact. It keeps no count by stream, so records of one stream count as compared with each other, and it sets the
sums of these estimates against an average of pairs and comparisons that were measured: two units. Its plans are worse than those by exact
loads.
"""

from __future__ import annotations

from collections.abc import Iterable

Counts = tuple[int, int, int]
"""Inner records, outer ones and outliers."""
At = tuple[int, int]
"""A workset and the start of a window."""


class Estimates:
    """loads: so far, by workset and window. They grow by what each monitoring window adds."""

    def __init__(self) -> None:
        self.stored: dict[At, Counts] = {}
        self.loads: dict[At, float] = {}

    def sample(self, found: Iterable[tuple[At, Counts]]) -> None:
        """End a monitoring window. found: all worksets with their records. Those of windows that have closed are forgotten."""
        stored, loads = {}, {}
        for at, now in found:
            inner, outer, outliers = self.stored.get(at, (0, 0, 0))
            new = [after - before for after, before in zip(now, (inner, outer, outliers), strict=True)]
            everything = inner + outer + outliers
            loads[at] = self.loads.get(at, 0.0) + new[0] * (outer + outliers) + (new[1] + new[2]) * everything
            stored[at] = now
        self.stored, self.loads = stored, loads

    def state(self) -> list[list[float]]:
        return [[*at, *counts, self.loads[at]] for at, counts in sorted(self.stored.items())]

    def restore(self, state: list[list[float]]) -> None:
        self.stored = {(int(row[0]), int(row[1])): (int(row[2]), int(row[3]), int(row[4])) for row in state}
        self.loads = {(int(row[0]), int(row[1])): row[5] for row in state}
