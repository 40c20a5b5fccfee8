"""How the line of a recovery was found, over the API.

What this catches: steps of another recovery, a run without one that is an error of the server, another lab's run.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from webapp.lab.models import Lab, Run

from .executing import executed, queued

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("working_here")]


def made(lab: Lab, document: dict[str, Any], checkpointing: dict[str, Any]) -> Run:
    document["policies"] = document.get("policies", {}) | {"checkpointing": checkpointing | {"interval_s": 0.3}}
    document["faults"] = [{"kind": "host_loss", "host": "w1", "when": {"kind": "at", "at_s": 1.4}, "restart_after_s": 0.1}]
    run = executed(queued(lab, document))
    assert run.state == "succeeded", run.error
    return run


def test_a_recovery_is_told(client: Client, lab: Lab, document: dict[str, Any]) -> None:
    run = made(lab, document, {"kind": "uncoordinated", "jitter_s": 0.1})
    told = client.get(f"/api/runs/{run.pk}/recoveries/1").json()
    assert (told["name"], told["shows"], told["diagram"]["unit"], told["left_out"]) == ("Recovery 1", "recovery", "s", 0)
    assert [step["title"] for step in told["steps"]][:2] == ["What the coordinator knew", "The newest checkpoints"]
    assert told["steps"][-1]["title"] == "The recovery line"
    assert len(told["steps"][-1]["line"]) == len(told["diagram"]["instances"])
    answer = client.get(f"/api/runs/{run.pk}/recoveries/2")
    assert answer.status_code == 404
    assert answer.json()["detail"] == f"run {run.number}: there is no recovery 2; known: 1"
    Run.objects.filter(pk=run.pk).update(frames_removed_at=timezone.now())
    assert client.get(f"/api/runs/{run.pk}/recoveries/1").status_code == 409


def test_rounds_need_no_search(client: Client, lab: Lab, document: dict[str, Any]) -> None:
    run = made(lab, document, {"kind": "coordinated"})
    answer = client.get(f"/api/runs/{run.pk}/recoveries/1")
    assert answer.status_code == 404
    assert "the checkpoints of a confirmed round are consistent" in answer.json()["detail"]
