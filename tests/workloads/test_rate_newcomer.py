"""A rate of another package: offered, drawn in the preview, run, and used inside other rates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import engine
from engine.spec import Experiment, catalogue, load, validate
from engine.spec.experiment import registry
from engine.spec.experiment.rates import PATTERNS, RATES
from engine.spec.rules.forking import Fork
from engine.workloads import preview
from tests.newcomers.rate import SawtoothRate
from tests.support.agreement import template

SAWTOOTH = {"kind": "sawtooth", "top_per_s": 400, "every_s": 4}


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    registry.load_packages()
    before = RATES.kinds
    RATES.register(SawtoothRate)
    yield
    RATES.offer(before)


def made(rate: Any, horizon_s: float = 8) -> dict[str, Any]:
    document = template("nexmark_q1", horizon_s=horizon_s, drain=True)
    for source in document["workload"]["sources"].values():
        source["rate"] = rate
    return document


def test_it_is_offered_with_its_form() -> None:
    entry = next(entry for entry in catalogue()["rates"] if entry["kind"] == "sawtooth")
    assert entry["schema"]["properties"]["top_per_s"]["x-unit"] == "records/s"
    assert SawtoothRate in PATTERNS.kinds


def test_its_records_come_at_its_rate() -> None:
    """100, 200, 300 and 400 records in the seconds of a period: 2,000 in two of them."""
    run = engine.run(made(SAWTOOTH))
    assert run.summary["records_in"] == 2000
    (source,) = load(made(SAWTOOTH)).workload.sources.values()
    assert [per_s for _, per_s in preview(source, 4 * 10**9, 8, {}.get)] == [100, 100, 200, 200, 300, 300, 400, 400]


def test_it_can_be_part_of_another_rate() -> None:
    """A second of 50 records, then three seconds of the sawtooth as if it had held from the start."""
    switched = {"kind": "switched", "before": {"kind": "constant", "per_s": 50}, "at_s": 1, "after": SAWTOOTH}
    assert engine.run(made(switched, horizon_s=4)).summary["records_in"] == 50 + 200 + 300 + 400
    assert "sawtooth" in str(Experiment.model_json_schema()["$defs"]["SwitchedRate"])
    Fork.model_validate({"at_s": 1, "rates": {"bids": SAWTOOTH}})


def test_what_is_wrong_with_its_parameters_is_said_where_it_stands() -> None:
    (problem,) = validate(made(SAWTOOTH | {"every_s": 0}))
    assert (problem.pointer.rpartition("/")[2], problem.code) == ("every_s", "out_of_range")


def test_without_it_the_document_is_refused() -> None:
    RATES.offer(tuple(kind for kind in RATES.kinds if kind is not SawtoothRate))
    (problem,) = validate(made(SAWTOOTH))
    assert problem.code == "unknown_kind"
