"""Uncoordinated checkpoints."""

from __future__ import annotations

from typing import ClassVar, Literal

from .logged import LoggedCheckpoints


class UncoordinatedCheckpoints(LoggedCheckpoints):
    """Every worker takes checkpoints of its instances by its own clock, and nobody waits for anybody. What channels carry is logged. After
    a loss the newest checkpoints that fit together are searched, and what was on its way between them is sent again from the logs.
    """

    title: ClassVar[str] = "Uncoordinated"
    position: ClassVar[int] = 3
    source: ClassVar[str] = "Siachamis 2024, 3.3.2 (UNC)"
    kind: Literal["uncoordinated"] = "uncoordinated"
