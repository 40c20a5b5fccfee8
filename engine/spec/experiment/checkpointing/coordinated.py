"""Coordinated checkpoints, aligned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field

from ...base.problems import Problem, pointer
from ...base.units import ADVANCED
from .checkpoints import AT, Checkpoints


class CoordinatedCheckpoints(Checkpoints):
    """Aligned barriers, in rounds. The coordinator makes the sources send barriers; every instance stores its state once barriers have
    arrived on all of its channels, and until then serves nothing behind them. After a loss, all instances roll back to the last complete
    round.
    """

    title: ClassVar[str] = "Coordinated"
    position: ClassVar[int] = 1
    rescalable: ClassVar[bool] = True
    loss_text: ClassVar[str] = "All instances roll back to the last confirmed round"
    source: ClassVar[str] = "Siachamis 2024, 3.3.1 (COOR); Carbone 2015"
    kind: Literal["coordinated"] = "coordinated"
    on_cycle: Literal["refuse", "run"] = Field(
        default="refuse",
        title="On a cycle",
        description="A query with a cycle never completes a round. Refuse it, or run it anyway to see where it deadlocks.",
        json_schema_extra=ADVANCED,
    )

    def own_problems(self, draft: Any) -> Iterator[Problem]:
        if self.on_cycle != "refuse":
            return
        backward = next((wire for wire in draft.wires if wire.feedback), None)
        if backward is not None:
            message = (
                f"the edge from '{backward.source}' to '{backward.target}' closes a cycle. An instance on it would wait for a barrier "
                "that only it could forward, so no round would ever complete; choose another protocol, or on_cycle: run to see the deadlock"
            )
            yield Problem(pointer(*AT, "on_cycle"), "cycle", message, self.on_cycle)
