"""A fault of another package: offered, checked, carried out, and continued from a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import engine
from engine.spec import catalogue, validate
from engine.spec.experiment import registry
from engine.spec.experiment.faults import FAULTS
from tests.newcomers.fault import HotHost

from ...support.agreement import MS, traced
from ...support.worked_examples import chains_on_a_host


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    registry.load_packages()
    before = FAULTS.kinds
    FAULTS.register(HotHost)
    yield
    FAULTS.offer(before)


def made(**more: Any) -> dict[str, Any]:
    """A service of 10 ms each 20 ms, on a host that is hot from 10 to 70 ms."""
    document = chains_on_a_host({"kind": "shared_fifo"}, 1, 1, gap_ms=20.0)
    document["workload"]["horizon_s"] = 0.1
    fault = {"kind": "hot_host", "host": "h", "when": {"kind": "at", "at_s": 0.01}, "for_ms": 60.0, "step_ms": 20.0}
    return document | {"faults": [fault | more]}


def test_it_is_offered_with_its_form() -> None:
    entry = next(entry for entry in catalogue()["faults"] if entry["kind"] == "hot_host")
    assert entry["schema"]["properties"]["step_ms"]["x-unit"] == "ms"
    assert "hot_host" in str(registry.document_schema())


def test_services_take_twice_and_four_times_as_long() -> None:
    """At 20 ms the speed is a half, at 40 a quarter. That service ends at 80, when all is over."""
    rows = traced(made()).service_trace()
    assert [(end - start) / MS for i, start, end, _ in rows.tolist() if i == 0] == [10, 20, 40, 10, 10]


@pytest.mark.parametrize("cut_ms", [5, 15, 45, 65, 75])
def test_a_run_continues_from_a_snapshot(cut_ms: int) -> None:
    whole = engine.Simulation(made())
    whole.run_until(whole.end_ns)
    first = engine.Simulation(made())
    first.run_until(cut_ms * MS)
    second = engine.Simulation(made())
    second.restore(first.snapshot())
    second.run_until(second.end_ns)
    assert second.digest() == whole.digest()


def test_what_is_wrong_with_its_parameters_is_said_where_it_stands() -> None:
    assert [(problem.pointer, problem.code) for problem in validate(made(host="g", step_ms=0))] == [
        ("/faults/0/step_ms", "out_of_range"),
    ]
    assert [(problem.pointer, problem.code) for problem in validate(made(host="g"))] == [("/faults/0/host", "unknown_host")]
