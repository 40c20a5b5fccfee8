"""A stream of another package: offered, and its records are those that it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import engine
from engine.spec import catalogue, validate
from engine.spec.experiment import registry
from engine.spec.experiment.streams import STREAMS
from tests.newcomers.stream import Heartbeat


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    registry.load_packages()
    before = STREAMS.kinds
    STREAMS.register(Heartbeat)
    yield
    STREAMS.offer(before)


def made(**stream: Any) -> dict[str, Any]:
    """A source and a sink, ten records a second."""
    return {
        "format": 1,
        "name": "heartbeats",
        "query": {
            "operators": [{"id": "beats", "kind": "source"}, {"id": "sink", "kind": "sink"}],
            "edges": [{"source": "beats", "target": "sink"}],
        },
        "cluster": {"hosts": [{"name": "host"}]},
        "workload": {
            "horizon_s": 1,
            "sources": {"beats": {"stream": {"kind": "heartbeat", "devices": 4} | stream, "rate": {"kind": "constant", "per_s": 10}}},
        },
    }


def test_it_is_offered_with_its_form_and_fields() -> None:
    entry = next(entry for entry in catalogue()["streams"] if entry["kind"] == "heartbeat")
    assert entry["schema"]["properties"]["devices"]["x-unit"] == "devices"
    assert [field["name"] for field in entry["fields"]] == ["device", "count"]


def test_its_records_are_delivered() -> None:
    """Four devices in turn: the first two report three times in ten records."""
    simulation = engine.Simulation(made(), keep_outputs=True)
    simulation.run_until(simulation.end_ns)
    values = [record["values"] for record in simulation.sink_records("sink")]
    assert values == [(n % 4, n // 4) for n in range(len(values))]
    assert len(values) >= 9


def test_what_is_wrong_with_its_parameters_is_said_where_it_stands() -> None:
    (problem,) = validate(made(devices=0))
    assert (problem.pointer, problem.code) == ("/workload/sources/beats/stream/devices", "out_of_range")
