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
    early = forked(at_s=1.0, rescales=[{"at_s": 0.5, "parallelism": {"sink": 2}}])
    assert (early["status"], early["problems"][0]["pointer"]) == (422, "/rescales/0/at_s")
    assert forked(at_s=1.0, lode=2)["status"] == 422


def test_a_rescale_by_hand_is_a_fork(client: Client, lab: Lab) -> None:
    document = small_document()
    for edge in document["query"]["edges"]:
        edge["partitioning"] = {"kind": "rebalance"}
    parent = client.post(f"/api/experiments/{new_experiment(lab, document).pk}/runs", {}, content_type="application/json").json()
    execution.execute(parent["id"])

    def forked(run: Any, *orders: Any) -> Any:
        body = {"at_s": 0.5, "rescales": [{"at_s": at_s, "parallelism": p} for at_s, p in orders]}
        answer = client.post(f"/api/runs/{run['id']}/fork", body, content_type="application/json")
        return answer.json() | {"status": answer.status_code}

    sink = document["query"]["operators"][-1]["id"]
    child = forked(parent, (0.6, {sink: 3}))
    assert (child["status"], child["document"]["policies"]["scaling"]["kind"]) == (201, "manual")
    grandchild = forked(child, (0.7, {sink: 2}))
    assert [order["parallelism"] for order in grandchild["document"]["policies"]["scaling"]["orders"]] == [{sink: 3}, {sink: 2}]
    unknown = forked(parent, (0.6, {"nobody": 3}))
    assert (unknown["status"], "nobody" in unknown["problems"][0]["message"]) == (422, True)
    execution.execute(child["id"])
    pasts = [client.get(f"/api/runs/{run['id']}/frames").json()["frames"][:2] for run in (parent, child)]
    assert [frame["operators"] for frame in pasts[0]] == [frame["operators"] for frame in pasts[1]]
    frames = client.get(f"/api/runs/{child['id']}/frames").json()["frames"]
    actions = [action for frame in frames for action in frame["scaling"]["actions"]]
    assert (actions[0]["who"], actions[0]["ordered_s"], actions[0]["after"][sink]) == ("document", 0.6, 3)
    assert frames[1]["scaling"]["parallelism"][sink] != 3
    summary = client.get(f"/api/runs/{child['id']}").json()["summary"]
    assert summary["scaling"]["actions"] == 1
