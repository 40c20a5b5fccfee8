"""Parameters of the fault `pause`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .host_fault import PassingFault


class Pause(PassingFault):
    """The host stands still: nothing is served or sent, what arrives waits. Services in progress take so much longer. (A stop-the-world
    collection, a suspended machine.)
    """

    title: ClassVar[str] = "Pause"
    icon: ClassVar[str] = "pause"
    position: ClassVar[int] = 2
    kind: Literal["pause"] = "pause"
