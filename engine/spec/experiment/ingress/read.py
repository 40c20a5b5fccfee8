"""No ingress policy."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Ingress


class ReadOn(Ingress):
    """Sources keep reading whatever the backlog; queues that nothing else bounds grow."""

    title: ClassVar[str] = "Keep reading"
    position: ClassVar[int] = 0
    guards: ClassVar[bool] = False
    kind: Literal["read"] = "read"
