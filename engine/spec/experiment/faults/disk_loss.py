"""Parameters of the fault `disk_loss`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .process_crash import ProcessCrash


class DiskLoss(ProcessCrash):
    """The disk of the host fails, so its processes crash, and restart with an empty one: a local store is filled from its changelog alone.
    For all else this is a loss of the host.
    """

    title: ClassVar[str] = "Disk loss"
    position: ClassVar[int] = 6
    disk_survives: ClassVar[bool] = False
    verb: ClassVar[str] = "loses its disk"
    kind: Literal["disk_loss"] = "disk_loss"  # type: ignore[assignment]
