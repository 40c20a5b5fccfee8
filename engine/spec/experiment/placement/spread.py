"""Parameters of the placement `spread`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.variant import Variant


class Spread(Variant):
    """Instance k of every operator runs on host k mod n, with n hosts."""

    title: ClassVar[str] = "Spread"
    icon: ClassVar[str] = "grid"
    position: ClassVar[int] = 0
    kind: Literal["spread"] = "spread"
