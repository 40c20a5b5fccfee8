"""Parameters of the placement `by_operator`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.variant import Variant


class ByOperator(Variant):
    """Every operator gets its own hosts, with its instances round robin over them. Needs at least one host per operator."""

    title: ClassVar[str] = "By operator"
    icon: ClassVar[str] = "columns"
    position: ClassVar[int] = 1
    kind: Literal["by_operator"] = "by_operator"
