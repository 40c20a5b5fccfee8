"""JSON pointers (RFC 6901) into documents: look values up, and change them in a copy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .problems import suggestion


class Misled(ValueError):
    """A pointer does not resolve; the message says where it fails."""

    def __init__(self, message: str, hint: str = ""):
        super().__init__(message)
        self.hint = hint


def parts(pointer: str) -> list[str]:
    """The names and positions of a pointer. Raises Misled."""
    if not pointer.startswith("/"):
        raise Misled(f"'{pointer}' is not a JSON pointer: it must begin with '/', as in /workload/seed")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]


def found(document: Any, pointer: str) -> Any:
    """The value at a pointer. Raises Misled."""
    for depth, part in enumerate(way := parts(pointer)):
        document = document[_key(document, part, way[:depth], pointer, new=False)]
    return document


def changed(document: Mapping[str, Any], pointer: str, value: Any) -> dict[str, Any]:
    """A copy with this value at the pointer; unchanged parts are shared. The last part may be a new field. Raises Misled."""
    changed = _changed(document, parts(pointer), 0, pointer, value)
    assert isinstance(changed, dict)
    return changed


def _changed(node: Any, way: list[str], depth: int, pointer: str, value: Any) -> Any:
    if depth == len(way):
        return value
    key = _key(node, way[depth], way[:depth], pointer, new=depth == len(way) - 1)
    below = node[key] if isinstance(node, list) or key in node else None
    copy = node.copy() if isinstance(node, list) else dict(node)
    copy[key] = _changed(below, way, depth + 1, pointer, value)
    return copy


def _key(node: Any, part: str, before: list[str], pointer: str, *, new: bool) -> Any:
    place = f"'/{'/'.join(before)}'" if before else "the experiment"
    if isinstance(node, Mapping):
        if part in node or new:
            return part
        raise Misled(f"'{pointer}' does not resolve: {place} has no '{part}'", suggestion(part, map(str, node)))
    if isinstance(node, list):
        if part.isascii() and part.isdigit() and int(part) < len(node):
            return int(part)
        raise Misled(
            f"'{pointer}' does not resolve: {place} is a list of {len(node)} entries without position '{part}' (positions start at 0)"
        )
    raise Misled(f"'{pointer}' does not resolve: {place} is {node!r:.40}, which has no fields")
