"""Interface of all checkpointing choices. The defaults describe a run without checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from ...base.problems import Problem
from ...base.variant import Variant
from ..query import Query

Semantics = Literal["exactly_once", "at_least_once", "at_most_once"]


class Checkpointing(Variant):
    """A checkpointing choice."""

    facts: ClassVar[tuple[str, ...]] = ("rescalable", "loss_text")
    rescalable: ClassVar[bool] = False  # compatible with the job manager of a rescale (`engine.rescaling`)
    loss_text: ClassVar[str] = ""  # effect of a host loss on the run, shown before a user kills a host

    @property
    def promise(self) -> Semantics:
        """Processing guarantee after a host loss."""
        return "at_most_once"

    @property
    def takeover_ns(self) -> int | None:
        """Time from the permanent loss of a host until a spare host replaces it; None: never."""
        return None

    @property
    def logs_channels(self) -> bool:
        """Whether records on channels are logged."""
        return False

    @property
    def log_work(self) -> float:
        """Work per logged record, as a share of its operator's work per record."""
        return 0.0

    def added_bytes(self, instances: int) -> int:
        """Bytes that the protocol adds to each record. instances: number of instances in the run."""
        return 0

    def added_work(self, record_ps: int, instances: int) -> float:
        """Work, in ps, to write or to read the bytes that the protocol adds to a record. record_ps: its operator's work per record."""
        return 0.0

    def coordinated_regions(self, query: Query) -> dict[str, int]:
        """Number of the coordinated region by operator id, for operators in one. Channels inside a region are not logged."""
        return {}

    def problems(self, draft: Any) -> Iterator[Problem]:
        """Yield reasons why the protocol cannot work in an experiment. draft: `engine.spec.rules.draft.Draft`."""
        yield from ()
