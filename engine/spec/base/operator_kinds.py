"""The operator kinds available in documents. They live in `engine.operators`, which is loaded on first use."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from .operator import Operator


class UnknownKind(KeyError):
    """An unknown operator kind."""


def operators() -> Mapping[str, type[Operator]]:
    """Operator kinds by name, including those registered by other packages (`engine.operators.register`)."""
    kinds: Mapping[str, type[Operator]] = importlib.import_module("engine.operators").OPERATORS
    return kinds


def operator(kind: str) -> type[Operator]:
    """The class of one operator kind. Raises `UnknownKind`."""
    try:
        return operators()[kind]
    except KeyError:
        raise UnknownKind(kind) from None
