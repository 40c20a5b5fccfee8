"""Parameters of the scheduling `none`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.variant import Variant


class NoScheduling(Variant):
    """Cores serve what has waited longest, or as their processor kind says."""

    title: ClassVar[str] = "None"
    position: ClassVar[int] = 0
    kind: Literal["none"] = "none"
