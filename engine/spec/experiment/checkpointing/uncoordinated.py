"""Uncoordinated checkpoints."""

from __future__ import annotations

from typing import ClassVar, Literal

from .logged import LoggedCheckpoints


class UncoordinatedCheckpoints(LoggedCheckpoints):
    """Every host checkpoints its instances by its own clock, without waiting. Channels are logged. After a loss, recovery starts from
    the newest consistent line of checkpoints, and in-flight records are replayed from the logs.
    """

    title: ClassVar[str] = "Uncoordinated"
    position: ClassVar[int] = 3
    source: ClassVar[str] = "Siachamis 2024, 3.3.2 (UNC)"
    kind: Literal["uncoordinated"] = "uncoordinated"
