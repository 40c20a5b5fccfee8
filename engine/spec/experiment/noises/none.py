"""Parameters of the noise `none`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Noise


class NoNoise(Noise):
    """Equal work costs the same."""

    title: ClassVar[str] = "None"
    position: ClassVar[int] = 0
    varies: ClassVar[bool] = False
    kind: Literal["none"] = "none"
