"""Pauses and slow hosts: worked examples, and the random process."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import engine
from engine.core import layout as L
from engine.faults import fault_controls
from engine.spec import load, validate

from ...support.agreement import MS, assert_agreement, template, traced
from ...support.worked_examples import chains_on_a_host, first_services


def at(kind: str, at_s: float, for_ms: float, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "host": "h", "when": {"kind": "at", "at_s": at_s}, "for_ms": for_ms, **more}


@pytest.mark.parametrize("processor", ["dedicated", "shared_fifo", "pool", "processor_sharing"])
def test_a_service_takes_longer_by_the_pause(processor: str) -> None:
    made = chains_on_a_host({"kind": processor}, 2, 1) | {"faults": [at("pause", 0.004, 100.0)]}
    simulation = traced(made)
    ((start_ns, end_ns),) = first_services(simulation)
    assert (start_ns, end_ns) == (0, 110 * MS)
    accounts = simulation.summary()["operators"]["source0"]
    assert accounts["stolen"] == pytest.approx(100 / 2000, abs=1e-3)
    assert_agreement(made, simulation)


def test_pauses_that_overlap_last_until_the_later_end() -> None:
    made = chains_on_a_host({"kind": "shared_fifo"}, 1, 1) | {
        "faults": [at("pause", 0.004, 50.0), at("pause", 0.010, 100.0), at("pause", 0.02, 1.0)]
    }
    ((_, end_ns),) = first_services(traced(made))
    assert end_ns == 10 * MS + 106 * MS
    assert_agreement(made)


def test_services_that_have_begun_keep_their_speed() -> None:
    made = chains_on_a_host({"kind": "shared_fifo"}, 1, 1, gap_ms=20.0) | {"faults": [at("slow_host", 0.004, 30.0, factor=0.5)]}
    made["workload"]["horizon_s"] = 0.1
    rows = traced(made).service_trace()
    took_ms = [(end - start) / MS for i, start, end, _ in rows.tolist() if i == 0]
    assert took_ms == [10.0, 20.0, 10.0, 10.0, 10.0]
    assert_agreement(made)


def test_faults_at_random_come_as_often_as_asked_and_the_same_each_time() -> None:
    made = chains_on_a_host({"kind": "shared_fifo"}, 1, 1) | {
        "faults": [{"kind": "slow_host", "host": "h", "when": {"kind": "random", "mean_s": 0.01}, "for_ms": 5.0}]
    }
    (control,) = fault_controls(load(made))
    simulation = engine.Simulation(made)
    begins = []
    while control.next_ns < 20 * 10**9:
        begins.append(control.next_ns)
        control.act(simulation._world, control.next_ns)
    spans_ms = np.diff(begins)[1::2] / MS  # from the end of one to the next is every other one
    assert np.diff(begins)[::2].tolist() == [5 * MS] * (len(begins) // 2)
    assert spans_ms.mean() == pytest.approx(10.0, rel=0.1)
    assert simulation._world.arrays.host[0, L.H_SPEED] in (500, 1000)
    assert engine.run(made).digest == engine.run(made).digest


def test_a_run_with_faults_can_be_saved_and_cut_anywhere() -> None:
    made = template("nexmark_q12", horizon_s=1.0)
    made["faults"] = [
        {"kind": "pause", "host": "w1", "when": {"kind": "random", "mean_s": 0.05}, "for_ms": 20.0},
        {"kind": "slow_host", "host": "w2", "when": {"kind": "random", "mean_s": 0.1}, "for_ms": 100.0, "factor": 0.3},
    ]
    whole = engine.Simulation(made)
    whole.run_until(whole.end_ns)
    for moment_ns in (1, 123_456_789, 555_555_555, 987_654_321):
        first, second = engine.Simulation(made), engine.Simulation(made)
        first.run_until(moment_ns)
        second.restore(first.snapshot())
        second.run_until(second.end_ns)
        assert second.digest() == whole.digest()


@pytest.mark.parametrize(
    ("fault", "place", "code"),
    [
        (at("pause", 2.0, 1.0), "/faults/0/when/at_s", "outside_run"),
        (at("pause", 0.1, 1.0) | {"host": "x"}, "/faults/0/host", "unknown_host"),
        (at("pause", 0.1, 0.0), "/faults/0/for_ms", "out_of_range"),
        (at("pause", -0.1, 1.0), "/faults/0/when/at_s", "out_of_range"),
        (at("slow_host", 0.1, 1.0, factor=0.0), "/faults/0/factor", "out_of_range"),
        (
            {"kind": "host_loss", "host": "h", "when": {"kind": "at", "at_s": 0.1}, "restart_after_s": 0},
            "/faults/0/restart_after_s",
            "out_of_range",
        ),
        ({"kind": "host_loss", "host": "h", "when": {"kind": "at", "at_s": 3}}, "/faults/0/when/at_s", "outside_run"),
        (at("meteor", 0.1, 1.0), "/faults/0/kind", "unknown_kind"),
        (at("pause", 0.1, 1.0) | {"when": {"kind": "random", "mean_s": 0}}, "/faults/0/when/mean_s", "out_of_range"),
    ],
)
def test_what_is_wrong_with_a_fault_is_said_at_its_place(fault: dict[str, Any], place: str, code: str) -> None:
    (problem,) = validate(chains_on_a_host({"kind": "shared_fifo"}, 1, 1) | {"faults": [fault]})
    assert (problem.pointer, problem.code) == (place, code)
    assert (f"{problem.value:g}" if isinstance(problem.value, float) else str(problem.value)) in problem.message


@pytest.mark.slow
def test_a_pause_alone_keeps_no_run_going() -> None:
    """All hosts stand still when the logs end; in one run they have nothing to do then, in the other they have."""
    document = template("nexmark_q1", horizon_s=0.1, drain=True)
    document["measurement"]["frame_ms"] = 10
    pause = {"kind": "pause", "for_ms": 95.0}
    host = document["cluster"]["hosts"][0]["name"]
    idle, busy = (copy.deepcopy(document) for _ in range(2))
    idle["workload"]["sources"]["bids"]["rate"] = {"kind": "steps", "steps": [{"at_s": 0, "per_s": 1000}, {"at_s": 0.05, "per_s": 0}]}
    for made in (idle, busy):
        made["faults"] = [pause | {"host": f"{host}{n}", "when": {"kind": "at", "at_s": 0.08}} for n in (1, 2, 3, 4)]
    waiting = copy.deepcopy(busy)
    waiting["workload"]["sources"]["bids"]["generation"] = {"kind": "coordinated"}  # what comes due in the pause is never made
    assert traced(idle).now_ns == 100_000_000
    assert traced(busy).now_ns >= 175_000_000
    for made in (idle, busy, waiting):
        assert_agreement(made)
