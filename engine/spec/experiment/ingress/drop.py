"""Sources drop what they read while their host is full."""

from __future__ import annotations

from typing import ClassVar, Literal

from .guarded import Guarded


class Drop(Guarded):
    """Load shedding: while their host is full, sources drop the records that they read. Dropped records count as shed."""

    title: ClassVar[str] = "Drop"
    position: ClassVar[int] = 2
    drops: ClassVar[bool] = True
    source: ClassVar[str] = "Karimov 2020, 2.3 (1)"
    kind: Literal["drop"] = "drop"
