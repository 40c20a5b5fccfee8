"""A law of delays of another package: offered, and seen in what arrives when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine.spec import catalogue, load, validate
from engine.spec.experiment import registry
from engine.spec.experiment.delays import DISORDERS
from tests.newcomers.delay import EveryDelay
from tests.support.agreement import template


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    registry.load_packages()
    before = DISORDERS.kinds
    DISORDERS.register(EveryDelay)
    yield
    DISORDERS.offer(before)


def made(**disorder: Any) -> dict[str, Any]:
    """Ten records a second, one each 100 ms."""
    document = template("nexmark_q1", horizon_s=1, drain=True)
    for source in document["workload"]["sources"].values():
        source |= {"rate": {"kind": "constant", "per_s": 10}, "disorder": {"kind": "every", "every": 5, "delay_ms": 150} | disorder}
    return document


def test_it_is_offered_with_its_form() -> None:
    entry = next(entry for entry in catalogue()["disorders"] if entry["kind"] == "every")
    assert entry["schema"]["properties"]["every"]["x-unit"] == "records"


def test_each_fifth_record_is_late() -> None:
    """Record 4 comes 150 ms after it was made, behind record 5. Record 9 would come behind the horizon."""
    (source,) = load(made()).workload.sources.values()
    numbers = np.arange(10)
    assert EveryDelay(every=5, delay_ms=150).delays(None, None).of(numbers, numbers).tolist() == [0, 0, 0, 0, 150_000_000] * 2
    assert source.disorder == EveryDelay(every=5, delay_ms=150)
    simulation = engine.Simulation(made(), keep_outputs=True)
    simulation.run_until(simulation.end_ns)
    at_ms = [record["event_ns"] // 10**6 for record in simulation.sink_records("sink")]
    assert at_ms == [0, 100, 200, 300, 500, 400, 600, 700, 800]


def test_what_is_wrong_with_its_parameters_is_said_where_it_stands() -> None:
    (problem,) = validate(made(every=0))
    assert (problem.pointer.rpartition("/")[2], problem.code) == ("every", "out_of_range")
