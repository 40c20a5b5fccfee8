"""Stop and restart (Siachamis 2024, 4.3): the whole job stops with a savepoint and restarts from it."""

from __future__ import annotations

from engine.spec.base.units import seconds_ns
from engine.spec.experiment.rescaling.stop_and_restart import StopAndRestart

from .job import Job
from .setup import RescalingSetup
from .worker import RescalingWorker


def setup(about: StopAndRestart) -> RescalingSetup:
    return RescalingSetup(Job, RescalingWorker, seconds_ns(about.restart_s))
