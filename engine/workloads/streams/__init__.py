"""Generators of synthetic streams: one file per group of related streams, one subclass of `Block` per stream."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from engine.spec.base.family import kind_of
from engine.spec.experiment.streams import Stream

from ..generated import Block

_modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]

BLOCKS: dict[str, type[Block[Any]]] = {
    value.makes: value
    for module in _modules
    for value in vars(module).values()
    if isinstance(value, type) and issubclass(value, Block) and value.__module__ == module.__name__ and "makes" in vars(value)
}
"""Generators of the built-in streams, by kind."""


def block_of(stream: Stream) -> type[Block[Any]]:
    """Return the generator of a stream: `block` of its class if that is from another package."""
    block: type[Block[Any]] = getattr(type(stream), "block", None) or BLOCKS[kind_of(type(stream))]
    return block
