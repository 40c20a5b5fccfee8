"""Summaries as numbers by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def flat(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, float]]:
    """The numbers in a tree, by dotted path (`latency_ms.p99`). Truth values and what is missing are left out."""
    numbers: list[tuple[str, float]] = []
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            numbers += flat(value, f"{name}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers.append((name, float(value)))
    return numbers
