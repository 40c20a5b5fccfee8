"""Whether records are made on time or when the system asks for them. The loop and `engine.workloads.generation` follow these models."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ..base.variant import Variant


class OpenLoop(Variant):
    """Records are made when the rate says, whatever the system does. What it has not taken yet waits, and its latency counts the wait."""

    title: ClassVar[str] = "Open loop"
    kind: Literal["open"] = "open"


class Coordinated(Variant):
    """Each partition's next record is made only after the last one was taken. A system that falls behind is given less to do, and nothing
    waits for it: latencies look better than users would find them. A flawed way to measure, for contrast.
    """

    title: ClassVar[str] = "Coordinated (closed loop)"
    source: ClassVar[str] = "Karimov 2020, 3.4.1 and Figure 3.4"
    kind: Literal["coordinated"] = "coordinated"


AnyGeneration = Annotated[OpenLoop | Coordinated, Field(discriminator="kind")]
