"""Parameters of the drift `none`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Drift


class NoDrift(Drift):
    """Equal work always costs the same."""

    title: ClassVar[str] = "None"
    position: ClassVar[int] = 0
    kind: Literal["none"] = "none"

    @property
    def step_ns(self) -> int:
        return 0
