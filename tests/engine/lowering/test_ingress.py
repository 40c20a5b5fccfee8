"""What every ingress policy promises; and one from outside the package, in one file (tests/newcomers/ingress.py).

What this catches: a policy that loses records without counting them, that lets a guarded host hold more than its mark, or that throws away
where it should wait; and a policy of another package that the engine does not treat as one of ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import engine
from engine.spec import validate
from engine.spec.base.family import kind_of
from engine.spec.experiment.ingress import INGRESSES
from engine.spec.experiment.ingress.base import Ingress

from ...support.agreement import traced
from ...support.family_contracts import assert_is_shown, newcomer, offered
from ...support.worked_examples import line

UNTIL_EMPTY = newcomer("ingress").DropUntilEmpty
EXAMPLE = {"queued_max": 5}
"""Settings that some kinds need."""


@pytest.fixture
def from_outside() -> Iterator[None]:
    with offered(INGRESSES, UNTIL_EMPTY):
        yield


def overloaded(**ingress: Any) -> dict[str, Any]:
    """A source reads a record every ms, 100 in all; the sink beside it takes 3 ms for each."""
    made = line(horizon_s=0.1)
    made["workload"]["drain"] = True
    return made | {"policies": {"ingress": ingress}}


def assert_contract(kind: type[Ingress]) -> None:
    assert_is_shown(INGRESSES, kind)
    settings = {name: value for name, value in EXAMPLE.items() if name in kind.model_fields}
    policy = kind.model_validate(settings)
    marks = policy.marks(None)
    simulation = engine.Simulation(overloaded(kind=kind_of(kind), **settings))
    longest = 0
    for now_ms in range(100):
        simulation.run_until(now_ms * 10**6)
        longest = max(longest, len(simulation._world.queue(1)))
    simulation.run_until(simulation.end_ns)
    summary = simulation.summary()
    assert simulation.drained
    assert summary["records_in"] == summary["records_out"] + summary["shed"] == 100
    assert (summary["shed"] > 0) == policy.drops
    assert policy.guards == (marks.queued_max is not None)
    on_their_way = 2  # one is sent and one is read before the queue is seen to be too long
    assert longest <= marks.queued_max + on_their_way if marks.queued_max is not None else longest > 60


@pytest.mark.parametrize("kind", INGRESSES.kinds, ids=kind_of)
def test_every_policy_keeps_the_contract(kind: type[Ingress]) -> None:
    assert_contract(kind)


@pytest.mark.usefixtures("from_outside")
def test_a_newcomer_keeps_the_contract() -> None:
    assert_contract(UNTIL_EMPTY)


@pytest.mark.usefixtures("from_outside")
def test_a_newcomer_throws_away_until_the_queue_is_empty() -> None:
    """The queue grows by two in 3 ms. The ninth record is the sixth that waits: the host is full, at 8 ms. The sink begins the last of
    them at 24 ms, so that records 9 to 24, sixteen, are thrown away. Behind them the same again, every 24 ms, four times in all."""
    document = overloaded(kind="drop_until_empty", items=5)
    simulation = engine.run(document)
    assert (simulation.summary["shed"], simulation.summary["records_out"]) == (64, 36)
    alike = traced(overloaded(kind="drop", queued_max=5, resume=0))
    assert traced(document).service_trace().tolist() == alike.service_trace().tolist()


def test_without_it_a_document_is_refused() -> None:
    (problem,) = validate(overloaded(kind="drop_until_empty"))
    assert problem.pointer == "/policies/ingress/kind"
