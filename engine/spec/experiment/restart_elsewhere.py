"""How a query restarts after operators have moved to other hosts."""

from __future__ import annotations

from ..base.units import Number, quantity
from .rescaling.stop_and_restart import StopAndRestart


class RestartElsewhere(StopAndRestart):
    """Stop and restart, with the time of a restart that the specification of Costream gives (8.2)."""

    restart_s: Number = quantity(
        10, unit="s", ge=0, le=1e6, title="Restart", description="Time from the complete savepoint until the hosts start to fetch it."
    )
