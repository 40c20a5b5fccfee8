"""Parameters of the scaling `none`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.variant import Variant


class NoScaling(Variant):
    """The parallelism stays as in the query."""

    title: ClassVar[str] = "None"
    position: ClassVar[int] = 0
    kind: Literal["none"] = "none"
    facts: ClassVar[tuple[str, ...]] = ("decides_live", "relocates")
    decides_live: ClassVar[bool] = False
    relocates: ClassVar[bool] = False
