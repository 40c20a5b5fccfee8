"""Forks with another scheduler: the parent's past to the nanosecond, and then the other policy."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spec import Experiment, Refusal, load
from engine.spec.experiment.scheduling.fcfs import FirstComeFirstServed
from engine.spec.rules.forking import Fork

from ...support.agreement import DATASETS, simulated
from ...support.scheduled_examples import contended

AT_S = 2.1


def forked(kind: str, wanted: dict[str, Any]) -> dict[str, Any]:
    written = contended(kind, horizon_s=4)
    return Fork.model_validate({"at_s": AT_S, "scheduling": wanted}).applied(Experiment.model_validate(written), written)


@pytest.mark.parametrize("parent", ["none", "klink", "streambox"])
@pytest.mark.parametrize("wanted", ["none", "round_robin", "klink", "default"])
def test_a_fork_has_its_parents_past_and_another_scheduler(parent: str, wanted: str) -> None:
    if parent == wanted:
        return
    document = forked(parent, {"kind": wanted})
    load(document)
    runs = [simulated(contended(parent, horizon_s=4)), simulated(document)]
    for run in runs:
        run.run_until(run.end_ns)
    own, other = (run.service_trace().tolist() for run in runs)
    until_ns = round(AT_S * 1e9)
    assert [row[:2] for row in own if row[1] < until_ns] == [row[:2] for row in other if row[1] < until_ns]
    assert own != other


def test_a_fork_of_a_fork_switches_again() -> None:
    written = forked("klink", {"kind": "fcfs"})
    parent = load(written)
    again = Fork(at_s=3, scheduling=FirstComeFirstServed(cycle_ms=500)).applied(parent, written)
    scheduling = again["policies"]["scheduling"]
    assert (scheduling["at_s"], scheduling["after"]["cycle_ms"], scheduling["before"]["at_s"]) == (3, 500, AT_S)
    simulation = simulated(again, trace=False, datasets=DATASETS)
    simulation.run_until(3_999_999_999)
    assert simulation._scheduler is not None
    assert simulation._scheduler.counts()["cycles"] == 17 + 8 + 2


def test_no_policy_can_follow_fair_threads() -> None:
    with pytest.raises(Refusal, match="more operators may be in service than there are cores") as refusal:
        forked("default", {"kind": "klink"})
    assert refusal.value.at == ("scheduling",)
    written = forked("klink", {"kind": "default"})
    with pytest.raises(Refusal, match="the parent ends with 'default'") as refusal:
        Fork(at_s=3, scheduling=FirstComeFirstServed()).applied(load(written), written)
    assert refusal.value.at == ("scheduling",)


def test_after_a_switch_to_fair_threads_the_scheduler_does_nothing() -> None:
    simulation = simulated(forked("klink", {"kind": "default"}), trace=False, datasets=DATASETS)
    simulation.run_until(round(AT_S * 1e9) - 1)
    assert simulation._scheduler is not None
    cycles = simulation._scheduler.counts()["cycles"]
    simulation.run_until(simulation.end_ns)
    assert simulation._scheduler.counts()["cycles"] == cycles
    assert simulation._scheduler.title == "Default (fair threads)"
    assert simulation._scheduler.cycles == []
