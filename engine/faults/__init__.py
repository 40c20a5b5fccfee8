"""Faults as controls: they act between instants, at times of the document or of a seeded process, or when a host dies. A file for each."""

from __future__ import annotations

from collections.abc import Mapping

from engine.core.control.policy import Control
from engine.spec import Experiment
from engine.spec.experiment.memory import Budget

from .death import Supervisor
from .host_loss import HostLossControl, Loss
from .occurrences import FaultControl
from .pause import PauseControl
from .slow_host import SlowHostControl

FAULTS: Mapping[str, type[FaultControl]] = {"pause": PauseControl, "slow_host": SlowHostControl, "host_loss": HostLossControl}


def fault_controls(experiment: Experiment) -> list[Control]:
    """Controls for hosts that restart after a death, then one for each fault of a host, in the document's order. (Those of links:
    `engine.lowering.network`.)"""
    supervisors = [
        Supervisor(host.index, host.memory.restart_after_ns)
        for host in experiment.expanded_hosts()
        if isinstance(host.memory, Budget) and host.memory.restart_after_ns is not None
    ]
    faults = [FAULTS[fault.kind](experiment, number) for number, fault in enumerate(experiment.faults) if fault.kind in FAULTS]
    lost = [fault for fault in faults if isinstance(fault, HostLossControl)]
    for fault in faults:
        fault.all = faults
    losses: list[Loss] = [*supervisors, *lost]
    for supervisor in supervisors:
        supervisor.losses = losses
    for fault in lost:
        fault.losses = losses
    return [*supervisors, *faults]
