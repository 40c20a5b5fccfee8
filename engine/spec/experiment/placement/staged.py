"""Parameters of the placement `staged`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.variant import Variant


class Staged(Variant):
    """The operators, in the document's order, are divided into as many stages as there are hosts. The stages of instance k begin on host k
    and go on with the next ones, so a record passes as few links as it can on its way over all hosts."""

    title: ClassVar[str] = "In stages"
    icon: ClassVar[str] = "layers"
    position: ClassVar[int] = 2
    kind: Literal["staged"] = "staged"
