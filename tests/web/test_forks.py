"""Forks of runs through the API and a worker: the parent's past, a future of their own."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from webapp.lab.models import Lab
from workers import execution

from .conftest import new_experiment, small_document

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("working_here")]


def test_a_fork_goes_its_own_way_from_its_moment_on(client: Client, lab: Lab) -> None:
    experiment = new_experiment(lab, small_document())
    parent = client.post(f"/api/experiments/{experiment.pk}/runs", {}, content_type="application/json").json()
    execution.execute(parent["id"])

    def forked(**body: Any) -> Any:
        answer = client.post(f"/api/runs/{parent['id']}/fork", body, content_type="application/json")
        return answer.json() | {"status": answer.status_code}

    def frames(run: Any) -> Any:
        return client.get(f"/api/runs/{run['id']}/frames").json()["frames"]

    same, more = forked(at_s=1.0), forked(at_s=1.0, load=2)
    assert (same["status"], more["status"], more["parent"], more["fork_at_s"]) == (201, 201, parent["id"], 1.0)
    for run in (same, more):
        execution.execute(run["id"])
    assert frames(same) == frames(parent)
    digests = [client.get(f"/api/runs/{run['id']}").json()["digest"] for run in (parent, same, more)]
    assert digests[0] == digests[1] != digests[2]
    assert frames(more)[:3] == frames(parent)[:3]
    assert frames(more)[-1]["offered_per_s"] == pytest.approx(2 * frames(parent)[-1]["offered_per_s"], rel=0.01)
    late = forked(at_s=2.0, load=2)
    assert (late["status"], late["problems"][0]["pointer"]) == (422, "/at_s")
    fault = {"kind": "pause", "host": "nowhere", "for_ms": 5, "when": {"kind": "at", "at_s": 1.5}}
    unknown = forked(at_s=1.0, faults=[fault])
    assert (unknown["status"], "nowhere" in unknown["problems"][0]["message"]) == (422, True)
    assert forked(at_s=1.0, load="much")["status"] == 422
    assert forked(at_s=1.0, lode=2)["status"] == 422
