"""An experiment as a model of the Spark of a calibrated machine. Catches: tasks, edges and prices that are not those of the program that
Spark executes; files that are no calibration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import engine
from engine.export.calibration import NotCalibrated, on_spark, read
from engine.spec import InvalidExperiment
from engine.spec.rules.validation import Context, load

from ...support.calibrated import MACHINE

EXAMPLES = Path(__file__).resolve().parents[3] / "fixtures" / "experiments"


def example(name: str, **workload: Any) -> Any:
    document = yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text())
    document["workload"] |= workload
    for policy in ("checkpointing",):
        document.get("policies", {}).pop(policy, None)
    return load(document, Context())


def test_tasks_are_those_of_the_program() -> None:
    """One reads each source, one has each partition of state; a filter works in the task before it, and records are repartitioned at the
    join, by the keys of its two sides."""
    made = on_spark(example("nexmark_q3"), MACHINE, Context(), partitions=4, records_max=100)
    assert {spec.id: spec.parallelism for spec in made.query.operators} == {"persons": 1, "auctions": 1, "filter": 1, "join": 4, "sink": 4}
    ways = {(edge.source, edge.target): edge.partitioning for edge in made.query.edges}
    assert ways["persons", "filter"].kind == "forward"
    assert (ways["filter", "join"].kind, ways["filter", "join"].key) == ("hash", "id")
    assert (ways["auctions", "join"].kind, ways["auctions", "join"].key) == ("hash", "seller")
    assert ways["join", "sink"].kind == "forward"
    (host,) = made.cluster.hosts
    assert (host.cores, made.policies.engine.records_max, made.policies.engine.plan_ms) == (2, 100, 200), (
        "planning takes as long for each source"
    )
    assert {spec.cost.record_us for spec in made.query.operators} == {1.0}


def test_the_model_reads_what_is_there_in_as_many_micro_batches_as_files() -> None:
    experiment = example("nexmark_q3", horizon_s=0.5, warmup_s=0, drain=True)
    plain = engine.Simulation(experiment, keep_outputs=True)
    plain.run_until(plain.end_ns)
    records = int(plain.summary()["records_in"])
    model = engine.Simulation(on_spark(experiment, MACHINE, Context(), 4, -(-records // 5)), keep_outputs=True)
    jobs: dict[float, Any] = {}
    while (frame := model.advance()) is not None:
        jobs |= {job["due_s"]: job for job in frame["engine"]["jobs"] if job["records"]}
    assert [job["records"] for job in jobs.values()][:4] == pytest.approx([records / 5] * 4, abs=2)
    assert sum(job["records"] for job in jobs.values()) == records
    assert sorted(row["values"] for row in model.sink_records("sink")) == sorted(row["values"] for row in plain.sink_records("sink"))


def test_what_the_engine_does_not_have_is_refused_at_its_place() -> None:
    with pytest.raises(InvalidExperiment) as refused:
        on_spark(example("nexmark_q3_ttl"), MACHINE, Context(), 4)
    assert any("Spark Structured Streaming 4 has no 'expiring_join'" in problem.message for problem in refused.value.problems)


def test_a_calibration_is_read_as_it_was_written(tmp_path: Path) -> None:
    MACHINE.write(tmp_path / "new" / "calibration.json")
    assert read(tmp_path / "new" / "calibration.json") == MACHINE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "does not exist; measure this machine first with manage.py calibrate"),
        ("[]", "is no calibration"),
        ("{", "is no calibration"),
        (json.dumps({"format": 2}), "has another format than 1"),
        (json.dumps({"format": 1, "made": "today"}), "is no calibration"),
    ],
)
def test_a_file_that_is_none_says_what_to_do(text: str | None, words: str, tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(NotCalibrated, match=words):
        read(path)


def test_one_that_lacks_a_price_is_none(tmp_path: Path) -> None:
    MACHINE.write(tmp_path / "whole.json")
    told = json.loads((tmp_path / "whole.json").read_text())
    del told["prices_us"]["source"]["record_us"]
    (tmp_path / "lacking.json").write_text(json.dumps(told))
    with pytest.raises(NotCalibrated, match="lacks prices or overheads"):
        read(tmp_path / "lacking.json")
