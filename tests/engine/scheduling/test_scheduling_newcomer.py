"""A scheduler of another package: offered, checked, in force, and seen in the run's frames."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import engine
from engine.spec import catalogue
from engine.spec.experiment import registry
from engine.spec.experiment.scheduling import SCHEDULINGS
from engine.spec.rules.validation import validate
from tests.newcomers.scheduling import LongestQueue

from ...support.agreement import frames_of
from ...support.scheduled_examples import contended


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    registry.load_packages()
    before = SCHEDULINGS.kinds
    SCHEDULINGS.register(LongestQueue)
    yield
    SCHEDULINGS.offer(before)


def test_it_is_offered_with_its_form() -> None:
    entry = next(entry for entry in catalogue()["schedulings"] if entry["kind"] == "longest_queue")
    assert entry["schema"]["properties"]["threshold"]["x-unit"] == "records"
    assert "longest_queue" in registry.kinds("schedulings")


@pytest.mark.parametrize("switched", [False, True], ids=["alone", "after a switch"])
def test_it_decides_who_runs(switched: bool) -> None:
    document = contended("longest_queue", threshold=2)
    if switched:
        document["policies"]["scheduling"] = {
            "kind": "switched",
            "before": {"kind": "fcfs"},
            "at_s": 2,
            "after": document["policies"]["scheduling"],
        }
    frames = frames_of(engine.Simulation(document))
    assert frames[-1]["scheduling"]["policy"] == "Longest queue"
    rows = sorted(frames[12]["scheduling"]["hosts"]["w"]["queries"].values(), key=lambda row: row["rank"])
    waits = [row["why"]["waits"] for row in rows]
    assert waits == sorted(waits, reverse=True)
    assert len(rows) == 6


def test_what_is_wrong_with_its_parameters_is_said_where_it_stands() -> None:
    (problem,) = validate(contended("longest_queue", threshold=0))
    assert problem.pointer == "/policies/scheduling/threshold"
    assert "at least 1 records" in problem.message
