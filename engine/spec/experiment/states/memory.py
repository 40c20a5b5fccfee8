"""Parameters of the state `memory`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.variant import Variant


class InMemory(Variant):
    """Operators keep their state in the memory of their host. Nothing is charged for it but what the prices of operators say."""

    title: ClassVar[str] = "In memory"
    position: ClassVar[int] = 0
    kind: Literal["memory"] = "memory"
