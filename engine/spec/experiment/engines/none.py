"""Parameters of the engine `none`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.variant import Variant


class NoEngine(Variant):
    """No particular engine: operators, channels and policies are as drawn, and sources read their logs without a network."""

    title: ClassVar[str] = "None"
    position: ClassVar[int] = 0
    facts: ClassVar[tuple[str, ...]] = ("price_list", "compared")
    compared: ClassVar[bool] = False
    price_list: ClassVar[str] = ""
    acts: ClassVar[bool] = False
    kind: Literal["none"] = "none"
