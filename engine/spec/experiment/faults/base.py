"""What the rest of the engine asks of every fault."""

from __future__ import annotations

from typing import ClassVar

from ...base.variant import Variant


class Fault(Variant):
    """Something that goes wrong during a run."""

    loses_host: ClassVar[bool] = False  # with everything in its memory
    begins_field: ClassVar[str]  # the parameter that says when it begins

    @property
    def begins_ns(self) -> int | None:
        """When it begins; None: at random."""
        raise NotImplementedError

    @property
    def span_ns(self) -> int | None:
        """How long it lasts; None: for ever."""
        raise NotImplementedError
