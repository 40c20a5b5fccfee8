"""Channels without a bound."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import FlowControl


class Unbounded(FlowControl):
    """Channels hold any number of records, and senders never wait."""

    title: ClassVar[str] = "Unbounded channels"
    position: ClassVar[int] = 0
    bounded: ClassVar[bool] = False
    kind: Literal["unbounded"] = "unbounded"
