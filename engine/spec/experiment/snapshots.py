"""What a checkpoint of an instance stores: all of its state, or what has changed. `engine.checkpointing.chains` implements these models."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ..base.units import Integer
from ..base.variant import Variant


class FullSnapshots(Variant):
    """Every checkpoint stores all state of its instance."""

    title: ClassVar[str] = "Full"
    kind: Literal["full"] = "full"

    @property
    def links(self) -> int:
        return 1


class IncrementalSnapshots(Variant):
    """A checkpoint stores what has changed since the last one of its instance: entries that are new, changed or gone. Now and then one
    stores all state, and so does the first one after a recovery, a rescale, or a checkpoint that the store refused. A recovery fetches the
    last whole checkpoint and all changes since.
    """

    title: ClassVar[str] = "Incremental"
    source: ClassVar[str] = "Chronarakis 2019, 2.3 (incremental checkpoints); our addition to the protocols of Siachamis 2024"
    kind: Literal["incremental"] = "incremental"
    full_every: Integer = Field(
        10, ge=1, le=1_000_000, title="Full every", description="Of so many checkpoints of an instance, the first stores all of its state."
    )

    @property
    def links(self) -> int:
        return self.full_every


AnySnapshots = Annotated[FullSnapshots | IncrementalSnapshots, Field(discriminator="kind")]
