"""Parameters of the fault `partition`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .link_fault import LinkFault


class Partition(LinkFault):
    """Links carry nothing. Messages wait at the sender and leave in order when the partition ends. Nothing is lost, as with TCP."""

    title: ClassVar[str] = "Network partition"
    icon: ClassVar[str] = "unlink"
    position: ClassVar[int] = 0
    holds: ClassVar[bool] = True
    kind: Literal["partition"] = "partition"
