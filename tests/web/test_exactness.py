"""Whether a run found all pairs, through the API."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from django.test import Client

from tests.support.similarity_examples import clusters, worksets
from webapp.lab.models import Lab

from .conftest import new_experiment, new_run
from .executing import executed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("working_here")]


def asked(client: Client, lab: Lab, document: dict[str, Any], join: str = "join") -> tuple[int, dict[str, Any]]:
    run = executed(new_run(new_experiment(lab, document | {"name": "join"})))
    answer = client.get(f"/api/runs/{run.pk}/exactness", {"join": join})
    return answer.status_code, answer.json()


def test_all_pairs_are_there_and_each_once(client: Client, lab: Lab) -> None:
    status, found = asked(client, lab, worksets())
    assert (status, found["exact"], found["records"]) == (200, True, {"left": 500, "right": 500})
    assert found["least"] == found["most"] == found["pairs"] > 1000
    _, twice = asked(client, lab, clusters(partitions=300))
    assert (twice["exact"], twice["least"]) == (False, found["least"])
    assert twice["pairs"] > found["pairs"]


def test_what_cannot_be_checked_says_why(client: Client, lab: Lab) -> None:
    late = copy.deepcopy(worksets())
    for source in late["workload"]["sources"].values():
        source["disorder"] = {"kind": "uniform", "max_ms": 9.0}
    for document, join, says in [
        (worksets(), "sink", "operator is 'sink', which is no similarity join"),
        (late, "join", "came too late for their windows, so it cannot have all pairs"),
        (worksets(window={"kind": "tumbling", "size_s": 0.02, "clock": "processing"}), "join", "windows by event time alone"),
    ]:
        status, answer = asked(client, lab, document, join)
        assert status == 409
        assert says in answer["detail"]
