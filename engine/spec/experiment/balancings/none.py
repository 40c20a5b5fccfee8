"""Parameters of the balancing `none`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.variant import Variant


class NoBalancing(Variant):
    """Every workset stays on the worker on which it was opened."""

    title: ClassVar[str] = "None"
    position: ClassVar[int] = 0
    kind: Literal["none"] = "none"
