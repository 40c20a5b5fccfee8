"""Moments of a run at which a loss hurts most, found in a run that is the same up to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import engine
from engine.core import layout as L
from tests.support import corner_cases

from .agreement import MS, finished, simulated
from .recovery_examples import Document, loss, values, with_losses

STEP_NS = 50_000
on_another_host = pytest.mark.parametrize("other", [False, True], ids=["there", "elsewhere"])

Moment = Callable[[engine.Simulation], set[int]]
"""Which hosts a moment concerns; none if it is not there."""


def slow(job: Callable[..., Document], protocol: Callable[..., Document]) -> Document:
    """The link of one host is slow, so that barriers and records are under way for long, and so is the store."""
    made = job(protocol=protocol(interval_s=0.04, detect_ms=2, restart_ms=3, store={"request_ms": 6.0}))
    names = [f"w{n + 1}" for n in range(made["cluster"]["hosts"][0]["count"])]
    made["cluster"]["hosts"] = [corner_cases.host(name, egress_latency_ms=6.0 if name == "w1" else 0.5) for name in names]
    return made


@cache
def expected(job: Callable[..., Document], protocol: Callable[..., Document]) -> frozenset[tuple[Any, ...]]:
    rows = values(finished(slow(job, protocol)))
    assert rows.total() > 400
    return frozenset(rows)


def coordinator_of(simulation: engine.Simulation) -> Any:
    return simulation._actors.actors[0]


def worker_of(simulation: engine.Simulation) -> Any:
    return simulation._actors.agent


def hosts_of(simulation: engine.Simulation) -> list[int]:
    found: list[int] = coordinator_of(simulation).machines
    return found


def meet(document: Document, moment: Moment, from_ns: int, to_ns: int) -> tuple[int, set[int]]:
    """The first time, on a grid, at which a moment concerns some hosts but not all, or if there is none, at which it concerns some."""
    found = list(_meetings(document, moment, from_ns, to_ns))
    assert found, f"{moment.__name__} is never met"
    return next(((now_ns, hosts) for now_ns, hosts, all in found if not all), found[0][:2])


def _meetings(document: Document, moment: Moment, from_ns: int, to_ns: int) -> Iterator[tuple[int, set[int], bool]]:
    simulation = simulated(document, trace=False)
    for now_ns in range(from_ns, to_ns, STEP_NS):
        simulation.run_until(now_ns)
        hosts = moment(simulation)
        if hosts:
            yield now_ns, hosts, hosts == set(hosts_of(simulation))
            if hosts != set(hosts_of(simulation)):
                return


def lost_then(document: Document, moment: Moment, from_ns: int, to_ns: int, other: bool) -> tuple[engine.Simulation, int, int]:
    """A run in which a host is lost just behind that moment, at the moment; when, and which host."""
    now_ns, hosts = meet(document, moment, from_ns, to_ns)
    everybody = range(len(document["cluster"]["hosts"]))
    host = max(set(everybody) - hosts or set(everybody) - {min(hosts)}) if other else min(hosts)
    name = document["cluster"]["hosts"][host]["name"]
    made = with_losses(document, [loss(name, (now_ns + 1) / 1e9, 0.004)])
    simulation = simulated(made, trace=False, keep_outputs=True)
    simulation.run_until(now_ns)
    assert moment(simulation) == hosts, "up to the loss both runs are the same"
    return simulation, now_ns + 1, host


def in_a_round(simulation: engine.Simulation) -> set[int]:
    """Rounds: hosts of instances that wait for barriers. Else: hosts that have taken their newest checkpoints while others have not, or,
    with forced ones, hosts where a record has just forced one."""
    worker, w = worker_of(simulation), simulation._world.arrays
    if hasattr(coordinator_of(simulation), "rounds"):
        waiting = np.flatnonzero(w.align[:, L.ALIGN_BARRED] > 0).tolist() or [i for _, i in getattr(worker, "begun", {})]
        return {worker.host_of[i] for i in waiting}
    if hasattr(worker, "forced_taken"):
        return {host for host, machine in worker.machines.items() if any(upload.forced for upload in machine.uploads.values())}
    newest = max(worker.numbers.values(), default=0)
    found = {host for host, number in worker.numbers.items() if number == newest}
    return found if len(found) < len(worker.instances) else set()


def in_an_upload(simulation: engine.Simulation) -> set[int]:
    """Hosts that have lately captured something that the store does not have."""
    since_ns = simulation.now_ns - MS
    machines = worker_of(simulation).machines.items()
    return {host for host, machine in machines if any(upload.captured_ns > since_ns for upload in machine.uploads.values())}
