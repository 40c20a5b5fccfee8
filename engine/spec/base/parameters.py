"""The values of a document by name, used to search for runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from .problems import pointer

Value = float | str | bool | None
LABELS = ("id", "name")
"""Fields that identify the members of a list, if present."""


def parameters(tree: Mapping[str, Any]) -> dict[str, Value]:
    """All scalar values by JSON pointer, with list positions replaced by the id or name of the operator, host, ...:
    /query/operators/filter/params/predicate."""
    return {pointer(*path): value for path, value in _leaves(tree, ())}


def _leaves(node: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Value]]:
    if isinstance(node, Mapping):
        for name, below in node.items():
            yield from _leaves(below, (*path, name))
    elif isinstance(node, list | tuple):
        for name, below in zip(names_of(node), node, strict=True):
            yield from _leaves(below, (*path, name))
    else:
        yield path, node


def names_of(members: list[Any] | tuple[Any, ...]) -> list[str | int]:
    """Names of list members: their own, those of an edge's two ends, or else the position."""
    names: list[str | int] = []
    for position, member in enumerate(members):
        name: Any = None
        if isinstance(member, Mapping):
            name = next((member[label] for label in LABELS if isinstance(member.get(label), str) and member[label]), None)
            if name is None and isinstance(member.get("source"), str) and isinstance(member.get("target"), str):
                name = f"{member['source']}-{member['target']}"
        names.append(position if name is None else name)
    twice = {name for name, count in Counter(names).items() if count > 1}
    return [position if name in twice else name for position, name in enumerate(names)]
