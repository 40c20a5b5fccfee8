"""Coordinated checkpoints, aligned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field

from ...base.problems import Problem, pointer
from .checkpoints import AT, Checkpoints


class CoordinatedCheckpoints(Checkpoints):
    """Rounds: a coordinator lets the sources send barriers, and every instance stores its state when barriers have come by all of its
    channels; meanwhile it serves nothing that comes behind them. After a loss all go back to the last round that is complete.
    """

    title: ClassVar[str] = "Coordinated"
    position: ClassVar[int] = 1
    rescalable: ClassVar[bool] = True
    loss_text: ClassVar[str] = "All instances go back to the last confirmed round"
    source: ClassVar[str] = "Siachamis 2024, 3.3.1 (COOR); Carbone 2015"
    kind: Literal["coordinated"] = "coordinated"
    on_cycle: Literal["refuse", "run"] = Field(
        default="refuse",
        title="On a cycle",
        description="A query with a cycle never completes a round: refuse it, or run it anyway and see where it stands still.",
    )

    def own_problems(self, draft: Any) -> Iterator[Problem]:
        if self.on_cycle != "refuse":
            return
        backward = next((wire for wire in draft.wires if wire.feedback), None)
        if backward is not None:
            message = (
                f"the edge from '{backward.source}' to '{backward.target}' closes a cycle, and an instance on it would wait for a barrier "
                "that only it could send on, so that no round is ever complete; choose another protocol, or on_cycle: run to see it stand "
                "still"
            )
            yield Problem(pointer(*AT, "on_cycle"), "cycle", message, self.on_cycle)
