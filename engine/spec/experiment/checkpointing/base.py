"""What the rest of the engine asks of every choice of checkpointing, with the answers of one that does nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from ...base.problems import Problem
from ...base.variant import Variant
from ..query import Query

Semantics = Literal["exactly_once", "at_least_once", "at_most_once"]


class Checkpointing(Variant):
    """A choice of checkpointing."""

    facts: ClassVar[tuple[str, ...]] = ("rescalable", "loss_text")
    rescalable: ClassVar[bool] = False  # the job manager of a rescale can do its work (`engine.rescaling`)
    loss_text: ClassVar[str] = ""  # what the loss of a host means to the run, for those who kill one

    @property
    def promise(self) -> Semantics:
        """How often each record counts after a loss."""
        return "at_most_once"

    @property
    def takeover_ns(self) -> int | None:
        """From the loss of a host that never restarts until a spare host takes its place; None: never."""
        return None

    @property
    def logs_channels(self) -> bool:
        """Whether the records that channels carry are logged."""
        return False

    @property
    def log_work(self) -> float:
        """Work for each record that is logged, as a share of its operator's work for one."""
        return 0.0

    def added_bytes(self, instances: int) -> int:
        """Bytes that the protocol adds to each record, in a run of so many instances."""
        return 0

    def added_work(self, record_ps: int, instances: int) -> float:
        """Work, ps, of writing or of reading what the protocol adds to a record. record_ps: its operator's work for one."""
        return 0.0

    def coordinated_regions(self, query: Query) -> dict[str, int]:
        """Number of its coordinated region, by operator id: inside a region no channel is logged. Operators in none are left out."""
        return {}

    def problems(self, draft: Any) -> Iterator[Problem]:
        """What keeps the protocol from doing its work in an experiment. draft: `engine.spec.rules.draft.Draft`."""
        yield from ()
