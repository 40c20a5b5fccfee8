"""The parts of a rescaling mechanism."""

from __future__ import annotations

from typing import NamedTuple

from .job import Job
from .worker import RescalingWorker


class RescalingSetup(NamedTuple):
    """The classes of the job manager and the workers.

    pause_ns: time from the complete savepoint until it is fetched. features: of the event loop (`engine.core.weave.FEATURES`).
    """

    job: type[Job]
    worker: type[RescalingWorker]
    pause_ns: int
    features: tuple[str, ...] = ()
