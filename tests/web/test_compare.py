"""Runs against one another, over the seeds that the lab has of each."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from webapp.lab.models import Experiment, Lab, Run, RunState, RunSummary

from .conftest import new_experiment, new_run, small_document

pytestmark = pytest.mark.django_db
P99 = "latency_ms.p99"


@pytest.fixture
def pair(lab: Lab) -> tuple[Experiment, Experiment]:
    return new_experiment(lab, small_document()), new_experiment(lab, small_document(per_s=4000))


def ended(experiment: Experiment, seed: int, p99: float, **fields: Any) -> Run:
    experiment.document = copy.deepcopy(experiment.document)
    experiment.document["workload"]["seed"] = seed
    run = new_run(experiment)
    Run.objects.filter(pk=run.pk).update(**{"state": RunState.SUCCEEDED, "engine_version": "4", **fields})
    RunSummary.store(run, {"latency_ms": {"p99": p99}})
    return run


def compared(client: Client, *runs: Run, metrics: str = f"metric={P99}&metric=nothing") -> dict[str, Any]:
    answer = client.get(f"/api/compare?{'&'.join(f'run={run.pk}' for run in runs)}&{metrics}")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_one_run_a_side_shows_no_confidence(client: Client, pair: tuple[Experiment, Experiment]) -> None:
    one, other = ended(pair[0], 1, 10.0), ended(pair[1], 1, 14.0)
    first, second = compared(client, one, other)["sides"]
    assert first["over_seeds"] == {P99: {"mean": 10.0, "low": None, "high": None, "count": 1}}
    assert second["against"] == {P99: {"difference": 4.0, "low": None, "high": None, "p": None, "pairs": 0, "distinguishable": None}}
    assert first["against"] == {}


def test_each_side_has_its_seeds_and_the_same_ones_are_paired(client: Client, pair: tuple[Experiment, Experiment]) -> None:
    """Of the same document and version alone; not what was deleted, broke off or is under way."""
    base = [ended(pair[0], seed, 10.0 * seed) for seed in range(1, 6)]
    other = [ended(pair[1], seed, 10.0 * seed + 1 + seed / 100) for seed in range(1, 6)]
    newer = ended(pair[0], 3, 30.0)
    ended(pair[0], 6, 999.0, engine_version="3")
    ended(pair[0], 7, 999.0, state=RunState.CANCELLED)
    ended(pair[0], 8, 999.0).delete_softly()
    ended(pair[0], 9, 999.0, state=RunState.QUEUED, engine_version="")
    first, second = compared(client, base[0], other[4])["sides"]
    assert [run["seed"] for run in first["runs"]] == [run["seed"] for run in second["runs"]] == [1, 2, 3, 4, 5]
    assert first["runs"][2]["number"] == newer.number
    assert (first["under_way"], second["under_way"]) == ([9], [])
    assert (first["over_seeds"][P99]["mean"], first["over_seeds"][P99]["count"]) == (30.0, 5)
    found = second["against"][P99]
    assert found["pairs"] == 5
    assert found["difference"] == pytest.approx(1.03)
    assert 1.0 < found["low"] < found["difference"] < found["high"] < 1.1
    assert found["p"] < 1e-4
    assert found["distinguishable"] is True


def test_runs_of_one_setup_stand_for_themselves(client: Client, pair: tuple[Experiment, Experiment]) -> None:
    one, other = (ended(pair[0], seed, 10.0 * seed) for seed in (1, 2))
    third = ended(pair[1], 1, 5.0)
    ended(pair[1], 2, 6.0)
    sides = compared(client, one, other, third)["sides"]
    assert [[run["seed"] for run in side["runs"]] for side in sides] == [[1], [2], [1, 2]]
    assert [side["against"].get(P99, {}).get("p") for side in sides] == [None, None, None]


def test_documents_differ_in_words_from_the_first(client: Client, pair: tuple[Experiment, Experiment]) -> None:
    one, other = ended(pair[0], 1, 10.0), ended(pair[1], 2, 14.0)
    first, second = compared(client, one, other)["sides"]
    assert (first["differs"], first["differs_count"]) == ([], 0)
    assert second["differs_count"] == 2
    assert [found["text"] for found in second["differs"]] == ["Workload: Seed 1 → 2", "bids: Rate 2,000 records/s → 4,000 records/s"]
    told = second["differs"][0]
    assert (told["path"], told["where"], told["label"], told["before"], told["after"]) == ("/workload/seed", "Workload", "Seed", 1, 2)


def test_what_is_gone_is_named_and_the_rest_is_there(client: Client, pair: tuple[Experiment, Experiment]) -> None:
    one, gone = ended(pair[0], 1, 10.0), ended(pair[1], 1, 14.0)
    gone.delete_softly()
    never = Run(pk="00000000-0000-0000-0000-000000000000")
    found = compared(client, gone, one, never)
    assert [side["run"] for side in found["sides"]] == [str(one.pk)]
    assert found["gone"] == [{"id": str(gone.pk), "number": gone.number}, {"id": str(never.pk), "number": None}]
    elsewhere = new_experiment(Lab.objects.create(name="another"), small_document())
    assert compared(client, new_run(elsewhere))["gone"][0]["number"] is None, "of another lab nothing is told"


def test_the_number_of_queries_does_not_grow(client: Client, pair: tuple[Experiment, Experiment]) -> None:
    def queries(*runs: Run) -> int:
        with CaptureQueriesContext(connection) as captured:
            compared(client, *runs)
        return len(captured)

    runs = [ended(pair[0], 1, 1.0), ended(pair[1], 1, 1.0)]
    before = queries(*runs)
    for experiment in pair:
        for seed in range(2, 6):
            ended(experiment, seed, 1.0 + seed)
    assert queries(*runs) == before <= 7


@pytest.mark.parametrize("query", ["", "run=none", "&".join(["run=00000000-0000-0000-0000-000000000000"] * 9)])
def test_what_cannot_be_compared_is_refused(client: Client, query: str) -> None:
    answer = client.get(f"/api/compare?{query}")
    assert answer.status_code == 422
    assert "run" in answer.json()["problems"][0]["pointer"]
