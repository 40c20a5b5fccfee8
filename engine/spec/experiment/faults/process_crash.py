"""Parameters of the fault `process_crash`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Number, quantity
from .host_loss import HostLoss


class ProcessCrash(HostLoss):
    """The processes of the host crash with everything in their memory, and restart. The disk survives: a local store on it is used again,
    as far as the last commit. For all else this is a loss of the host.
    """

    title: ClassVar[str] = "Process crash"
    position: ClassVar[int] = 5
    disk_survives: ClassVar[bool] = True
    verb: ClassVar[str] = "crashes"
    kind: Literal["process_crash"] = "process_crash"  # type: ignore[assignment]
    restart_after_s: Number = quantity(
        10, unit="s", ge=0.000000001, le=1e9, title="Restart after", description="Until its processes are up."
    )
