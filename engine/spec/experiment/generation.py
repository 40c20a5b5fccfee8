"""Open-loop and coordinated (closed-loop) load generation. The event loop and `engine.workloads.generation` implement these models."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ..base.variant import Variant


class OpenLoop(Variant):
    """Records are generated at the given rate, whatever the system does. Unread records wait, and latency includes the wait."""

    title: ClassVar[str] = "Open loop"
    kind: Literal["open"] = "open"


class Coordinated(Variant):
    """Each partition generates its next record only after the previous one was read. A system that falls behind gets less load,
    and no backlog builds up, so latencies look better than users would see (coordinated omission). A flawed method, for contrast.
    """

    title: ClassVar[str] = "Coordinated (closed loop)"
    source: ClassVar[str] = "Karimov 2020, 3.4.1 and Figure 3.4"
    kind: Literal["coordinated"] = "coordinated"


AnyGeneration = Annotated[OpenLoop | Coordinated, Field(discriminator="kind")]
