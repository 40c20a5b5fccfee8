"""No ingress policy."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import Ingress


class ReadOn(Ingress):
    """Sources read on, whatever waits behind them: what is not bounded otherwise accumulates."""

    title: ClassVar[str] = "Read on"
    position: ClassVar[int] = 0
    guards: ClassVar[bool] = False
    kind: Literal["read"] = "read"
