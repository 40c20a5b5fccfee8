"""Parameters of the fault `pause`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.words import model_in_words
from .host_fault import PassingFault


class Pause(PassingFault):
    """The host stalls: it serves and sends nothing, and arriving messages wait. Services in progress take longer by the duration of the
    pause. Examples: a stop-the-world garbage collection, a suspended machine.
    """

    title: ClassVar[str] = "Pause"
    icon: ClassVar[str] = "pause"
    position: ClassVar[int] = 2
    kind: Literal["pause"] = "pause"

    @property
    def in_words(self) -> str:
        return f"{self.host} pauses for {self.span_in_words} {model_in_words(self.when)}"
