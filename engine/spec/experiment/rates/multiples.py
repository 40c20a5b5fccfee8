"""Multiples of rates, in the form in which documents hold them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from math import isclose
from typing import Any


def multiplied(rate: Any, factor: float) -> Any:
    """The pattern with all its rates multiplied by the factor."""
    if isinstance(rate, list):
        return [multiplied(one, factor) for one in rate]
    if not isinstance(rate, Mapping):
        return rate
    return {name: value * factor if _is_rate(name) and value is not None else multiplied(value, factor) for name, value in rate.items()}


def factor_between(rate: Any, other: Any) -> float | None:
    """The factor by which the other pattern is a multiple of the first, or None."""
    factor: float | None = None
    for one, two in zip_longest(_leaves(rate), _leaves(other)):
        if one is None or two is None or one[0] != two[0]:
            return None
        (name, left), (_, right) = one, two
        if not (_is_rate(name) and isinstance(left, int | float) and isinstance(right, int | float) and left):
            if left != right:
                return None
        elif factor is None:
            factor = float(f"{right / left:.9g}")
        elif not isclose(right, left * factor, rel_tol=1e-8):
            return None
    return factor


def _is_rate(name: str) -> bool:
    return name == "per_s" or name.endswith("_per_s")


def _leaves(tree: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The values of the pattern with the names of their fields."""
    if isinstance(tree, Mapping):
        for below in sorted(tree):
            yield from _leaves(tree[below], below)
    elif isinstance(tree, list | tuple):
        for one in tree:
            yield from _leaves(one, name)
    else:
        yield name, tree
