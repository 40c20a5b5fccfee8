"""Columns that nobody reads are not carried, and nothing else changes."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

import engine
from engine.lowering import column_pruning
from engine.spec import load
from engine.spec.rules.validation import Context, schemas

EXAMPLES = Path(__file__).parents[3] / "fixtures" / "experiments"


def example(name: str, horizon_s: float = 1.0) -> dict[str, Any]:
    made: dict[str, Any] = yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text())
    made["workload"] |= {"horizon_s": horizon_s, "warmup_s": 0.0}
    return made


def carried(document: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    experiment = load(document)
    return {port: schema.names for port, schema in column_pruning.carried(experiment, schemas(experiment, Context())).items()}


def test_only_what_somebody_reads_is_carried() -> None:
    fields = carried(example("nexmark_q3"))
    assert fields["persons.out"] == fields["filter.in"] == fields["filter.out"] == fields["join.left"] == ("id", "name", "city", "state")
    assert fields["auctions.out"] == fields["join.right"] == ("id", "seller")
    assert fields["join.out"] == fields["sink.in"] == ("name", "city", "state", "right_id")


def test_what_the_output_does_not_name_is_not_carried() -> None:
    document = example("nexmark_q3")
    join = next(operator for operator in document["query"]["operators"] if operator["id"] == "join")
    join["params"]["select"] = ["right_id"]
    fields = carried(document)
    assert fields["persons.out"] == ("id", "state")  # the key, and what the filter reads
    result = engine.run(document, keep_outputs=True)
    whole = engine.run(example("nexmark_q3"), keep_outputs=True)
    assert result.outputs("sink")["right_id"].equals(whole.outputs("sink")["right_id"])


@pytest.mark.parametrize("name", ["nexmark_q3", "nexmark_q8", "nexmark_q12"])
def test_accounting_does_not_change(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    document = example(name)
    pruned = engine.Simulation(copy.deepcopy(document))
    monkeypatch.setattr("engine.lowering.plan.carried", lambda experiment, types: types)
    whole = engine.Simulation(document)
    assert pruned._world.arrays.msg.shape[1] <= whole._world.arrays.msg.shape[1]
    for simulation in (pruned, whole):
        simulation.run_until(simulation.end_ns)
    left, right = pruned.summary(), whole.summary()
    assert {k: v for k, v in left.items() if k != "wall_s"} == {k: v for k, v in right.items() if k != "wall_s"}
