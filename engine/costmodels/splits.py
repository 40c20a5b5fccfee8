"""Training, validation and test: all traces of one query stay on one side (specification, section 9, point 3)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

TENTHS = {"training": 8, "validation": 1, "test": 1}


@dataclass(frozen=True)
class Split:
    """Numbers of traces."""

    training: tuple[int, ...]
    validation: tuple[int, ...]
    test: tuple[int, ...]


def split(groups: Sequence[str], seed: int) -> Split:
    """groups: by trace, the identity of its query. Which side a query falls on depends on it and the seed alone."""
    parts: dict[str, list[int]] = {name: [] for name in TENTHS}
    sides = [name for name, tenths in TENTHS.items() for _ in range(tenths)]
    for n, group in enumerate(groups):
        drawn = int.from_bytes(hashlib.sha256(f"{seed} {group}".encode()).digest()[:8], "big")
        parts[sides[drawn % len(sides)]].append(n)
    return Split(*(tuple(parts[name]) for name in TENTHS))
