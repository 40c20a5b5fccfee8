"""Parameters of `move`: moves by hand."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from .moving import Moving
from .none import NoScaling


class MoveByHand(Moving):
    """No policy: operators move to other hosts at the document's times. The query stops, its state goes to the new hosts by way of the
    store, and it restarts there.
    """

    title: ClassVar[str] = "Move by hand"
    source: ClassVar[str] = "Heinrich 2024, V-B"
    position: ClassVar[int] = 20
    by_hand: ClassVar[bool] = True
    kind: Literal["move"] = "move"

    def change_in_words(self, before: Any) -> str:
        if not (isinstance(before, NoScaling) and self.moves):
            return ""
        return f"moved by hand, {'; '.join(move.in_words for move in self.moves)}"
