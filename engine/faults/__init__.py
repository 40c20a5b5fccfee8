"""Host faults as controls: they act between instants, at times from the document or a seeded process, or when a host dies.

Each kind has a file of its name with `control`, the class that acts, constructed with the experiment and the fault's number.
"""

from __future__ import annotations

from engine.core.control.policy import Control
from engine.spec import Experiment
from engine.spec.base.family import implementation
from engine.spec.experiment.faults.host_fault import HostFault
from engine.spec.experiment.memory import Budget

from .death import Supervisor
from .fault_control import FaultControl
from .host_loss import HostLossControl, Loss


def fault_controls(experiment: Experiment) -> list[Control]:
    """Return controls for hosts that restart after a death, then one per host fault, in document order. (Link faults:
    `engine.lowering.network`.)"""
    supervisors = [
        Supervisor(host.index, host.memory.restart_after_ns)
        for host in experiment.expanded_hosts()
        if isinstance(host.memory, Budget) and host.memory.restart_after_ns is not None
    ]
    faults: list[FaultControl] = []
    for number, fault in enumerate(experiment.faults):
        if isinstance(fault, HostFault):
            faults.append(implementation(type(fault), __name__, "control")(experiment, number))
    lost = [control for control in faults if isinstance(control, HostLossControl)]
    for control in faults:
        control.all = faults
    losses: list[Loss] = [*supervisors, *lost]
    for supervisor in supervisors:
        supervisor.losses = losses
    for control in lost:
        control.losses = losses
    return [*supervisors, *faults]
