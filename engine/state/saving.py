"""States of objects as JSON values and bytes, for snapshots: what a control cannot write down by hand.

Reading one runs no code of the file: only classes that are named may occur. An object that occurs twice is one object again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Classes = Mapping[str, type]


def named(classes: Sequence[type]) -> Classes:
    return {one.__name__: one for one in classes}


def plain(value: Any, classes: Classes, skipped: Sequence[str] = ()) -> Any:
    """JSON values and bytes that `revived` turns into an equal value. skipped: attributes that are left out.

    Raises TypeError for an object of another class.
    """
    seen: dict[int, int] = {}

    def visit(part: Any) -> Any:
        if part is None or isinstance(part, bool | int | float | str):
            return part
        if isinstance(part, np.ndarray):
            return {"array": part.tobytes(), "type": part.dtype.str, "shape": list(part.shape)}
        if isinstance(part, np.integer | np.bool_):
            return part.item()
        if isinstance(part, list):
            return [visit(item) for item in part]
        if isinstance(part, tuple) and not hasattr(part, "_fields"):
            return {"tuple": [visit(item) for item in part]}
        if isinstance(part, dict):
            return {"items": [[visit(key), visit(item)] for key, item in part.items()]}
        if isinstance(part, tuple) and type(part).__name__ in classes:
            return {"named": type(part).__name__, "tuple": [visit(item) for item in part]}
        if type(part).__name__ not in classes:
            raise TypeError(f"a {type(part).__name__} is no part of a snapshot; known are {', '.join(classes)}")
        if id(part) in seen:
            return {"object": seen[id(part)]}
        number = seen[id(part)] = len(seen)
        fields = {name: visit(item) for name, item in vars(part).items() if name not in skipped}
        return {"object": number, "class": type(part).__name__, "fields": fields}

    return visit(value)


def revived(value: Any, classes: Classes) -> Any:
    """The inverse of `plain`."""
    seen: dict[int, Any] = {}

    def visit(part: Any) -> Any:
        if isinstance(part, list):
            return [visit(item) for item in part]
        if not isinstance(part, dict):
            return part
        if "array" in part:
            return np.frombuffer(part["array"], part["type"]).reshape(part["shape"]).copy()
        if "named" in part:
            return classes[part["named"]](*map(visit, part["tuple"]))
        if "tuple" in part:
            return tuple(visit(item) for item in part["tuple"])
        if "items" in part:
            return {visit(key): visit(item) for key, item in part["items"]}
        if "class" not in part:
            return seen[part["object"]]
        made: Any = object.__new__(classes[part["class"]])
        seen[part["object"]] = made
        for name, item in part["fields"].items():
            object.__setattr__(made, name, visit(item))
        return made

    return visit(value)
