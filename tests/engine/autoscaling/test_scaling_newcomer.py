"""An autoscaler of another package: offered, checked, obeyed, and seen in the run's frames."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.spec import catalogue
from engine.spec.experiment import registry
from engine.spec.experiment.scaling import SCALINGS
from engine.spec.rules.validation import validate
from tests.newcomers.scaling import Backlog

from ...support.autoscaling_examples import made, simulated
from ...support.told_metrics import LINE, Told

OVERLOADED = {"kind": "constant", "per_s": 3e6}
SCALING = {"kind": "backlog", "start_s": 30, "cooldown_s": 30, "records_per_instance": 5_000_000}


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    registry.load_packages()
    before = SCALINGS.kinds
    SCALINGS.register(Backlog)
    yield
    SCALINGS.offer(before)


def test_it_is_offered_with_its_form() -> None:
    entry = next(entry for entry in catalogue()["scalings"] if entry["kind"] == "backlog")
    assert entry["schema"]["properties"]["records_per_instance"]["x-unit"] == "records"
    assert entry["decides_live"] is True
    assert "backlog" in registry.kinds("scalings")


@pytest.mark.parametrize(("pending", "instances"), [(0, 1), (2500, 1), (2501, 2), (23_751, 10)])
def test_its_advice(pending: int, instances: int) -> None:
    """Four sources with so many records each, and one instance for 10,000."""
    job = Told(LINE, {"source": 4, "window": 4, "sink": 4}, {"source": {"pending": pending}})
    policy = Backlog(records_per_instance=10_000).policy()
    assert policy.advise(job).parallelism == dict.fromkeys(LINE.operators, instances)


def test_its_orders_follow_the_backlog_of_the_run() -> None:
    """Five sources read 2.0257 of 3 million records a second: after 45 s 43.84 million wait, which is 9 instances of 5 million each."""
    simulation = simulated(made(SCALING, minutes=4, per_s=OVERLOADED))
    decisions = []
    while (frame := simulation.advance()) is not None:
        decisions += frame["scaling"]["decisions"]
    first = decisions[0]
    assert (first["t_s"], first["verdict"], first["values"]) == (45.0, "order", [["backlog", "bids", 43_840_000.0]])
    assert set(first["advice"].values()) == {9}
    for decision in decisions:
        waiting = next(row["pending"] for row in decision["read"] if row["operator"] == "bids")
        assert set(decision["advice"].values()) == {max(1, -(-waiting // 5_000_000))}
    assert simulation.summary()["scaling"]["up"] >= 2


def test_what_is_wrong_with_its_parameters_is_said_where_it_stands() -> None:
    (problem,) = validate(made(SCALING | {"records_per_instance": 0}, minutes=4))
    assert problem.pointer == "/policies/scaling/records_per_instance"
    assert "at least 1 records" in problem.message
