"""What a way of rescaling is made of."""

from __future__ import annotations

from typing import NamedTuple

from .job import Job
from .worker import RescalingWorker


class RescalingSetup(NamedTuple):
    """The classes of the job manager and of the workers on its machines.

    pause_ns: from the complete savepoint until it is fetched. features: of the loop (`engine.core.weave.FEATURES`).
    """

    job: type[Job]
    worker: type[RescalingWorker]
    pause_ns: int
    features: tuple[str, ...] = ()
