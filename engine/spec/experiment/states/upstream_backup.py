"""Parameters of the state `upstream_backup`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .replayed import ReplayedState


class UpstreamBackup(ReplayedState):
    """Operators keep their state in memory and take no checkpoints. A recovery processes again what has come since the oldest open window
    opened; senders keep that much."""

    title: ClassVar[str] = "Upstream backup"
    source: ClassVar[str] = "Chronarakis 2019, 3.2"
    position: ClassVar[int] = 4
    kind: Literal["upstream_backup"] = "upstream_backup"
