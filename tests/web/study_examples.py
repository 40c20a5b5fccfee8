"""Studies of the lab, and what becomes of them."""

from __future__ import annotations

from typing import Any

from django.test import Client

from engine.simulation.local_study import run_study
from engine.spec.study.study import load_study
from tests.support.tiers import tier
from webapp.lab.models import Run, RunState, Study
from workers import execution, studies

from .conftest import small_document, wait_for

RATE = "/workload/sources/bids/rate/per_s"
RUNS = tier(30, 60)
ROOM = 4  # runs of a study that are under way at a time, with at most two workers


def sweep(rates: list[float], seeds: list[int], horizon_s: float = 1.0) -> dict[str, Any]:
    axis = {"name": "rate", "fields": [RATE], "values": {"kind": "list", "of": rates}}
    return {"name": "Rates", "experiment": small_document(horizon_s), "axes": [axis], "seeds": seeds}


def search(**parts: Any) -> dict[str, Any]:
    """Q1 on two tenths of a core: its capacity lies within the range."""
    experiment = small_document(horizon_s=16.0)
    for host in experiment["cluster"]["hosts"]:
        host["cores"], host["processor"] = 0.1, {"kind": "processor_sharing"}
    values = {"kind": "between", "from": 500, "to": 60_000}
    load = {"name": "load", "fields": [RATE], "values": values}
    kind = {"kind": "sustainable", "load": load, "precision": 0.2, "step_down": 0.4, "shares": [0.5]}
    return {"name": "Capacity", "experiment": experiment, "seeds": [1, 2], "search": kind, **parts}


def posted(client: Client, document: dict[str, Any]) -> Study:
    answer = client.post("/api/studies", {"document": document}, content_type="application/json")
    assert answer.status_code == 201, answer.json()
    return Study.objects.get(pk=answer.json()["id"])


def finished(study: Study) -> Study:
    """Do what one worker would do until the study has ended."""
    studies.advance(study.pk)
    while queued := Run.objects.filter(state=RunState.QUEUED).order_by("number").first():
        assert Run.objects.filter(study=study, state=RunState.QUEUED).count() <= ROOM
        execution.execute(str(queued.pk))
        studies.after(queued.pk)
    study.refresh_from_db()
    return study


def results(client: Client, study: Study, *metrics: str) -> Any:
    answer = client.get(f"/api/studies/{study.pk}/results", {"metric": metrics})
    assert answer.status_code == 200, answer.json()
    return answer.json()


def rows_of(answer: Any) -> list[Any]:
    return [(point["point"], run["seed"], point["share"], run["metrics"]) for point in answer["points"] for run in point["runs"]]


def rows_in_one_process(document: dict[str, Any]) -> Any:
    names = ("records_out", "latency_ms.p99")
    return [(row.point, row.seed, None, {name: row.metrics[name] for name in names}) for row in run_study(load_study(document)).rows]


def assert_made_whole(client: Client, study: Study, expected: Any) -> None:
    """It ends with this result; each of its runs was made, and once."""
    wait_for(lambda: not Study.objects.get(pk=study.pk).active, "the end of the study", 240)
    study.refresh_from_db()
    assert (study.state, study.error, study.trials_done) == (RunState.SUCCEEDED, "", RUNS)
    assert rows_of(results(client, study, "records_out", "latency_ms.p99")) == expected
    assert Run.objects.filter(study=study, state=RunState.SUCCEEDED).count() == Run.objects.count() == RUNS
