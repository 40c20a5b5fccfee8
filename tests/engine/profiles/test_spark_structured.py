"""Structured Streaming's profile.

What this catches: records of the next micro-batch in this one; watermarks of this micro-batch in place of the one before; results that can
be read before the commit; a micro-batch without anything to do; jobs side by side.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import engine
from engine.spec import Experiment, validate
from tests.oracle import simulate

from ...support.agreement import DATASETS, assert_agreement, traced
from ...support.job_twins import MicroBatchTwin
from ...support.strategies import documents

MS = 1_000_000


def agreed(document: dict[str, Any]) -> tuple[MicroBatchTwin, engine.Simulation]:
    twin, simulation = MicroBatchTwin(document), traced(document)
    expected = simulate(Experiment.model_validate(document), DATASETS, orders=twin.orders, chooser=twin.choose)
    assert_agreement(document, simulation, expected)
    end_ns = simulation.now_ns
    told = [(job.batch_ns, sum(job.records), job.start_ns, job.ends_ns) for job in driver(simulation).jobs]
    assert told == [(due, sum(records.values()), start, ends) for due, records, start, ends in twin.jobs if due <= end_ns]
    return twin, simulation


def driver(simulation: engine.Simulation) -> Any:
    return simulation._engine[0]


def structured(document: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A random document under Structured Streaming."""
    document = copy.deepcopy(document)
    document.pop("prices", None)
    for edge in document["query"]["edges"]:
        edge.pop("capacity", None)
    for operator in document["query"]["operators"]:
        if operator["kind"] == "aggregate" and isinstance(operator.get("params", {}).get("window"), dict):
            operator["params"]["emit"] = "on_close"
    for source in document["workload"]["sources"].values():
        if source.get("watermarks", {}).get("kind") == "device":
            source["watermarks"]["kind"] = "bounded"
    timed = {"plan_ms": 0.4, "stage_ms": 0.3, "task_ms": 0.1, "commit_ms": 0.5, "status_ms": 1}
    document["policies"] = {"engine": {"kind": "spark_structured"} | timed | fields}
    return document


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(document=documents(), trigger_ms=st.sampled_from((0, 3)))
def test_random_experiments_under_structured_streaming_agree_with_the_oracle(document: dict[str, Any], trigger_ms: int) -> None:
    document = structured(document, trigger_s=trigger_ms / 1000)
    assume(not validate(document))
    agreed(document)
