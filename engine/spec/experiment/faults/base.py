"""Interface of all faults."""

from __future__ import annotations

from typing import ClassVar

from ...base.variant import Variant


class Fault(Variant):
    """A failure or disturbance during a run."""

    loses_host: ClassVar[bool] = False  # the host loses everything in its memory
    begins_field: ClassVar[str]  # name of the parameter with the start time

    @property
    def begins_ns(self) -> int | None:
        """Start time; None: random."""
        raise NotImplementedError

    @property
    def span_ns(self) -> int | None:
        """Duration; None: permanent."""
        raise NotImplementedError
