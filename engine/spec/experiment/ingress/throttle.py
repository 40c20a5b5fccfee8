"""Sources wait while their host is full."""

from __future__ import annotations

from typing import ClassVar, Literal

from .guarded import Guarded


class Throttle(Guarded):
    """Sources read nothing from their logs while their host is full; the driver's queue grows."""

    title: ClassVar[str] = "Throttle"
    position: ClassVar[int] = 1
    source: ClassVar[str] = "Karimov 2020, 2.3 (3); Siachamis 2024, 3.5; Farhat 2020, 3.1.5"
    kind: Literal["throttle"] = "throttle"
