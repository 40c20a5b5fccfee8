"""Faults as controls: they act between instants, at times of the document or of a seeded process. One file for each kind."""

from __future__ import annotations

from collections.abc import Mapping

from engine.spec import Experiment

from .host_loss import HostLossControl
from .occurrences import FaultControl
from .pause import PauseControl
from .slow_host import SlowHostControl

FAULTS: Mapping[str, type[FaultControl]] = {"pause": PauseControl, "slow_host": SlowHostControl, "host_loss": HostLossControl}


def fault_controls(experiment: Experiment) -> list[FaultControl]:
    """One control for each fault of a host, in the document's order. (Those of links: `engine.network`.)"""
    controls = [FAULTS[fault.kind](experiment, number) for number, fault in enumerate(experiment.faults) if fault.kind in FAULTS]
    for control in controls:
        control.all = controls
    return controls
