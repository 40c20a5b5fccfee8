"""Judges a run of any length by checkers that know nothing of the engine (`tests/support/checkers.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np

import engine
from engine.spec import Experiment
from engine.telemetry.frames import Counters
from tests.oracle.build import build_hosts, pin, place
from tests.support import checkers

from .agreement import traced


def processors(experiment: Experiment) -> list[list[int]]:
    """The processors that may serve each instance, as the oracle numbers them."""
    hosts = build_hosts(experiment)
    instances = place(experiment, hosts)
    pin(experiment, hosts, instances)
    return [[processor.number for processor in instance.processors] for instance in instances]


def check_accounts(simulation: engine.Simulation, trace: list[checkers.Service]) -> None:
    """Busy and stolen time are the time in service; with the blocked time they leave some of the time idle, or none."""
    now_ns = simulation.now_ns
    w = simulation._world.arrays
    accounts = Counters.read(w, now_ns, 0, np.zeros(len(w.inst), np.int64))
    served_ns = np.zeros(len(accounts.busy_ns), np.int64)
    for service in trace:
        served_ns[service.instance] += min(service.end_ns, now_ns) - service.start_ns
    assert (accounts.busy_ns + accounts.stolen_ns == served_ns).all()
    for part in (accounts.busy_ns, accounts.stolen_ns, accounts.blocked_ns, now_ns - served_ns - accounts.blocked_ns):
        assert (part >= 0).all()


def judge(document: dict[str, Any]) -> Any:
    """The run of a document, once all checkers have passed it."""
    simulation = traced(document)
    topology = checkers.Topology.of(simulation.experiment)
    trace = checkers.services(simulation.service_trace(with_trigger=True).tolist())
    checkers.check_services(topology, trace, [round(death["at_s"] * 1e9) for death in simulation.deaths])
    checkers.check_processors(topology, trace, processors(simulation.experiment))
    check_accounts(simulation, trace)
    checkers.check_causality(topology, trace)
    checkers.check_fifo(topology, trace)
    for operator in simulation.experiment.query.operators:
        if operator.kind == "sink":
            checkers.check_latencies(simulation.sink_records(operator.id), trace)
    faults = simulation.experiment.faults
    heals = all(fault.kind != "partition" or fault.to_s is not None for fault in faults)
    returns = all(fault.kind != "host_loss" or fault.restart_after_s is not None for fault in faults)
    if simulation.drained and heals and returns:
        summary = simulation.summary()
        checkers.check_conservation(topology, summary["operators"])
        checkers.check_every_input_is_served_once(topology, trace, summary["records_in"])
        assert summary["backlog"] == 0
    return simulation
