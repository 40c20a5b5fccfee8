"""A run of one experiment: built from its parts, divided into frames, saved and resumed, forked, and read."""

from engine.spec.base.version import ENGINE_VERSION

from .results import Run, run, warm_up
from .simulation import Simulation

__all__ = ["ENGINE_VERSION", "Run", "Simulation", "run", "warm_up"]
