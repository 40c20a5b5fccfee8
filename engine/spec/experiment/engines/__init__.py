"""Engines, one file each: what a streaming engine adds to the drawn query and changes in it (docs/engines.md). `engine.profiles` implements
them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...base.family import Family
from .base import Engine
from .none import NoEngine

ENGINES = Family("engines", __name__, Engine, {"profile": "it returns the experiment as the engine executes it"})

if TYPE_CHECKING:
    AnyEngine = NoEngine | Engine
else:
    AnyEngine = ENGINES.union


def price_list_in(document: Mapping[str, Any], reference: str) -> str:
    """The price list that a valid document charges: its engine's own, or else the one that it names, by default `reference`."""
    written = (document.get("policies") or {}).get("engine") or {}
    engine = ENGINES.kind(written.get("kind", "none"))
    return getattr(engine, "price_list", "") or str(document.get("prices", reference))
