"""Parameters of the noise `exponential`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Noise


class ExponentialNoise(Noise):
    """Mostly short, rarely very long services: the standard deviation equals the mean."""

    title: ClassVar[str] = "Exponential"
    position: ClassVar[int] = 1
    kind: Literal["exponential"] = "exponential"
