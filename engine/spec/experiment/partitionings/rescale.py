"""Parameters of the partitioning `rescale`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Partitioning


class Rescale(Partitioning):
    """Round robin over a share of the receivers: with S senders, sender k has the receivers k, k + S, k + 2 S, ... Where operators are
    spread over the same hosts, records stay on theirs. With fewer receivers than senders, each sender has one.
    """

    title: ClassVar[str] = "Rescale"
    icon: ClassVar[str] = "refresh-cw"
    position: ClassVar[int] = 4
    kind: Literal["rescale"] = "rescale"
