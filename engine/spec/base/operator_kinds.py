"""The operator kinds that documents may name. They stand in `engine.operators`, which is loaded when they are first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from .operator import Operator


class UnknownKind(KeyError):
    """A kind that no family has."""


def operators() -> Mapping[str, type[Operator]]:
    """Operator kinds by name, with those that other packages have registered (`engine.operators.register`)."""
    kinds: Mapping[str, type[Operator]] = importlib.import_module("engine.operators").OPERATORS
    return kinds


def operator(kind: str) -> type[Operator]:
    """The class of one operator kind. Raises `UnknownKind`."""
    try:
        return operators()[kind]
    except KeyError:
        raise UnknownKind(kind) from None
