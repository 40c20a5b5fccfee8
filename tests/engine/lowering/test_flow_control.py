"""What every flow control promises; and one from outside the package, in one file (tests/newcomers/flow_control.py).

What this catches: a channel that holds more records than its flow control says, or loses some; a sender that waits although nothing bounds
its channels; and a flow control of another package that the engine does not treat as one of ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import engine
from engine.spec import validate
from engine.spec.base.family import kind_of
from engine.spec.experiment.flow_control import FLOW_CONTROLS
from engine.spec.experiment.flow_control.base import FlowControl

from ...support.agreement import traced
from ...support.family_contracts import assert_is_shown, newcomer, offered
from ...support.worked_examples import line

SHARED = newcomer("flow_control").SharedCredits
SENDERS = 2


@pytest.fixture
def from_outside() -> Iterator[None]:
    with offered(FLOW_CONTROLS, SHARED):
        yield


def overloaded(**flow_control: Any) -> dict[str, Any]:
    """Two instances of a source send a record every ms to one sink, which takes 3 ms for each; 100 in all."""
    made = line(horizon_s=0.1)
    made["query"]["operators"][0]["parallelism"] = SENDERS
    made["query"]["edges"][0]["partitioning"] = {"kind": "rebalance"}
    made["cluster"]["hosts"][0]["cores"] = 4
    made["workload"]["drain"] = True
    return made | {"policies": {"flow_control": flow_control}}


def longest_queue(document: dict[str, Any]) -> tuple[int, engine.Simulation]:
    """The longest queue of the sink, looked at every ms."""
    simulation = engine.Simulation(document)
    longest = 0
    for now_ms in range(100):
        simulation.run_until(now_ms * 10**6)
        sink = len(simulation._world.arrays.inst) - 1
        longest = max(longest, len(simulation._world.queue(sink)))
    simulation.run_until(simulation.end_ns)
    return longest, simulation


def assert_contract(kind: type[FlowControl]) -> None:
    assert_is_shown(FLOW_CONTROLS, kind)
    policy = kind.model_validate({})
    may_hold = policy.records(100, SENDERS, 1, 3_000_000)
    longest, simulation = longest_queue(overloaded(kind=kind_of(kind)))
    summary = simulation.summary()
    assert simulation.drained
    assert summary["records_in"] == summary["records_out"] == 100
    assert policy.bounded == (may_hold is not None)
    without_bound, _ = longest_queue(overloaded(kind="unbounded"))
    holds_back = may_hold is not None and SENDERS * may_hold < without_bound
    assert holds_back == (summary["operators"]["source"]["blocked"] > 0)
    assert longest == (SENDERS * may_hold if may_hold is not None and SENDERS * may_hold < 60 else longest)


@pytest.mark.parametrize("kind", FLOW_CONTROLS.kinds, ids=kind_of)
def test_every_flow_control_keeps_the_contract(kind: type[FlowControl]) -> None:
    assert_contract(kind)


@pytest.mark.usefixtures("from_outside")
def test_a_newcomer_keeps_the_contract() -> None:
    assert_contract(SHARED)


@pytest.mark.usefixtures("from_outside")
def test_a_newcomer_shares_what_an_instance_may_hold() -> None:
    """Seven records, two channels: three each."""
    shared = overloaded(kind="shared", per_instance=7)
    assert longest_queue(shared)[0] == 6
    alike = overloaded(kind="credits", per_channel=3)
    assert traced(shared).service_trace().tolist() == traced(alike).service_trace().tolist()


def test_without_it_a_document_is_refused() -> None:
    (problem,) = validate(overloaded(kind="shared"))
    assert problem.pointer == "/policies/flow_control/kind"
