"""Pinned baselines. Catches: two baselines of an experiment, a run pinned that is no baseline, one of another lab, a deleted one told."""

from __future__ import annotations

import pytest
from django.test import Client

from webapp.lab.models import Baseline, Experiment, Lab, Run, RunState, RunSummary

from .conftest import new_experiment, new_run, small_document

pytestmark = pytest.mark.django_db


def ended(experiment: Experiment, p99: float, state: str = RunState.SUCCEEDED) -> Run:
    run = new_run(experiment)
    Run.objects.filter(pk=run.pk).update(state=state)
    RunSummary.store(run, {"latency_ms": {"p99": p99}, "hops": 3})
    return run


def pin(client: Client, run: Run) -> int:
    return client.put(f"/api/runs/{run.pk}/baseline").status_code


def test_an_experiment_has_one_baseline_at_most(client: Client, lab: Lab) -> None:
    one, other = (new_experiment(lab, small_document()) for _ in range(2))
    first, second, elsewhere = ended(one, 10.0), ended(one, 20.0), ended(other, 30.0)
    assert [pin(client, run) for run in (first, elsewhere, second)] == [204, 204, 204]
    assert client.get("/api/baselines").json() == [
        {"experiment": str(run.experiment_id), "run": str(run.pk), "number": run.number, "metrics": {"latency_ms.p99": p99}}
        for run, p99 in ((second, 20.0), (elsewhere, 30.0))
    ]
    assert client.delete(f"/api/runs/{first.pk}/baseline").status_code == 204, "it is none any more"
    assert Baseline.objects.count() == 2
    assert client.delete(f"/api/runs/{second.pk}/baseline").status_code == 204
    assert [told["number"] for told in client.get("/api/baselines").json()] == [elsewhere.number]


def test_only_a_run_that_succeeded_can_be_pinned(client: Client, lab: Lab) -> None:
    failed = ended(new_experiment(lab, small_document()), 1.0, RunState.FAILED)
    answer = client.put(f"/api/runs/{failed.pk}/baseline")
    assert answer.status_code == 409
    assert answer.json()["detail"].startswith(f"run {failed.number} is failed")
    assert "pin a run that succeeded" in answer.json()["detail"]


def test_a_deleted_baseline_is_none_until_it_is_restored(client: Client, lab: Lab) -> None:
    run = ended(new_experiment(lab, small_document()), 1.0)
    pin(client, run)
    run.delete_softly()
    assert client.get("/api/baselines").json() == []
    Run.objects.filter(pk=run.pk).update(deleted_at=None)
    assert [told["number"] for told in client.get("/api/baselines").json()] == [run.number]


def test_baselines_of_another_lab_are_not_seen_or_made(client: Client) -> None:
    run = ended(new_experiment(Lab.objects.create(name="another"), small_document()), 1.0)
    assert pin(client, run) == 404
    Baseline.objects.create(experiment=run.experiment, run=run)
    assert client.get("/api/baselines").json() == []
